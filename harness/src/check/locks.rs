//! Locks and elections in our own vocabulary: the checks of a run.

use std::collections::BTreeSet;

use checkers::CheckContext;
use history::{Event, Flaw, History, IllFormed, holds::Holds};

/// Fields that tell of time.
const TIMES: [&str; 6] = ["ttl_ms", "deadline_ns", "asked_ns", "bound_ms", "from_ns", "to_ns"];

use super::{
    Checked, Events, Request,
    outcome::Outline,
    source,
    watch::{Stage, Watch},
};
use crate::{
    error::Result,
    run::{holds, read_resource, stalls},
    shell,
};

/// Judges by all checks that apply.
///
/// # Errors
/// A field of the wrong type, or a resource's log that cannot be read, with the line.
pub(super) fn judge(
    mut outline: Outline,
    mut history: History,
    request: &Request,
    watch: &Watch,
) -> Result<Checked> {
    history.check_vocabulary().map_err(|error| source::refused(&request.path, error.into()))?;
    let timing = in_time(&mut history).map_err(|error| source::refused(&request.path, error.into()))?;
    timing.into_iter().for_each(|note| outline.note(note));
    if let Some(log) = source::resource_beside(&request.path) {
        history.resource = read_resource(&log)?;
        outline.note(format!("with the resource's log {}", log.display()));
    }
    if let Some(folder) = source::run_of(&request.path) {
        let folder = shell::line(["fencepost", "check", &folder.display().to_string()]);
        outline.note(format!("judged as a history, without what its run tells; `{folder}` judges the run"));
    }
    watch.enter(Stage::Judging(history.len()));
    let judged =
        checkers::judge(&history, &CheckContext { reacquire: request.reacquire, ..CheckContext::default() });
    let named = || {
        let violations = judged.checks.values().flat_map(|check| &check.violations);
        let indexes: BTreeSet<u64> =
            violations.flat_map(|violation| violation.operations.iter().copied()).collect();
        let rows = indexes.into_iter().filter(|index| (*index as usize) < history.len());
        rows.map(|index| history.row(index as usize).to_event()).collect()
    };
    // Holds are drawn only where all events are.
    let (events, drawn): (Vec<Event>, Holds) = match request.events {
        Events::All => (history.events().collect(), holds(&history)),
        Events::Named => (named(), Holds::default()),
    };
    let resource = std::mem::take(&mut history.resource);
    let checked =
        outline.locks(judged, stalls(&history), events, drawn, (!resource.is_empty()).then_some(resource));
    // Giving the memory back takes longer than the process has left to live.
    std::mem::forget(history);
    Ok(checked)
}

/// Puts the events into the order of their times. Where these are missing, their order is all that is known of time: then
/// nothing that is said of time can be judged.
fn in_time(history: &mut History) -> Result<Option<String>, IllFormed> {
    if history.is_timed() {
        let note = "its events were put into the order of their times";
        return Ok((!history.is_sorted()).then(|| history.sort()).map(|()| note.into()));
    }
    let timed = history.rows().find_map(|row| {
        let field = TIMES.into_iter().find(|field| !row.value().get(field).is_null())?;
        Some((row, field))
    });
    if let Some((row, field)) = timed {
        let flaw = Flaw::NotAllTimed { f: row.f().to_owned(), field: field.to_owned() };
        return Err(IllFormed { line: row.line(), index: row.index(), flaw });
    }
    history.time_by_order();
    Ok(Some("not all events have a time: their order is taken for it, one nanosecond an event".into()))
}
