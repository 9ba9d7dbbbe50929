//! Linearizability: a history against a model.

pub mod assumed;
mod cases;

use std::time::Instant;

use history::{names::REGISTER, verdict::Verdict};
use linear::{
    convert::{self, Datum, LockValue, Naming, Reading, Registers, Unfit},
    model::{Model, OpOf},
    models::{Counter, FifoQueue, KeyValue, Keyed, Lock, Register, Semaphore, Set},
};

use self::cases::{BRIEF, Case, Depth};
use super::{
    initial,
    model::ModelName,
    outcome::article,
    search::{Found, Search},
    watch::Stage,
};
use crate::error::{Error, Result};

/// One way to read a history, and how much is wanted of it.
#[derive(Clone)]
pub struct Trial<'s> {
    pub(super) search: &'s Search<'s>,
    pub(super) path: &'s str,
    pub(super) name: ModelName,
    pub(super) reading: Reading,
    /// What all registers start with, if it is said.
    pub(super) initial: Option<Datum>,
    pub(super) depth: Depth,
}

impl Search<'_> {
    /// Judges the history against the model. With a doubt about the model, what it says against the history is not
    /// believed.
    ///
    /// # Errors
    /// An operation that the model does not have, with its line.
    pub fn run(&self, path: &str, name: ModelName, doubt: Option<&str>) -> Result<Found> {
        self.watch.enter(Stage::Converting(self.history.len()));
        let meaning = self.meaning;
        let reading = Reading {
            fail: meaning.failed.unwrap_or_default(),
            nil_read: meaning.nil_read.unwrap_or_default(),
            lock_value: meaning.lock_value,
        };
        let trial = Trial {
            search: self,
            path,
            name,
            reading,
            initial: meaning.initial.clone(),
            depth: Depth::Whole,
        };
        trial.refuse_cas()?;
        if let Some(doubt) = doubt
            && trial.verdict()? == Verdict::Invalid
        {
            let text = format!(
                "Not linearizable as {}, but {doubt}; --model names what it is.",
                article(&name.to_string())
            );
            return Ok(Found::unknown(name, text));
        }
        trial.found()
    }
}

impl Trial<'_> {
    /// Its verdict alone.
    pub fn verdict(&self) -> Result<Verdict> {
        let depth = if self.depth == Depth::Whole { Depth::Verdict } else { self.depth };
        Ok(Trial { depth, ..self.clone() }.found()?.explanation.verdict)
    }

    /// The same, within a small budget, of which the explanation's time is the larger part.
    pub fn hint(&self) -> Result<Verdict> {
        let left = self.search.watch.left_to_explain().map_or(BRIEF, |left| BRIEF.min(left / 4));
        let depth = Depth::Hint(Instant::now() + left);
        Ok(Trial { depth, ..self.clone() }.found()?.explanation.verdict)
    }

    fn found(&self) -> Result<Found> {
        let (history, reading) = (self.search.history, &self.reading);
        let unfit = |error| self.unfit(error);
        if let Some(lock) = self.name.lock() {
            return self.locks(&lock);
        }
        Ok(match self.name {
            ModelName::Register | ModelName::CasRegister => {
                let ops = convert::registers(history, reading).map_err(unfit)?;
                let failed = convert::failed_writes(history, reading).map_err(unfit)?;
                let aborted = self.aborted(&ops, &failed);
                let mut found = self.registers(ops, &failed);
                found.notes.extend(aborted);
                found
            }
            ModelName::MultiRegister => {
                let ops = convert::transactions(history, reading).map_err(unfit)?;
                let failed = convert::failed_transactions(history, &ops).map_err(unfit)?;
                let model = match &self.initial {
                    Some(value) => initial::transactions(&ops, value),
                    None => initial::of_transactions(&ops, &failed),
                };
                let start = initial::described(&model);
                self.any([self.starting(model, ops, &start)])
            }
            ModelName::Semaphore(permits) => {
                self.keyed(Semaphore { permits }, convert::semaphore(history, reading).map_err(unfit)?)
            }
            ModelName::Counter => self.keyed(Counter, convert::counter(history).map_err(unfit)?),
            ModelName::FifoQueue => {
                self.keyed(FifoQueue::empty(), convert::queue(history, reading).map_err(unfit)?)
            }
            ModelName::Set => self.keyed(Set::empty(), convert::set(history).map_err(unfit)?),
            _ if convert::has_appends(history) => {
                let ops = convert::texts(history).map_err(unfit)?;
                self.worst([Case { model: KeyValue::empty(), ops, subject: self.name.to_string() }])
            }
            _ => {
                let ops = convert::values(history).map_err(unfit)?;
                self.keyed(Register { initial: Datum::Nil }, ops)
            }
        })
    }

    /// Of what has keys or has none: then there is no word of keys.
    fn keyed<M: Model>(&self, model: M, ops: Vec<OpOf<Keyed<Datum, M>>>) -> Found {
        let subject = self.name.to_string();
        match convert::without_keys(ops) {
            Ok(ops) => self.worst([Case { model, ops, subject }]),
            Err(ops) => self.worst([Case { model: Keyed::new(model), ops, subject }]),
        }
    }

    fn locks(&self, lock: &Lock) -> Result<Found> {
        let locks = convert::locks(self.search.history, &self.reading).map_err(|error| self.unfit(error))?;
        if matches!(locks.naming, Naming::Unclear(_)) && self.reading.lock_value.is_none() {
            return self.unclear();
        }
        let several = locks.parts.len() > 1;
        let name = self.name;
        let cases: Vec<Case<Lock>> = locks
            .parts
            .into_iter()
            .map(|part| {
                let subject = if several { format!("{name} {}", part.lock) } else { name.to_string() };
                Case { model: *lock, ops: part.ops, subject }
            })
            .collect();
        let mut found = self.worst(cases);
        if several && found.explanation.verdict != Verdict::Invalid {
            found.subject = name.to_string();
        }
        found.notes.extend(assumed::of_naming(locks.naming));
        Ok(found)
    }

    /// Values that may be names of locks or owners: nobody is accused unless both say so.
    fn unclear(&self) -> Result<Found> {
        let as_said =
            |value| Trial { reading: Reading { lock_value: Some(value), ..self.reading }, ..self.clone() };
        let (names, owners) = (as_said(LockValue::Name), as_said(LockValue::Owner));
        let verdicts = [names.verdict()?, owners.verdict()?];
        if verdicts[0] == verdicts[1] && verdicts[0] != Verdict::Unknown {
            let mut found = names.found()?;
            found.notes.push(format!(
                "{} are taken as names of locks; as owners the verdict is the same",
                assumed::VALUES
            ));
            return Ok(found);
        }
        let text = format!(
            "{} may be names of locks or those who acquire them, and the verdict hangs on it: as names it is {}, as \
             owners {}. Say which with --lock-value name or --lock-value owner.",
            assumed::VALUES,
            verdicts[0],
            verdicts[1]
        );
        Ok(Found::unknown(self.name, text))
    }

    /// A read that saw what never was.
    fn aborted(
        &self,
        ops: &[OpOf<Registers>],
        failed: &std::collections::BTreeSet<(Datum, Datum)>,
    ) -> Option<String> {
        let (op, value) = initial::aborted(ops, failed).filter(|_| self.initial.is_none())?;
        let line = self.search.history.row(op.deadline() as usize).line();
        Some(format!(
            "line {line}: {value} was seen, which only a failed write ever wrote (an aborted read); it is taken for no \
             initial value; --initial {value} says that it is one"
        ))
    }

    /// A plain register has no compare-and-set, though the same function reads both.
    fn refuse_cas(&self) -> Result<()> {
        if self.name != ModelName::Register {
            return Ok(());
        }
        let mut rows = convert::invocations(self.search.history);
        let cas = rows.find(|row| REGISTER.operation(row.f()) == Some("cas"));
        cas.map_or(Ok(()), |row| {
            let (line, f) = (row.line(), row.f());
            Err(Error::Data(format!(
                "{}:{line}: {f} is no operation of a register; see --model cas-register",
                self.path
            )))
        })
    }

    fn unfit(&self, error: Unfit) -> Error {
        Error::Data(format!("{}:{}: {}", self.path, error.line, error.message))
    }
}
