use thiserror::Error;

use super::{IllFormed, Unrecognized};

/// How a history is read.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// Most bytes that the history may occupy; `None` for no limit.
    pub memory_max: Option<u64>,
    /// Threads that parse; 0 counts as 1.
    pub threads: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { memory_max: None, threads: std::thread::available_parallelism().map_or(1, usize::from) }
    }
}

/// Why a history could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The text is not what its format asks for.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// No recorder can have written it.
    #[error(transparent)]
    IllFormed(#[from] IllFormed),
    /// It is in no known format.
    #[error(transparent)]
    Unrecognized(#[from] Unrecognized),
    /// It does not fit into the memory that the caller permits; nothing certain can be said about it.
    #[error(
        "the history needs more than the {memory_max} bytes permitted: {events} events were read up to line {line}"
    )]
    TooLarge {
        /// Bytes permitted.
        memory_max: u64,
        /// Events read until then.
        events: u64,
        /// The line reached.
        line: u64,
    },
    /// The input could not be read.
    #[error("failed to read the history")]
    Io(#[from] std::io::Error),
}

/// Bytes of the longest event. An input that is no history may have no line end, and no end at all.
pub(super) const EVENT_MAX: usize = 16 << 20;

/// A place in a text and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct Malformed {
    /// From 1.
    pub line: u64,
    /// In bytes, from 1.
    pub column: u64,
    /// What was expected, or what is wrong.
    pub message: String,
}

impl Malformed {
    pub(super) fn new(line: u64, column: usize, message: impl Into<String>) -> Self {
        Self { line, column: column as u64, message: message.into() }
    }

    /// An event that goes on beyond [`EVENT_MAX`].
    pub(super) fn endless(line: u64, column: usize) -> Self {
        Self::new(
            line,
            column,
            format!("what begins here is longer than {} MiB: no event is", EVENT_MAX >> 20),
        )
    }
}
