//! Where a history's events are kept: rows of fixed size, values packed in one arena, recurring names once.

mod builder;
mod display;
mod encode;
mod indexes;
mod names;
mod rows;
mod value;
mod whole;
mod words;

pub use builder::HistoryBuilder;
pub(crate) use builder::{Head, Segment, Span};
pub use display::is_keyword;
pub(crate) use display::quoted;
pub(crate) use encode::Encoder;
pub(crate) use names::SharedNames;
pub use rows::{History, Row};
pub use value::{Key, Value, View};
pub use words::Words;
