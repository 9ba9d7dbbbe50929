//! Read-modify-write under the lock lost updates.

mod log;
mod reads;

use super::table::LockTable;
use history::{History, ResourceEntry, verdict::CheckResult};

/// From the resource's own log where there is one, else from what clients read before they wrote.
pub(super) fn damage(
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
