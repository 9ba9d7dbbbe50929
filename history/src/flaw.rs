//! What can be wrong with an event.

use thiserror::Error;

use super::Process;

/// A history that no recorder can have written: not a broken promise, but nothing to judge either.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {flaw}")]
pub struct IllFormed {
    /// The line of the source, from 1.
    pub line: u64,
    /// Position of the event.
    pub index: usize,
    /// What is wrong.
    pub flaw: Flaw,
}

/// What is wrong with an event. Its operation is `f`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the words of each case say what its fields are")]
pub enum Flaw {
    /// The indexes of a source go up.
    #[error(
        "index {index} after an index that is not lower: events come in the order in which they were recorded, or have no index"
    )]
    IndexBackwards { index: u64 },
    /// The indexes of our own recorder are dense.
    #[error("index {index} where {expected} was expected")]
    IndexLost { index: u64, expected: usize },
    /// Our own recorder times every event.
    #[error("the event has no time")]
    Untimed,
    /// A process ends with an `info`.
    #[error("{} was retired by the info on line {line}", name(*process))]
    Retired { process: Process, line: u64 },
    /// A completion has its invocation.
    #[error("{} completes {f}, which it did not invoke", name(*process))]
    NotInvoked { process: Process, f: String },
    /// A process does one thing after another.
    #[error("{} invokes {f} while its {pending} of line {line} is pending", name(*process))]
    StillPending { process: Process, f: String, pending: String, line: u64 },
    /// A completion is that of what was invoked.
    #[error("{} completes {f}, but invoked {pending} on line {line}", name(*process))]
    OtherInvoked { process: Process, f: String, pending: String, line: u64 },
    /// An answer comes after its question.
    #[error("{f} is answered at {at_ns} ns, and was asked at {asked_ns} ns, later")]
    AnsweredBefore { f: String, at_ns: u64, asked_ns: u64 },
    /// An operation on a lock names one.
    #[error("{f} names no lock; its value must be an object such as {{\"lock\":\"a\"}}")]
    NoLock { f: String },
    /// What an operation on a lock is answered with has fields.
    #[error("the value of {f} is {found}: it must be an object")]
    NoObject { f: String, found: String },
    /// A field that must be there is.
    #[error("{f} has no {field}")]
    Missing { f: String, field: String },
    /// A field is of its type.
    #[error("the {field} of {f} is {found}: it must be {wanted}")]
    WrongType { f: String, field: String, found: String, wanted: String },
    /// A stall lasts.
    #[error("the stall ends before it begins")]
    StallBackwards,
    /// What is said of time needs the time of every event.
    #[error("{f} states {field}, but not all events have a time: it cannot be judged")]
    NotAllTimed { f: String, field: String },
}

fn name(process: Process) -> String {
    match process {
        Process::Client(number) => format!("process {number}"),
        Process::Nemesis => "the nemesis".to_owned(),
    }
}
