//! Read-modify-write under the lock lost updates.

mod log;
mod reads;

use super::{
    check::{Check, Stake},
    table::LockTable,
};
use history::{History, ResourceEntry, verdict::CheckResult};

pub(super) const CHECK: Check = Check {
    name: "damage",
    about: "read-modify-writes under the lock lost updates, unfenced or fenced",
    promise: "No update made under the lock is lost.",
    prevented_by: "A resource that refuses a lower token than the highest it has seen would have refused the stale \
        writes.",
    rank: 6,
    informs: false,
    on_occasion: false,
    kept_only_at_end: false,
    stalls_excuse: false,
    stake: Stake::Contention,
    needs_every_grant: false,
    not_applicable: |case| (!case.has_writes()).then_some("nothing was written"),
    run: |case| damage(&case.table, case.history, case.log, case.recipe.token),
};

/// From the resource's own log where there is one, else from what clients read before they wrote.
fn damage(
    table: &LockTable<'_>,
    history: &History,
    log: Option<&[ResourceEntry]>,
    fenced: bool,
) -> CheckResult {
    match log {
        Some(log) => log::damage(table, log, fenced),
        None => reads::damage(table, history, fenced),
    }
}

/// A lock's two registers.
const NAMES: [&str; 2] = ["unfenced", "fenced"];
