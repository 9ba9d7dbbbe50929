//! A history as one or several cases: objects that are judged apart, or ways in which it may have begun.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    time::{Duration, Instant},
};

use history::verdict::Verdict;
use linear::{
    convert::{Datum, Registers, without_keys},
    engine::Answer,
    explain::Explanation,
    judge::judge,
    limits::Limits,
    model::{Model, OpOf},
    models::{Keyed, Register},
};

use super::{
    super::{initial, search::Found, watch::Stage},
    Trial, assumed,
};

/// A model and operations.
pub struct Case<M: Model> {
    pub model: M,
    pub ops: Vec<OpOf<M>>,
    /// What it is judged as, in words.
    pub subject: String,
}

/// How much is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The verdict, within a small budget that ends then: what else it would be is worth no more.
    Hint(Instant),
    /// The verdict.
    Verdict,
    /// And why.
    Whole,
}

/// What a hint may take.
pub const BRIEF: Duration = Duration::from_millis(250);
const BRIEF_BYTES: usize = 64 << 20;
/// More different first values than this are not tried.
const INITIALS_MAX: usize = 64;

impl Trial<'_> {
    /// All must be valid. The first invalid one ends the search; else an unknown one tells; else the first.
    pub(super) fn worst<M: Model>(&self, cases: impl IntoIterator<Item = Case<M>>) -> Found {
        let mut worst: Option<(Case<M>, Answer)> = None;
        for case in cases {
            let answer = self.judged(&case);
            let verdict = answer.verdict();
            if worst.as_ref().is_none_or(|(_, worst)| verdict > worst.verdict()) {
                worst = Some((case, answer));
            }
            if verdict == Verdict::Invalid {
                break;
            }
        }
        worst.map_or_else(|| self.nothing(), |(case, answer)| self.explained(case, &answer))
    }

    /// One must be valid; of equals the first explains. What is unknown in one way is unknown, however wrong in others.
    pub(super) fn any<M: Model>(&self, cases: impl IntoIterator<Item = Case<M>>) -> Found {
        let (best, others) = self.best(cases);
        best.map_or_else(
            || self.nothing(),
            |(case, answer)| with_others(self.explained(case, &answer), &others),
        )
    }

    /// The best way, and the others that were tried, in words.
    fn best<M: Model>(
        &self,
        cases: impl IntoIterator<Item = Case<M>>,
    ) -> (Option<(Case<M>, Answer)>, Vec<String>) {
        let (mut best, mut subjects): (Option<(Case<M>, Answer)>, Vec<String>) = (None, Vec::new());
        for case in cases {
            let answer = self.judged(&case);
            subjects.push(case.subject.clone());
            if best.as_ref().is_none_or(|(_, best)| answer.verdict() < best.verdict()) {
                best = Some((case, answer));
            }
            if best.as_ref().is_some_and(|(_, best)| best.verdict() == Verdict::Valid) {
                break;
            }
        }
        subjects.retain(|subject| best.as_ref().is_some_and(|(case, _)| case.subject != *subject));
        (best, subjects)
    }

    /// A model whose registers start with this.
    pub(super) fn starting<M: Model>(&self, model: M, ops: Vec<OpOf<M>>, initial: impl Display) -> Case<M> {
        Case { model, ops, subject: format!("{} that starts with {initial}", self.name) }
    }

    /// Registers that start with whatever they can have started with, each its own.
    pub(super) fn registers(&self, ops: Vec<OpOf<Registers>>, failed: &BTreeSet<(Datum, Datum)>) -> Found {
        let mut starts = initial::of_registers(&ops, failed);
        if let Some(stated) = &self.initial {
            starts.values_mut().for_each(|values| *values = vec![stated.clone()]);
        }
        if let Some(many) = starts.values().map(Vec::len).max().filter(|many| *many > INITIALS_MAX) {
            let text =
                format!("A register can have started with any of {many} values; name one with --initial.");
            return Found::unknown(self.name, text);
        }
        match without_keys(ops) {
            Ok(ops) if starts.values().all(|values| values.len() == 1) => {
                let initial = starts.into_values().flatten().next().unwrap_or(Datum::Nil);
                self.any([self.starting(Register { initial: initial.clone() }, ops, &initial)])
            }
            Ok(ops) => {
                let nil = vec![Datum::Nil];
                let values = starts.values().next().unwrap_or(&nil);
                self.any(values.iter().map(|initial| {
                    self.starting(Register { initial: initial.clone() }, ops.clone(), initial)
                }))
            }
            Err(ops) => self.keyed_registers(ops, &starts),
        }
    }

    /// Those that start alike are judged together; only if these are not valid, each apart with all that it can have
    /// started with.
    fn keyed_registers(&self, ops: Vec<OpOf<Registers>>, starts: &BTreeMap<Datum, Vec<Datum>>) -> Found {
        let case = |initial: &Datum, ops| {
            self.starting(Keyed::new(Register { initial: initial.clone() }), ops, initial)
        };
        let mut alike: BTreeMap<&Datum, Vec<OpOf<Registers>>> = BTreeMap::new();
        for op in ops {
            alike.entry(&starts[&op.input.key][0]).or_default().push(op);
        }
        let mut worst: Option<(Case<Registers>, Answer, Vec<String>)> = None;
        let mut take = |(case, answer): (Case<Registers>, Answer), others| {
            if worst.as_ref().is_none_or(|(_, worst, _)| answer.verdict() > worst.verdict()) {
                worst = Some((case, answer, others));
            }
        };
        for (initial, ops) in alike {
            let whole = case(initial, ops);
            let answer = self.judged(&whole);
            let is_single = whole.ops.iter().all(|op| starts[&op.input.key].len() == 1);
            if answer.verdict() == Verdict::Valid || is_single {
                take((whole, answer), Vec::new());
                continue;
            }
            let mut by_key: BTreeMap<Datum, Vec<OpOf<Registers>>> = BTreeMap::new();
            for op in whole.ops {
                by_key.entry(op.input.key.clone()).or_default().push(op);
            }
            for (key, ops) in by_key {
                let (best, others) = self.best(starts[&key].iter().map(|initial| case(initial, ops.clone())));
                best.into_iter().for_each(|best| take(best, others.clone()));
            }
        }
        let firsts: BTreeSet<&Datum> = starts.values().map(|values| &values[0]).collect();
        worst.map_or_else(
            || self.nothing(),
            |(mut case, answer, others)| {
                if answer.verdict() == Verdict::Valid && firsts.len() > 1 {
                    case.subject =
                        format!("{} that starts with what was seen first under each key", self.name);
                }
                with_others(self.explained(case, &answer), &others)
            },
        )
    }

    fn judged<M: Model>(&self, case: &Case<M>) -> Answer {
        let Depth::Hint(until) = self.depth else {
            self.search.watch.enter(Stage::Judging(case.ops.len()));
            let limits = self.search.budget.to_judge(self.search.history.len(), self.search.watch);
            return judge(&case.model, &case.ops, &limits);
        };
        let limits = self.search.budget.left();
        let left = until.saturating_duration_since(Instant::now());
        let limits = Limits {
            time: Some(limits.time.map_or(left, |time| time.min(left))),
            memory_bytes: Some(limits.memory_bytes.map_or(BRIEF_BYTES, |bytes| bytes.min(BRIEF_BYTES))),
            stop: Some(self.search.budget.explaining.stop.clone()),
            ..limits
        };
        judge(&case.model, &case.ops, &limits)
    }

    fn explained<M: Model>(&self, case: Case<M>, answer: &Answer) -> Found {
        if self.depth == Depth::Whole {
            let assumed = |found: &Found| assumed::of(self, found);
            return self.search.explained(&case.model, &case.ops, answer, case.subject, assumed);
        }
        let explanation = Explanation::of(answer.verdict(), String::new());
        Found { explanation, subject: case.subject, notes: Vec::new() }
    }

    /// A history in which nothing happened is one of any model.
    fn nothing(&self) -> Found {
        self.explained(
            Case { model: linear::models::Counter, ops: Vec::new(), subject: self.name.to_string() },
            &Answer::Valid(Default::default()),
        )
    }
}

fn with_others(mut found: Found, others: &[String]) -> Found {
    if found.explanation.verdict == Verdict::Invalid && !others.is_empty() {
        let starts: Vec<&str> = others.iter().filter_map(|subject| subject.split(" that ").nth(1)).collect();
        found.explanation.text.push_str(&format!("\nNor is it linearizable if it {}.", starts.join(", ")));
    }
    found
}
