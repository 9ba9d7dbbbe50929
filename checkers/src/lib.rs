//! Which promise of a lock, a lease or an election was broken, and by whom.
//!
//! [`judge`] reads a history once into a [`LockTable`] and lets every check look at it. Only the certain counts: an
//! indeterminate acquire starts no hold, a release ends the belief at its invocation whatever comes of it, and an
//! indeterminate outcome ends it where the client did nothing more under the grant.

mod availability;
mod contention;
mod context;
mod counts;
mod crash;
mod damage;
mod deadline;
mod exclusion;
mod fencing;
mod findings;
mod judge;
mod liveness;
mod promise;
mod say;
mod stalls;
mod table;
mod token;

pub use context::{CheckContext, PlannedFaults, RecipeTraits};
pub use counts::{Grants, OperationCounts, Outcomes};
pub use judge::{Judged, judge};
pub use table::{
    Access, At, Attempt, Ending, Exit, FaultRecord, Grant, Hold, LockName, LockTable, NoticedLate, Phase,
    Promise, Reacquired, Release, Sighting, Stall, Ungiven, Without,
};

/// Every check's name, and when it is broken.
pub const ABOUT: [(&str, &str); 9] = [
    ("exclusion", "two clients were entitled to believe at once that they hold one lock, or lead"),
    (
        "promise",
        "the service granted a lock or renewed a grant before what it had promised to another was over",
    ),
    (
        "deadline",
        "a client wrote to the resource after its own deadline, or held nothing; or it stated a deadline beyond what was promised",
    ),
    ("token", "tokens of successive grants and renewals repeat or do not increase; two leaders in one term"),
    ("fencing", "the fenced resource took a stale holder's write, or refused the current holder's"),
    ("damage", "read-modify-writes under the lock lost updates, unfenced or fenced"),
    (
        "liveness",
        "after the last heal the lock was not granted within TTL + bound, or a waiter waits for ever",
    ),
    ("crash", "a server ended by itself; only judged where one did"),
    ("availability", "never: it tells unavailable time, recovery times and latencies"),
];
