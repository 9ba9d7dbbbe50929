//! The language of histories: the ordered log of invocations, completions and fault events, what checks say of it, and
//! the formats in which others write it.
//!
//! One storage for all histories: [`History`] keeps each event in a row of fixed size and its value in a packed
//! arena, about 50 bytes an event. Checks look at [`Row`]s and [`Value`]s; [`Event`] is the owned, readable form
//! of one row, which the recorder writes and reports show.

mod action;
mod blocks;
pub mod edn;
mod error;
mod event;
pub mod exit;
mod flaw;
mod format;
pub mod holds;
pub mod jepsen_log;
pub mod jsonl;
pub mod judgement;
pub mod lock_lines;
pub mod names;
pub mod node;
mod operations;
mod order;
mod reacquire;
pub mod record;
mod resource;
pub mod splitmix;
pub mod stalls;
pub mod suggest;
mod table;
pub mod verdict;
mod vocabulary;
mod wellformed;

pub use action::Action;
pub use error::{Malformed, ReadError, ReadOptions};
pub use event::{Event, EventKind, Process};
pub use flaw::{Flaw, IllFormed};
pub use format::{Format, Unrecognized, detect, read};
pub use operations::{Operation, Operations, Outcome};
pub use reacquire::Reacquire;
pub use resource::{ResourceEntry, ResourceOp};
pub use table::{History, HistoryBuilder, Key, Row, Value, View};
pub use table::{Words, is_keyword};

/// Whether an event of this name is one of the [`Action::NOTICES`].
pub fn is_notice(f: &str) -> bool {
    Action::NOTICES.iter().any(|notice| notice.name() == f)
}
