//! Locks and elections in our own vocabulary: the checks of a run.

use std::collections::BTreeSet;

use checkers::{
    checks::{self, CheckContext},
    history::{Event, History},
};

use super::{
    Checked, Events, Request,
    outcome::Outline,
    source,
    watch::{Stage, Watch},
};
use crate::{error::Result, run::read_resource};

/// Judges by all checks that apply.
pub(super) fn judge(
    outline: Outline,
    mut history: History,
    request: &Request,
    watch: &Watch,
) -> Result<Checked> {
    if let Some(log) = source::resource_beside(&request.path) {
        history.resource = read_resource(&log)?;
    }
    watch.enter(Stage::Judging(history.len()));
    let judged = checks::judge(&history, &CheckContext::default());
    let named = || {
        let violations = judged.checks.values().flat_map(|check| &check.violations);
        let indexes: BTreeSet<u64> =
            violations.flat_map(|violation| violation.operations.iter().copied()).collect();
        let rows = indexes.into_iter().filter(|index| (*index as usize) < history.len());
        rows.map(|index| history.row(index as usize).to_event()).collect()
    };
    let events: Vec<Event> = match request.events {
        Events::All => history.events().collect(),
        Events::Named => named(),
    };
    let resource = std::mem::take(&mut history.resource);
    let checked = outline.locks(judged, events, (!resource.is_empty()).then_some(resource));
    // Giving the memory back takes longer than the process has left to live.
    std::mem::forget(history);
    Ok(checked)
}
