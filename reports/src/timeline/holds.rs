use std::collections::HashMap;

use history::holds::{Ending, Held};

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

/// Each with the operation that it begins with.
pub(super) fn of(held: &[Held], operations: &[Operation]) -> Vec<Hold> {
    let completed: HashMap<usize, usize> =
        operations.iter().enumerate().filter_map(|(i, op)| Some((op.complete?, i))).collect();
    let hold = |held: &Held| {
        let operation = *completed.get(&usize::try_from(held.event).ok()?)?;
        Some(Hold {
            lane: operations[operation].lane,
            operation,
            lock: held.lock,
            token: held.token,
            start_ns: held.start_ns,
            end_ns: held.end_ns.max(held.start_ns),
            promised_ns: held.promised_ns,
            ending: held.ending,
        })
    };
    held.iter().filter_map(hold).collect()
}
