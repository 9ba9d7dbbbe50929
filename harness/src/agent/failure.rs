//! Why a node's processes could not be started, told or killed.

use std::{error::Error, io, path::PathBuf};

use nemesis::process::ProcessError;

/// What could not be done to a node's processes.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It is neither running nor gone.
    #[error("pid {0} was killed and still does not end")]
    StillEnding(u32),
    /// The list of programs is empty.
    #[error("there is nothing to start")]
    Nothing,
    /// No program of the list is there.
    #[error("the image has none of {0}")]
    NoProgram(String),
    /// A part of a Java classpath is no pattern of paths.
    #[error("the classpath {0}: {1}")]
    Classpath(String, #[source] glob::PatternError),
    /// The folder that it was to run in.
    #[error("failed to make {0}: {1}")]
    Folder(String, #[source] io::Error),
    /// The program is there and does not start, or not with the clock that it was to have.
    #[error("failed to start {path}: {1}", path = .0.display())]
    Start(PathBuf, #[source] Box<dyn Error + Send + Sync>),
    /// It was started without a way to talk to it.
    #[error("failed to open the process' pipes")]
    Pipes,
    /// It does not take a line.
    #[error("failed to write to its stdin: {0}")]
    Stdin(#[source] io::Error),
    /// There is nobody to write to.
    #[error("its process does not run")]
    NotRunning,
    /// A signal did not do what it does.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The kernel does not let go of it.
    #[error("pid {0} did not end within 5 s of SIGKILL")]
    DoesNotEnd(u32),
}
