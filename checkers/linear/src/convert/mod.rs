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
//! | `fail`, or `ok` with `false` of what only tries | it did not happen. Where [`Reading::fail`] is [`FailMeans::Refused`], a compare-and-set, acquire, release or dequeue was *refused*: it observed, at some instant in between, another value, a holder, no holder, no element |
//!
//! Arguments are those of the invocation, answers those of the completion. Operations are known by their usual names,
//! however spelled ([`Vocabulary`]); listed are the models' own.
//!
//! | model | operations (`f`) | arguments → answer |
//! |---|---|---|
//! | [`register`](registers) | `read`, `write`, `cas` | → value; value; `[from to]` |
//! | [`lock`](locks) | `acquire` (`campaign`), `release` (`resign`, `lapse`) | the lock → `{token}` or the token alone; a `lapse` ends a hold as a release does; `renew`, `read`, `write`, `observe` are left out |
//! | [`semaphore`] | `acquire`, `release` | permits, 1 if not said |
//! | [`counter`] | `read`, `add`, `subtract`, `add-and-get` | → value; amount, 1 if not said; the same; amount → value after |
//! | [`queue`] | `enqueue`, `dequeue` | element; → element, null if there was none |
//! | [`set`] | `add`, `remove`, `contains`, `read` | element; element → truth value; → elements |
//! | [`values`] | `get`, `put`, `delete` | key → value; key and value; key |
//! | [`texts`] | `get`, `put`, `append` | the same, texts |
//! | [`transactions`] | `txn` | `[[:r key nil] [:w key value]]` → the same with what was read; `:read` and `:write` too |
//!
//! There may be many objects of any model: the key is in `{key value}`, or first in a tuple as Jepsen's
//! `independent` writes it. Which lock an operation is on is told in more ways ([`locks`]).
//!
//! One history has one meaning, whatever its form. Where histories differ, Knossos' meaning is the usual one; in Jepsen's
//! old etcd logs a failed compare-and-set observed another value, and a read of `nil` that the key was not there: who
//! judges those asks for it.
//!
//! Porcupine's logs return every operation; one that is still pending at the end is read as `info` is.

mod counter;
mod datum;
mod keys;
mod lock;
mod names;
mod queue;
mod register;
mod semaphore;
mod set;
mod text;
mod transaction;
mod which_lock;

pub use counter::{Counters, counter};
pub use datum::Datum;
pub use keys::{has_keys, proper, split};
pub use lock::{LockPart, Locks, locks};
pub use names::invocations;
pub use queue::{Queues, queue};
pub use register::{Registers, failed_writes, registers, seen, written};
pub use semaphore::{Semaphores, semaphore};
pub use set::{Sets, set};
pub use text::{has_appends, texts, values};
pub use transaction::{Transactions, failed_transactions, transactions};
pub use which_lock::{LockValue, Naming, answer as answer_of_lock, token};

use history::{EventKind, History, Operation, Process, Row, Value};
use thiserror::Error;

use crate::{
    models::keyed::At,
    op::{FailMeans, Op},
};
use keys::Keys;
use names::Names;

/// What a history means where histories differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reading {
    /// What a failed compare-and-set, acquire, release or dequeue says.
    pub fail: FailMeans,
    /// What a read of `nil` from a register says, in a transaction too.
    pub nil_read: NilRead,
    /// What the values of acquires and releases are, where they may be either.
    pub lock_value: Option<LockValue>,
}

/// What a read of `nil` from a register says, in a transaction too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NilRead {
    /// The register held `nil`.
    Nil,
    /// Nothing: the read is left out, as Knossos' models do.
    #[default]
    Nothing,
}

impl Reading {
    /// As Jepsen's old etcd logs are meant: a failed compare-and-set saw another value, a read of `nil` no key.
    pub const ETCD_LOG: Reading =
        Reading { fail: FailMeans::Refused, nil_read: NilRead::Nil, lock_value: None };
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
    fn of<'h>(
        operation: &Operation<'h>,
        input: I,
        failed: Option<O>,
        answer: impl FnOnce(Row<'h>) -> Result<O, Unfit>,
    ) -> Result<Self, Unfit> {
        Ok(match operation.completion.map(|completion| (completion.kind(), completion)) {
            Some((EventKind::Ok, completion)) => Meaning::Certain(input, answer(completion)?),
            Some((EventKind::Fail, _)) => Meaning::refused(input, failed),
            _ => Meaning::Perhaps(input),
        })
    }

    /// Of what was refused: as of what failed.
    fn refused(input: I, failed: Option<O>) -> Self {
        failed.map_or(Meaning::Nothing, |failed| Meaning::Certain(input, failed))
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

/// What a client asked.
struct Asked<'h> {
    operation: Operation<'h>,
    /// By the model's own name.
    f: &'static str,
    /// Of which object; `None` where the history names none.
    key: Option<Value<'h>>,
    /// The argument proper.
    value: Value<'h>,
    keys: Keys,
}

impl<'h> Asked<'h> {
    /// The answer proper.
    fn answer(&self, completion: Row<'h>) -> Result<Value<'h>, Unfit> {
        self.keys.of_completion(completion, self.key)
    }

    /// Whether it was answered with `false`, as a call is that tried and did nothing; a recorder may call that `ok`.
    fn is_refused(&self) -> Result<bool, Unfit> {
        let answered = self.operation.completion.filter(|completion| completion.kind() == EventKind::Ok);
        let answer = answered.map(|completion| self.answer(completion)).transpose()?;
        Ok(answer.and_then(Value::as_bool) == Some(false))
    }
}

/// Operations, each on the object under its key.
pub type KeyedOps<I, O> = Vec<Op<At<Datum, I>, O>>;

/// The operations that mean something, in order of invocation, each with the key of its object; all have the key
/// [`Datum::Nil`] where the history has no keys.
fn convert<'h, I, O>(
    history: &'h History,
    names: &Names,
    keys: Keys,
    mut meaning: impl FnMut(&Asked<'h>) -> Result<Meaning<I, O>, Unfit>,
) -> Result<KeyedOps<I, O>, Unfit> {
    let operations = history.operations();
    let mut ops = Vec::with_capacity(operations.len());
    for operation in operations.iter() {
        let (key, value) = keys.of_invocation(operation.invoke)?;
        let asked = Asked { operation, f: names.get(operation.invoke), key, value, keys };
        let Some(op) = meaning(&asked)?.placed(&operation) else { continue };
        let input = At { key: key.map_or(Datum::Nil, Datum::from), input: op.input };
        ops.push(Op { process: op.process, call: op.call, input, returned: op.returned });
    }
    Ok(ops)
}

/// The operations on the one object that there is.
///
/// # Errors
/// The operations as they were, where some have a key.
pub fn without_keys<I, O>(ops: KeyedOps<I, O>) -> Result<Vec<Op<I, O>>, KeyedOps<I, O>> {
    if ops.iter().any(|op| op.input.key != Datum::Nil) {
        return Err(ops);
    }
    let bare = |op: Op<At<Datum, I>, O>| Op {
        process: op.process,
        call: op.call,
        input: op.input.input,
        returned: op.returned,
    };
    Ok(ops.into_iter().map(bare).collect())
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
