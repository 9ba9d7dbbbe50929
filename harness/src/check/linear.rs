//! Linearizability: a history against a model.

use checkers::{
    convert::{self, Datum, NilRead, Reading, Registers, Unfit},
    engine::Answer,
    explain::{Explanation, explain},
    history::{EventKind, Format, History},
    judge::judge,
    model::{Model, OpOf},
    models::{Counter, FifoQueue, KeyValue, Keyed, Register, Semaphore, Set},
    op::{FailMeans, Op},
    verdict::Verdict,
};

use super::{
    initial,
    model::ModelName,
    watch::{Budget, Stage, Watch},
};
use crate::error::{Error, Result};

/// What may be said on the command line about the meaning of a history.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    /// What a failed compare-and-set, acquire, release or dequeue says; else as its format is usually meant.
    pub failed: Option<FailMeans>,
    /// What a read of `nil` says; else as the format is usually meant.
    pub nil_read: Option<NilRead>,
    /// What registers start with; else `nil`, or, in a history of EDN, whatever makes it linearizable.
    pub initial: Option<Datum>,
}

/// What came of one model.
pub struct Found {
    /// Why, with the operations as positions in the history in which the model sees them.
    pub explanation: Explanation,
    /// What the history was judged as, in words: `cas-register that starts with 0`.
    pub subject: String,
}

/// All that a search needs beside a model and its operations.
pub struct Search<'c> {
    /// The events.
    pub history: &'c History,
    /// Where they come from.
    pub format: Format,
    /// What they mean.
    pub meaning: &'c Meaning,
    /// What it may cost.
    pub budget: &'c Budget,
    /// Who waits.
    pub watch: &'c Watch,
}

/// More different first values than this are not tried.
const INITIALS_MAX: usize = 64;

impl Search<'_> {
    /// Judges the history against the model.
    ///
    /// # Errors
    /// An operation that the model does not have, with its line.
    pub fn run(&self, path: &str, name: ModelName) -> Result<Found> {
        let unfit = |error: Unfit| Error::Data(format!("{path}:{}: {}", error.line, error.message));
        self.watch.enter(Stage::Converting(self.history.len()));
        let (history, reading) = (self.history, self.reading());
        if let Some(lock) = name.lock() {
            let parts = convert::locks(history, &reading).map_err(unfit)?;
            let several = parts.len() > 1;
            let judged = parts.iter().map(|part| {
                let which = if several { format!("{name} {}", part.lock) } else { name.to_string() };
                self.judged(&lock, &part.ops, which)
            });
            return Ok(worst(judged).unwrap_or_else(|| self.judged(&lock, &[], name.to_string())));
        }
        Ok(match name {
            ModelName::Register | ModelName::CasRegister => {
                if name == ModelName::Register {
                    self.refuse_cas(path)?;
                }
                self.registers(convert::registers(history, &reading).map_err(unfit)?, name)
            }
            ModelName::MultiRegister => {
                self.transactions(&convert::transactions(history).map_err(unfit)?, name)
            }
            ModelName::Semaphore(permits) => {
                let ops = convert::semaphore(history, &reading).map_err(unfit)?;
                self.judged(&Semaphore { permits }, &ops, name.to_string())
            }
            ModelName::Counter => {
                self.judged(&Counter, &convert::counter(history).map_err(unfit)?, name.to_string())
            }
            ModelName::FifoQueue => {
                let ops = convert::queue(history, &reading).map_err(unfit)?;
                self.judged(&FifoQueue::empty(), &ops, name.to_string())
            }
            ModelName::Set => {
                self.judged(&Set::empty(), &convert::set(history).map_err(unfit)?, name.to_string())
            }
            _ => self.judged(&KeyValue::empty(), &convert::texts(history).map_err(unfit)?, name.to_string()),
        })
    }

    fn reading(&self) -> Reading {
        let usual = Reading::of(self.format);
        Reading {
            fail: self.meaning.failed.unwrap_or(usual.fail),
            nil_read: self.meaning.nil_read.unwrap_or(usual.nil_read),
            ..usual
        }
    }

    /// A plain register has no compare-and-set, though the same function reads both.
    fn refuse_cas(&self, path: &str) -> Result<()> {
        let mut rows = self.history.rows();
        let cas = rows.find(|row| row.kind() == EventKind::Invoke && row.f() == "cas");
        cas.map_or(Ok(()), |row| {
            let line = row.line();
            Err(Error::Data(format!(
                "{path}:{line}: cas is no operation of a register; see --model cas-register"
            )))
        })
    }

    fn registers(&self, ops: Vec<OpOf<Registers>>, name: ModelName) -> Found {
        let seen = self.initials(|| initial::of_registers(&ops));
        if ops.iter().any(|op| op.input.key != Datum::Nil) {
            return self.any_initial(&ops, name, &seen, |initial| Keyed::new(Register { initial }));
        }
        // One register only: no word of keys.
        let ops: Vec<_> = ops.into_iter().map(without_key).collect();
        self.any_initial(&ops, name, &seen, |initial| Register { initial })
    }

    fn transactions(&self, ops: &[OpOf<initial::Transactions>], name: ModelName) -> Found {
        let seen = self.initials(|| initial::of_transactions(ops));
        self.any_initial(ops, name, &seen, |value| initial::transactions(ops, &value))
    }

    /// What registers can have started with.
    fn initials(&self, seen: impl FnOnce() -> Vec<Datum>) -> Vec<Datum> {
        match (&self.meaning.initial, self.format) {
            (Some(stated), _) => vec![stated.clone()],
            (None, Format::Edn) => seen(),
            (None, _) => vec![Datum::Nil],
        }
    }

    /// Valid if it is with any of the values that the registers can have started with.
    fn any_initial<M: Model>(
        &self,
        ops: &[OpOf<M>],
        name: ModelName,
        initials: &[Datum],
        model: impl Fn(Datum) -> M,
    ) -> Found {
        if initials.len() > INITIALS_MAX {
            return many_initials(initials.len(), name);
        }
        self.watch.enter(Stage::Judging(ops.len()));
        let judged = |at: usize| judge(&model(initials[at].clone()), ops, &self.budget.left());
        let (mut best, mut answer) = (0, judged(0));
        for at in 1..initials.len() {
            if answer.verdict() == Verdict::Valid {
                break;
            }
            let other = judged(at);
            // What is unknown with one is unknown, however wrong it is with others; of equals the first explains.
            if other.verdict() < answer.verdict() {
                (best, answer) = (at, other);
            }
        }
        let subject = format!("{name} that starts with {}", initials[best]);
        let mut found = self.explained(&model(initials[best].clone()), ops, &answer, subject);
        if answer.verdict() == Verdict::Invalid && initials.len() > 1 {
            let others: Vec<String> = initials[1..].iter().map(Datum::to_string).collect();
            found
                .explanation
                .text
                .push_str(&format!("\nNor is it linearizable if it starts with {}.", others.join(", ")));
        }
        found
    }

    fn judged<M: Model>(&self, model: &M, ops: &[OpOf<M>], subject: String) -> Found {
        self.watch.enter(Stage::Judging(ops.len()));
        let answer = judge(model, ops, &self.budget.left());
        self.explained(model, ops, &answer, subject)
    }

    fn explained<M: Model>(&self, model: &M, ops: &[OpOf<M>], answer: &Answer, subject: String) -> Found {
        if let Answer::Invalid(refutation) = answer {
            self.watch.enter(Stage::Explaining(subject.clone(), brief(model, ops, refutation.op)));
        }
        Found { explanation: explain(model, ops, answer), subject }
    }
}

fn without_key(op: OpOf<Registers>) -> OpOf<Register<Datum>> {
    Op { process: op.process, call: op.call, input: op.input.input, returned: op.returned }
}

fn brief<M: Model>(model: &M, ops: &[OpOf<M>], op: u32) -> String {
    let what = ops.get(op as usize).map(|op| {
        let text = model.describe(&op.input, op.output());
        format!("what process {} invokes at event {} cannot be placed: {text}", op.process, op.call)
    });
    format!("Not linearizable: {}", what.unwrap_or_default())
}

fn many_initials(count: usize, name: ModelName) -> Found {
    Found {
        explanation: super::unknown(format!(
            "The registers can have started with any of {count} values; name one with --initial."
        )),
        subject: name.to_string(),
    }
}

/// The first invalid one ends the search; else an unknown one; else the first.
fn worst(found: impl Iterator<Item = Found>) -> Option<Found> {
    let mut worst: Option<Found> = None;
    for found in found {
        let verdict = found.explanation.verdict;
        if worst.as_ref().is_none_or(|worst| verdict > worst.explanation.verdict) {
            worst = Some(found);
        }
        if verdict == Verdict::Invalid {
            break;
        }
    }
    worst
}
