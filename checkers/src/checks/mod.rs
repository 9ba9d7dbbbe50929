//! Which promise of a lock, a lease or an election was broken, and by whom.
//!
//! [`judge`] reads a history once into a [`LockTable`] and lets every check look at it. Only the certain counts: an
//! indeterminate acquire starts no hold, a release counts from its invocation whatever came of it, and an
//! indeterminate outcome ends the belief of its process.

mod availability;
mod contention;
mod context;
mod counts;
mod damage;
mod deadline;
mod exclusion;
mod fencing;
mod findings;
mod judge;
mod liveness;
mod promise;
mod say;
mod table;
mod token;

pub use context::{CheckContext, PlannedFaults, RecipeTraits};
pub use counts::{Grants, OperationCounts, Outcomes};
pub use judge::{Judged, judge};
pub use table::{
    Access, At, Attempt, Ending, FaultRecord, Hold, LockName, LockTable, Phase, Promise, Release,
};

/// Every check's name, and when it is broken.
pub const ABOUT: [(&str, &str); 8] = [
    ("exclusion", "two clients were entitled to believe at once that they hold one lock, or lead"),
    ("promise", "the service granted a lock again before what it had promised was over"),
    ("deadline", "a client wrote to the resource after its own deadline"),
    ("token", "tokens of successive grants repeat or do not increase"),
    ("fencing", "the fenced resource took a stale holder's write, or refused the current holder's"),
    ("damage", "read-modify-writes under the lock lost updates, unfenced or fenced"),
    (
        "liveness",
        "after the last heal the lock was not granted within TTL + bound, or a waiter waits for ever",
    ),
    ("availability", "never: it tells unavailable time, recovery times and latencies"),
];
