//! Which promise of a lock, a lease or an election was broken, and by whom.
//!
//! [`judge`] reads a history once into a [`LockTable`] and lets every check look at it. Only the certain counts: an
//! indeterminate acquire starts no hold, a release ends the belief at its invocation whatever comes of it, and an
//! indeterminate outcome ends it where the client did nothing more under the grant.

mod availability;
mod check;
mod checks;
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
mod stalls;
mod table;
mod token;
mod words;

pub use check::Check;
pub use checks::{CHECKS, rank};
pub use context::{CheckContext, PlannedFaults, RecipeTraits};
pub use counts::OperationCounts;
pub use judge::{Judged, judge};
pub use table::{
    Access, At, Attempt, Grant, Hold, LockName, LockTable, NoticedLate, Phase, Promise, Reacquired, Release,
    Sighting, Ungiven, Without,
};
