//! What each recipe promises, in a few words.

use crate::recipes::{Primitive, RecipeInfo};

/// Of a sound recipe; of a broken one, what it claims.
pub(super) fn promise(info: &RecipeInfo) -> String {
    let (who, numbers) = match info.primitive {
        Primitive::Election => ("leader", "terms"),
        _ => ("holder", "tokens"),
    };
    let tokens = if info.has_token { format!("; {numbers} that increase") } else { String::new() };
    let looks = match info.aware {
        true => "; the client does not act after its deadline",
        false => "",
    };
    format!("one {who} {}{tokens}{looks}", info.until)
}
