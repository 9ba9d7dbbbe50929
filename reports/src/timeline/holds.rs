use std::collections::HashMap;

use checkers::{Ending, LockTable, Promise};
use history::{Event, History, Reacquire};

use super::operations::Operation;

/// The time in which a client was entitled to believe that it had a lock or led, as the checks count it.
#[derive(Clone, Debug)]
pub struct Hold {
    /// Position in the timeline's lanes.
    pub lane: usize,
    /// The acquire or campaign, as a position in the timeline's operations.
    pub operation: usize,
    /// Position in the timeline's locks.
    pub lock: usize,
    /// Fencing token or term, where there is one.
    pub token: Option<i128>,
    /// Nanoseconds since the run began.
    pub start_ns: u64,
    /// Nanoseconds since the run began.
    pub end_ns: u64,
    /// Nanoseconds since the run began: the last deadline that the history tells, else when the last promise
    /// has certainly run out.
    pub promised_ns: Option<u64>,
    /// What ended it.
    pub ending: Ending,
}

/// Names of locks and elections in order of appearance, and all holds in order of grant.
pub(super) fn of(events: &[Event], operations: &[Operation]) -> (Vec<String>, Vec<Hold>) {
    let history = History::from_events(events);
    let table = LockTable::new(&history, Reacquire::default());
    let completed: HashMap<usize, usize> =
        operations.iter().enumerate().filter_map(|(i, op)| Some((op.complete?, i))).collect();
    let hold = |hold: &checkers::Hold| {
        let grant = table.grant_of(hold);
        let operation = *completed.get(&usize::try_from(hold.start.index()).ok()?)?;
        Some(Hold {
            lane: operations[operation].lane,
            operation,
            lock: grant.lock as usize,
            token: table.given(grant).token(),
            start_ns: hold.start.time,
            end_ns: hold.end.time.max(hold.start.time),
            promised_ns: table.promises.get(grant.promise as usize).and_then(promised),
            ending: hold.ending,
        })
    };
    let holds = table.holds.iter().filter_map(hold).collect();
    (table.locks.iter().map(|lock| lock.name.to_owned()).collect(), holds)
}

/// The client's own deadline where it has one, else the latest moment to which the service can have promised.
fn promised(promise: &Promise) -> Option<u64> {
    promise.deadline_ns().or_else(|| Some(promise.ok.time.saturating_add(promise.ttl_ns()?)))
}
