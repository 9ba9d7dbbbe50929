//! From events to the operations of a model.
//!
//! Every function takes a history whose form was judged ([`History::check_form`]) and gives the operations of its
//! clients; the nemesis' events are left out. Operations get the positions of their events as times, so an operation's
//! `call` is the position of its invocation.
//!
//! What an operation's end means:
//!
//! | end | meaning |
//! |---|---|
//! | `ok` | it happened between invocation and completion, with what the completion says as its answer |
//! | `info`, or none | it may have happened at any time after its invocation, or never; what an `info` says is not looked at |
//! | `fail` | it did not happen. Where [`Reading::fail`] is [`FailMeans::Refused`], a compare-and-set, acquire, release or dequeue was *refused*: it observed, at some instant in between, another value, a holder, no holder, no element |
//!
//! Arguments are those of the invocation, answers those of the completion.
//!
//! | model | operations (`f`) | arguments → answer |
//! |---|---|---|
//! | [`register`](registers) | `read`, `write`, `cas` | → value; value; `[from to]` |
//! | [`lock`](locks) | `acquire` (`campaign`), `release` (`resign`), `lapse` | `{lock}` → `{token}` or the token alone; a `lapse` ends a hold as a release does; `renew`, `read`, `write`, `observe` are left out |
//! | [`semaphore`] | `acquire`, `release` | permits, 1 if not said |
//! | [`counter`] | `read`, `add`, `add-and-get` | → value; amount; amount → value after |
//! | [`queue`] | `enqueue`, `dequeue` | element; → element, null if there was none |
//! | [`set`] | `add`, `remove`, `contains`, `read` | element; element → truth value; → elements |
//! | [`texts`] | `get`, `put`, `append` | `{key value}`, texts |
//! | [`transactions`] | `txn` | `[[:r key nil] [:w key value]]` → the same with what was read; `:read` and `:write` too |
//!
//! Registers may be many: the key is in `{key value}`, or first in a tuple as Jepsen's `independent` writes it.
//!
//! | source | failed compare-and-set | a register's `nil` read |
//! |---|---|---|
//! | ours | did not happen | read `nil` |
//! | EDN (Knossos) | did not happen | says nothing, as in Knossos' models |
//! | Jepsen's text log (etcd) | observed another value | read `nil`: the key is not there |
//! | lock lines | did not happen | – |
//!
//! Porcupine's logs return every operation; one that is still pending at the end is read as `info` is.

mod counter;
mod datum;
mod lock;
mod queue;
mod register;
mod semaphore;
mod set;
mod text;
mod transaction;

pub use counter::counter;
pub use datum::Datum;
pub use lock::{LockPart, locks};
pub use queue::queue;
pub use register::{Registers, registers};
pub use semaphore::semaphore;
pub use set::set;
pub use text::texts;
pub use transaction::transactions;

use thiserror::Error;

use crate::{
    history::{EventKind, Format, History, Operation, Process, Row, Value},
    op::{FailMeans, Op},
};

/// What a source means where sources differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// What a failed compare-and-set, acquire, release or dequeue says.
    pub fail: FailMeans,
    /// What a register's read of `nil` says.
    pub nil_read: NilRead,
    /// Whether values are tuples of a key and the value proper; `None`: they are if every invoked read's value is a
    /// pair.
    pub tuples: Option<bool>,
}

/// What a register's read of `nil` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NilRead {
    /// The register held `nil`.
    Nil,
    /// Nothing: the read is left out.
    Nothing,
}

impl Reading {
    /// As histories of this format are usually meant.
    pub fn of(format: Format) -> Reading {
        let (fail, nil_read) = match format {
            Format::JsonLines | Format::LockLines => (FailMeans::Nothing, NilRead::Nil),
            Format::Edn => (FailMeans::Nothing, NilRead::Nothing),
            Format::JepsenLog => (FailMeans::Refused, NilRead::Nil),
        };
        Reading { fail, nil_read, tuples: None }
    }
}

/// An event that the model has no meaning for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
pub struct Unfit {
    /// The line of the source, from 1.
    pub line: u64,
    /// Position of the event.
    pub index: usize,
    /// What was expected.
    pub message: String,
}

impl Unfit {
    fn new(row: Row<'_>, message: impl Into<String>) -> Unfit {
        Unfit { line: row.line(), index: row.index(), message: message.into() }
    }

    fn unknown(row: Row<'_>, model: &str, known: &str) -> Unfit {
        Unfit::new(row, format!("{} is no operation of a {model}, which are: {known}", row.f()))
    }
}

/// What one operation is to a model.
enum Meaning<I, O> {
    /// It is none of its operations, did not happen, or says nothing.
    Nothing,
    /// It may have happened.
    Perhaps(I),
    /// It happened.
    Certain(I, O),
}

impl<I, O> Meaning<I, O> {
    /// Of an operation whose `ok` answers what `answer` makes of its completion, and whose `fail` means `failed`.
    fn of(
        operation: &Operation<'_>,
        input: I,
        failed: Option<O>,
        answer: impl FnOnce(Row<'_>) -> Result<O, Unfit>,
    ) -> Result<Self, Unfit> {
        Ok(match operation.completion.map(|completion| (completion.kind(), completion)) {
            Some((EventKind::Ok, completion)) => Meaning::Certain(input, answer(completion)?),
            Some((EventKind::Fail, _)) => {
                failed.map_or(Meaning::Nothing, |failed| Meaning::Certain(input, failed))
            }
            _ => Meaning::Perhaps(input),
        })
    }

    fn placed(self, operation: &Operation<'_>) -> Option<Op<I, O>> {
        let (call, process) = (operation.invoke.index() as u64, process(operation));
        let at = operation.completion.map_or(u64::MAX, |completion| completion.index() as u64);
        match self {
            Meaning::Nothing => None,
            Meaning::Perhaps(input) => Some(Op::info(process, call, input)),
            Meaning::Certain(input, output) => Some(Op::ok(process, call, at, input, output)),
        }
    }
}

/// The operations that mean something, in order of invocation.
fn convert<'h, I, O>(
    history: &'h History,
    mut meaning: impl FnMut(&Operation<'h>) -> Result<Meaning<I, O>, Unfit>,
) -> Result<Vec<Op<I, O>>, Unfit> {
    let operations = history.operations();
    let mut ops = Vec::with_capacity(operations.len());
    for operation in operations.iter() {
        ops.extend(meaning(&operation)?.placed(&operation));
    }
    Ok(ops)
}

fn process(operation: &Operation<'_>) -> u32 {
    match operation.invoke.process() {
        Process::Client(number) => number,
        Process::Nemesis => unreachable!("only clients have operations"),
    }
}

impl FailMeans {
    /// What a failure answers, if anything.
    fn answer<O>(self, refused: O) -> Option<O> {
        (self == FailMeans::Refused).then_some(refused)
    }
}

fn integer(row: Row<'_>, value: Value<'_>, what: &str) -> Result<i64, Unfit> {
    value.as_i64().ok_or_else(|| Unfit::new(row, format!("expected {what}: a whole number, found {value}")))
}

#[cfg(test)]
mod tests;
