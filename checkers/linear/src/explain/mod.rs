//! Why a history is not linearizable, or why nobody knows: for people, in words and pictures, and for programs.

mod budget;
mod fewest;
mod html;
mod relaxed;
mod shrink;
mod view;
mod words;

pub use html::html;

use serde::Serialize;

use budget::Budget;
use history::verdict::Verdict;

use crate::{
    engine::{self, Answer, Configuration, Refutation},
    judge::reasoned,
    limits::Limits,
    model::{Model, OpOf},
    referee::partial_orders,
};

/// An answer with all that makes it plain. Serializes as JSON; [`html`] draws it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// In words: a few sentences, one a line.
    pub text: String,
    /// Position of the operation that cannot be placed; of an undecided history, of the next to be placed.
    pub op: Option<u32>,
    /// Where the search stood before it: the last consistent states.
    pub states: Vec<Configuration>,
    /// The longest order of operations that works, as positions.
    pub longest: Vec<u32>,
    /// A smallest sub-history that is still wrong, in order of invocation.
    pub operations: Vec<Described>,
    /// Within `operations`: orders that were tried, none of which can go on, the longest first.
    pub attempts: Vec<Attempt>,
    /// That a limit ended the explanation before it was done: which, and at what. What was reached until then is here.
    pub stopped: Option<String>,
    /// What the explanation cost: configurations gone through, operations laid out, blocks of 64 bytes of states copied.
    pub work: u64,
}

/// An operation in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Described {
    /// Its position in the history.
    pub op: u32,
    /// Its process.
    pub process: u32,
    /// Its invocation.
    pub call: u64,
    /// Its return; `null` if it is indeterminate.
    pub at: Option<u64>,
    /// What was asked and answered.
    pub text: String,
}

/// An order that works as far as it goes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attempt {
    /// Positions of operations, in order.
    pub order: Vec<u32>,
    /// The state after each.
    pub states: Vec<String>,
}

/// Nodes that [`engine::longest`] may take.
const LONGEST_NODES: u64 = 1 << 18;
/// Up to so many operations the referee lists its attempts.
const ATTEMPTS_OPS_MAX: usize = 64;
const ATTEMPTS_MAX: usize = 16;
/// Orders that the referee may go through.
const ATTEMPTS_STEPS: usize = 1 << 14;

impl Explanation {
    /// Nothing but a verdict and words.
    pub fn of(verdict: Verdict, text: String) -> Explanation {
        Explanation {
            verdict,
            text,
            op: None,
            states: Vec::new(),
            longest: Vec::new(),
            operations: Vec::new(),
            attempts: Vec::new(),
            stopped: None,
            work: 0,
        }
    }
}

/// What can be said at once of an answer on a history; [`explain`] says more.
pub fn outline<M: Model>(model: &M, ops: &[OpOf<M>], answer: &Answer) -> Explanation {
    match answer {
        Answer::Valid(witness) => Explanation::of(answer.verdict(), words::valid(witness)),
        Answer::Unknown(shortfall) => Explanation {
            op: Some(shortfall.op),
            ..Explanation::of(answer.verdict(), words::unknown(model, ops, shortfall))
        },
        Answer::Invalid(refutation) => {
            let reasoned = reasoned(model, ops, refutation);
            let refutation = reasoned.as_ref().unwrap_or(refutation);
            let mut outline = untold(refutation);
            let argument = model.argue(ops, refutation.op).map(|(words, _)| words);
            outline.text = words::refuted(model, ops, refutation, &outline.states, argument).join("\n");
            outline
        }
    }
}

/// What a refutation says itself, without words.
fn untold(refutation: &Refutation) -> Explanation {
    let mut untold = Explanation::of(Verdict::Invalid, String::new());
    untold.op = Some(refutation.op);
    untold.states = refutation.configurations.clone();
    untold
}

/// Explains an answer on a history within the limits (`time` from now; `jobs` and `abandon` mean nothing here). Where
/// they are reached, it tells what was found until then, and says so in [`Explanation::stopped`]. Deterministic where
/// no limit is reached; the work is bounded without limits too.
pub fn explain<M: Model>(model: &M, ops: &[OpOf<M>], answer: &Answer, limits: &Limits) -> Explanation {
    let Answer::Invalid(refutation) = answer else { return outline(model, ops, answer) };
    let reasoned = reasoned(model, ops, refutation);
    let refutation = reasoned.as_ref().unwrap_or(refutation);
    let mut explanation = untold(refutation);
    invalid(model, ops, refutation, &mut Budget::new(limits), &mut explanation);
    explanation
}

fn invalid<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    refutation: &Refutation,
    budget: &mut Budget,
    explanation: &mut Explanation,
) {
    let everything: Vec<u32>;
    let part = match refutation.part.is_empty() {
        true => {
            everything = (0..ops.len() as u32).collect();
            &everything
        }
        false => &refutation.part,
    };
    let (argument, argued) = model.argue(ops, refutation.op).unzip();
    // What can be shown whole needs not be told.
    let is_much = !refutation.suffices || refutation.with.len() >= shrink::SMALL;
    let count = usize::from(refutation.seen_at);
    let last = || refutation.with.iter().rev().take(count).chain([&refutation.op]).copied().collect();
    let seen_at = (count > 0).then(last);
    let told = argued.or(seen_at).filter(|_| is_much);
    let is_told = told.is_some();
    let smallest = match told {
        Some(shown) => shrink::chosen(shown, |op| ops[op as usize].clone()),
        None => shrink::shrink(model, ops, part, refutation, budget),
    };
    explanation.operations = smallest
        .positions
        .iter()
        .zip(&smallest.ops)
        .map(|(&op, seen)| described(model, op, &ops[op as usize], seen))
        .collect();
    budget.during = "it listed orders that were tried";
    explanation.attempts = attempts(model, &smallest.ops, &smallest.positions, budget);
    budget.during = "it looked for the longest order that works";
    if refutation.of > 0 && budget.lay_out(part.len()) {
        let guard = budget.guard();
        explanation.longest = engine::longest(model, ops, part, refutation.placed, LONGEST_NODES, &guard);
    }
    if explanation.longest.is_empty() {
        explanation.longest =
            explanation.attempts.first().map(|attempt| attempt.order.clone()).unwrap_or_default();
    }
    explanation.stopped = budget.stopped.map(words::stopped);
    explanation.work = budget.work();
    explanation.text = words::invalid(model, ops, refutation, explanation, argument, is_told);
}

/// An operation; where it is seen as to some topics only, how it then looks too.
fn described<M: Model>(model: &M, position: u32, op: &OpOf<M>, seen: &OpOf<M>) -> Described {
    let mut text = model.describe(&op.input, op.output());
    if seen.input != op.input || seen.output() != op.output() {
        text = format!(
            "{} (as to what is shown here; in all: {text})",
            model.describe(&seen.input, seen.output())
        );
    }
    let at = op.returned.as_ref().map(|returned| returned.at);
    Described { op: position, process: op.process, call: op.call, at, text }
}

/// What the referee tried on the sub-history.
fn attempts<M: Model>(model: &M, own: &[OpOf<M>], smallest: &[u32], budget: &mut Budget) -> Vec<Attempt> {
    if own.len() > ATTEMPTS_OPS_MAX || !budget.lay_out(own.len()) {
        return Vec::new();
    }
    let mut bytes_left = budget.memory_bytes() / 2;
    let mut steps_left = ATTEMPTS_STEPS;
    let partial = partial_orders(model, own, |state| {
        let bytes = model.state_bytes(state) * 2 + 64;
        (bytes_left, steps_left) = (bytes_left.saturating_sub(bytes), steps_left.saturating_sub(1));
        bytes_left > 0 && steps_left > 0 && (!steps_left.is_multiple_of(256) || budget.go_on())
    });
    budget.spend((ATTEMPTS_STEPS - steps_left) as u64);
    let mut orders: Vec<Vec<u32>> = partial.into_iter().flatten().map(|order| order.to_vec()).collect();
    orders.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    orders.dedup();
    orders.truncate(ATTEMPTS_MAX);
    orders.into_iter().map(|order| attempt(model, own, smallest, &order)).collect()
}

fn attempt<M: Model>(model: &M, own: &[OpOf<M>], smallest: &[u32], order: &[u32]) -> Attempt {
    let mut state = model.initial();
    let mut states = Vec::new();
    for &position in order {
        let op = &own[position as usize];
        state = model.step(&state, &op.input, op.output()).unwrap_or(state);
        states.push(model.describe_state(&state));
    }
    Attempt { order: order.iter().map(|&position| smallest[position as usize]).collect(), states }
}

#[cfg(test)]
mod tests;
