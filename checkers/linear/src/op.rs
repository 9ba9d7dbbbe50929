//! Operations as models see them: typed, with an interval in time.

/// One operation of a history.
///
/// Times are any increasing numbers: positions of events or nanoseconds. Where two events have the same time, an
/// invocation comes before a return, so that the operations count as concurrent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op<I, O> {
    /// Who did it; a process does one thing at a time.
    pub process: u32,
    /// When it was invoked.
    pub call: u64,
    /// What was asked.
    pub input: I,
    /// When it returned and what; `None` for an indeterminate one, which happened at some time after `call` or never.
    pub returned: Option<Return<O>>,
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Return<O> {
    /// When.
    pub at: u64,
    /// What it answered.
    pub output: O,
}

impl<I, O> Op<I, O> {
    /// An operation that certainly happened between `call` and `at`.
    pub fn ok(process: u32, call: u64, at: u64, input: I, output: O) -> Op<I, O> {
        Op { process, call, input, returned: Some(Return { at, output }) }
    }

    /// An operation that may have happened at any time after `call`, or never.
    pub fn info(process: u32, call: u64, input: I) -> Op<I, O> {
        Op { process, call, input, returned: None }
    }

    /// When it returned; `u64::MAX` for an indeterminate one.
    pub fn deadline(&self) -> u64 {
        self.returned.as_ref().map_or(u64::MAX, |returned| returned.at)
    }

    /// What it answered; `None` for an indeterminate one.
    pub fn output(&self) -> Option<&O> {
        self.returned.as_ref().map(|returned| &returned.output)
    }

    /// Whether it may or may not have happened.
    pub fn is_info(&self) -> bool {
        self.returned.is_none()
    }
}

/// What `fail` means for an operation, since histories differ.
///
/// Knossos drops every failed operation: it certainly had no effect. In other histories a failure says something about
/// the state: in Jepsen's etcd logs a failed compare-and-set *observed* a different value, and a try-lock that failed
/// observed a holder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FailMeans {
    /// It did not happen; nothing is learned.
    #[default]
    Nothing,
    /// The state refused it, at some instant between invocation and return.
    Refused,
}

impl FailMeans {
    /// The operation that a failure stands for: one that answered `refused`, or none.
    pub fn op<I, O>(self, process: u32, call: u64, at: u64, input: I, refused: O) -> Option<Op<I, O>> {
        (self == FailMeans::Refused).then(|| Op::ok(process, call, at, input, refused))
    }
}
