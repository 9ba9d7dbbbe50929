//! Checkers for one kind of history each, without a search: the first choice for locks, leases and elections.
//!
//! Each judges the histories it is exact for and leaves the others, with `None`, to [`crate::engine`]; some, named for
//! what they see, only refute. Where two events have the same time, an invocation comes before a return.

pub mod anonymous;
pub mod belief;
pub mod counter;
pub mod fencing;
pub mod lease;
pub mod lock;
pub mod origin;
pub mod queue;
pub mod register;
pub mod semaphore;
pub mod set;
mod sweep;
pub mod text;
