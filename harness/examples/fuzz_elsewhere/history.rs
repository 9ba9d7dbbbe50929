//! Histories before they are written in any format.

/// What an operation is asked or answers, or the key of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// `nil` or `null`.
    Nil,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A string.
    Text(String),
    /// A keyword; JSON has strings instead.
    Word(String),
    /// `#uuid "…"`; JSON has strings instead.
    Uuid(String),
    /// In brackets.
    List(Vec<Value>),
    /// EDN's `#{…}`; JSON has lists instead.
    Set(Vec<Value>),
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Asked.
    Invoke,
    /// Happened.
    Ok,
    /// Did not happen.
    Fail,
    /// May have happened.
    Info,
}

/// What a recorder saw.
#[derive(Clone, Debug)]
pub struct Event {
    /// Who.
    pub process: u32,
    /// What kind.
    pub kind: Kind,
    /// The operation's name.
    pub f: &'static str,
    /// Which of several objects.
    pub key: Option<Value>,
    /// What was asked or answered. `Int` in a granted acquire is its token.
    pub value: Value,
}

/// How an operation ended.
#[derive(Clone, Debug)]
pub enum End {
    /// At this event, with this answer.
    Ok(usize, Value),
    /// At this event; it did not happen.
    Fail(usize),
    /// Nobody knows.
    Open,
}

/// An invocation with its end.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Who.
    pub process: u32,
    /// Its name.
    pub f: &'static str,
    /// On which object.
    pub key: Option<Value>,
    /// What was asked.
    pub input: Value,
    /// The position of its invocation.
    pub call: usize,
    /// How it ended.
    pub end: End,
}

impl Kind {
    /// As all formats call it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Invoke => "invoke",
            Kind::Ok => "ok",
            Kind::Fail => "fail",
            Kind::Info => "info",
        }
    }
}

/// Each invocation with the next completion of its process.
pub fn operations(events: &[Event]) -> Vec<Operation> {
    let invoked = events.iter().enumerate().filter(|(_, event)| event.kind == Kind::Invoke);
    let operation = |(call, event): (usize, &Event)| {
        let later = events.iter().enumerate().skip(call + 1);
        let end = later.into_iter().find(|(_, other)| other.process == event.process);
        let end = match end {
            Some((at, end)) if end.kind == Kind::Ok => End::Ok(at, end.value.clone()),
            Some((at, end)) if end.kind == Kind::Fail => End::Fail(at),
            _ => End::Open,
        };
        let Event { process, f, key, value, .. } = event.clone();
        Operation { process, f, key, input: value, call, end }
    };
    invoked.map(operation).collect()
}
