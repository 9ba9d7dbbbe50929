//! The ordered log of invocations, completions and fault events.

mod event;

pub use event::{Event, EventKind, Process};
