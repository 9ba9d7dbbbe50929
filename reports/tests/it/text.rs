use reports::{table, table::Options};

use crate::sample;

#[test]
fn terminal_at_80_columns() {
    insta::assert_snapshot!(table::render(&sample::broken(), Options { width: 80, color: false }));
}
