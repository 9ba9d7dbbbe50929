//! Failures of the harness itself, with the exit code each one ends in.

use history::exit::ExitCode;

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

impl Error {
    /// The exit code that tells this failure apart.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Error::Usage(_) => ExitCode::Usage,
            Error::Data(_) => ExitCode::Data,
            Error::Unavailable(_) => ExitCode::Unavailable,
            Error::Harness(_) => ExitCode::Harness,
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
