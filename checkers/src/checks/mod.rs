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

pub use context::{CheckContext, RecipeTraits};
pub use counts::{Grants, OperationCounts, Outcomes};
pub use judge::{Judged, judge};
pub use table::{
    Access, At, Attempt, Ending, FaultRecord, Hold, LockName, LockTable, Phase, Promise, Release,
};
