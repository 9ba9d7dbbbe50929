//! Is there any order? All are tried: every choice of the operations in doubt, every order that real time permits.

use super::{
    history::{End, Operation, Value},
    objects::{Object, State},
};

/// What the fuzzer's own judge may get wrong on purpose, to show that it would be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Twist {
    /// A failed operation may have happened.
    FailedMayHappen,
    /// An operation in doubt did not happen.
    DoubtfulNever,
    /// An operation in doubt happened before the end.
    DoubtfulAlways,
    /// Operations may change places with those long over.
    NoRealTime,
    /// Registers start with nil.
    StartsWithNil,
    /// What a failed write wrote may have been there at first.
    AbortedIsInitial,
}

/// How a read of `nil` is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NilRead {
    /// Nil was there.
    Value,
    /// It says nothing.
    Nothing,
}

/// What is taken as given.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// What a read of nil says.
    pub nil_read: NilRead,
    /// Whether what failed was refused, by what the object was in at that time.
    pub refused: bool,
    /// What is wrong on purpose.
    pub twist: Option<Twist>,
}

/// Whether an object of this kind, so started, can have given these answers. `operations` are those that happened, may
/// have, or were refused.
pub fn is_linearizable(object: Object, start: &State, operations: &[&Operation], reading: Reading) -> bool {
    Search { object, operations, reading }.goes_on(start, &mut vec![false; operations.len()])
}

struct Search<'o> {
    object: Object,
    operations: &'o [&'o Operation],
    reading: Reading,
}

impl Search<'_> {
    fn goes_on(&self, state: &State, placed: &mut [bool]) -> bool {
        let must = |operation: &Operation| {
            self.over(operation).is_some() || self.reading.twist == Some(Twist::DoubtfulAlways)
        };
        let mut left = self.operations.iter().zip(&*placed).filter(|(_, placed)| !**placed);
        if left.all(|(operation, _)| !must(operation)) {
            return true;
        }
        (0..placed.len()).any(|at| {
            if placed[at] || !self.may_be_next(at, placed) {
                return false;
            }
            let Some(next) = self.step(state, self.operations[at]) else { return false };
            placed[at] = true;
            let found = self.goes_on(&next, placed);
            placed[at] = false;
            found
        })
    }

    /// Nothing that is still to be placed was over before this one was asked for.
    fn may_be_next(&self, at: usize, placed: &[bool]) -> bool {
        let call = self.operations[at].call;
        let mut others = self.operations.iter().zip(placed).filter(|(_, placed)| !**placed);
        self.reading.twist == Some(Twist::NoRealTime)
            || others.all(|(other, _)| self.over(other).is_none_or(|over| over > call))
    }

    /// Until when it happened or was refused; `None` if it need not have been.
    fn over(&self, operation: &Operation) -> Option<usize> {
        match operation.end {
            End::Ok(at, _) => Some(at),
            End::Fail(at) if self.reading.refused => Some(at),
            _ => None,
        }
    }

    fn step(&self, state: &State, operation: &Operation) -> Option<State> {
        let granted = self.object.apply(state, operation.process, operation.f, &operation.input);
        if let (End::Fail(_), true) = (&operation.end, self.reading.refused) {
            let refuses = matches!(&granted, None | Some((Value::Nil, State::Queue(_))));
            return refuses.then(|| state.clone());
        }
        let (answer, next) = granted?;
        let End::Ok(_, seen) = &operation.end else { return Some(next) };
        match (&next, seen) {
            (State::Lock(lock), Value::Int(token)) if operation.f == "acquire" => {
                self.object.with_token(lock, *token).map(State::Lock)
            }
            _ => self.fits(operation.f, &answer, seen).then_some(next),
        }
    }

    fn fits(&self, f: &str, answer: &Value, seen: &Value) -> bool {
        match (f, answer, seen) {
            ("get", Value::Nil, Value::Text(text)) => text.is_empty(),
            ("read", Value::Set(answer), Value::Set(seen) | Value::List(seen)) => {
                let mut seen = seen.clone();
                seen.sort();
                *answer == seen
            }
            ("txn", Value::List(answers), Value::List(seen)) => {
                answers.iter().zip(seen).all(|(answer, seen)| self.step_fits(answer, seen))
            }
            ("read" | "get" | "dequeue" | "contains" | "add-and-get", ..) => answer == seen,
            _ => true,
        }
    }

    fn step_fits(&self, answer: &Value, seen: &Value) -> bool {
        let says_nothing = |seen: &Value| matches!(seen, Value::List(parts) if parts[2] == Value::Nil);
        answer == seen || (self.reading.nil_read == NilRead::Nothing && says_nothing(seen))
    }
}
