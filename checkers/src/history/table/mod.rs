//! Where a history's events are kept: rows of fixed size, values packed in one arena, recurring names once.

mod builder;
mod display;
mod encode;
mod names;
mod rows;
mod value;
mod whole;
mod words;

pub use builder::HistoryBuilder;
pub(in crate::history) use builder::{Head, Segment, Span};
pub(crate) use display::is_keyword;
pub(in crate::history) use display::quoted;
pub(in crate::history) use encode::Encoder;
pub(in crate::history) use names::SharedNames;
pub use rows::{History, Row};
pub use value::{Key, Value, View};
pub(crate) use words::Words;
