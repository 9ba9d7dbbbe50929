//! Sweeps that stand on no model: what the checks of runs ask, and what the special checkers of models share.
//!
//! A model's special checker, [`shortcut`](crate::model::Model::shortcut), judges the histories that it is exact for and
//! leaves the others, with `None`, to [`crate::engine`]; some, named for what they see, only refute. Where two events have
//! the same time, an invocation comes before a return.

pub mod belief;
pub mod fencing;
pub(crate) mod sweep;
