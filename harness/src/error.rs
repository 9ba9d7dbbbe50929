//! Failures of the harness itself, with the exit code each one ends in.

/// Anything that keeps a run from being made or finished. Never an operation's outcome, never a verdict.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// An experiment, history or stored run cannot be read.
    #[error("{0}")]
    Data(String),
    /// No engine, no image, no room: the world cannot be had.
    #[error("{0}")]
    Unavailable(String),
    /// The harness failed.
    #[error("{0}")]
    Harness(String),
}

/// Result of anything the harness does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Process exit codes; the first three speak of verdicts, the others follow `sysexits.h`.
pub mod exit {
    /// Everything as expected.
    pub const OK: u8 = 0;
    /// A violation, or an expectation not met.
    pub const INVALID: u8 = 1;
    /// Nothing certain can be said.
    pub const UNKNOWN: u8 = 2;
    /// `EX_USAGE`.
    pub const USAGE: u8 = 64;
    /// `EX_DATAERR`.
    pub const DATA: u8 = 65;
    /// `EX_UNAVAILABLE`.
    pub const UNAVAILABLE: u8 = 69;
    /// `EX_SOFTWARE`.
    pub const HARNESS: u8 = 70;
    /// 128 + SIGINT.
    pub const INTERRUPTED: u8 = 130;
}

impl Error {
    /// The exit code that tells this failure apart.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => exit::USAGE,
            Error::Data(_) => exit::DATA,
            Error::Unavailable(_) => exit::UNAVAILABLE,
            Error::Harness(_) => exit::HARNESS,
        }
    }

    /// In a sentence of its own, where a run is spoken of.
    pub fn of_a_run(&self) -> String {
        match self {
            Error::Harness(why) => format!("the harness failed: {why}"),
            other => other.to_string(),
        }
    }

    /// Puts what was being done in front of the message.
    pub fn while_doing(self, what: &str) -> Error {
        let wrap = |message: String| format!("{what}: {message}");
        match self {
            Error::Usage(message) => Error::Usage(wrap(message)),
            Error::Data(message) => Error::Data(wrap(message)),
            Error::Unavailable(message) => Error::Unavailable(wrap(message)),
            Error::Harness(message) => Error::Harness(wrap(message)),
        }
    }
}

/// "failed to write the history: disk full": for errors of libraries.
pub fn harness(what: impl std::fmt::Display) -> impl FnOnce(&dyn std::fmt::Display) -> Error {
    move |error| Error::Harness(format!("{what}: {error}"))
}
