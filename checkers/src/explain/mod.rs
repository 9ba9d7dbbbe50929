//! Why a history is not linearizable, or why nobody knows: for people, in words and pictures, and for programs.

mod html;
mod relaxed;
mod shrink;
mod words;

pub use html::html;

use serde::Serialize;

use crate::{
    engine::{self, Answer, Configuration, Refutation},
    model::{Model, OpOf},
    referee::referee,
    verdict::Verdict,
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
const LONGEST_NODES: u64 = 1 << 20;
/// Up to so many operations the referee lists its attempts.
const ATTEMPTS_OPS_MAX: usize = 64;
const ATTEMPTS_MAX: usize = 16;

/// Explains an answer on a history. Deterministic; takes a few seconds at most, whatever the history.
pub fn explain<M: Model>(model: &M, ops: &[OpOf<M>], answer: &Answer) -> Explanation {
    let mut explanation = Explanation {
        verdict: answer.verdict(),
        text: String::new(),
        op: None,
        states: Vec::new(),
        longest: Vec::new(),
        operations: Vec::new(),
        attempts: Vec::new(),
    };
    match answer {
        Answer::Valid(witness) => explanation.text = words::valid(witness),
        Answer::Unknown(shortfall) => {
            explanation.op = Some(shortfall.op);
            explanation.text = words::unknown(model, ops, shortfall);
        }
        Answer::Invalid(refutation) => invalid(model, ops, refutation, &mut explanation),
    }
    explanation
}

fn invalid<M: Model>(model: &M, ops: &[OpOf<M>], refutation: &Refutation, explanation: &mut Explanation) {
    let everything: Vec<u32>;
    let part = match refutation.part.is_empty() {
        true => {
            everything = (0..ops.len() as u32).collect();
            &everything
        }
        false => &refutation.part,
    };
    let smallest = shrink::shrink(model, ops, part, refutation);
    let own: Vec<OpOf<M>> = smallest.iter().map(|&op| ops[op as usize].clone()).collect();
    explanation.op = Some(refutation.op);
    explanation.states = refutation.configurations.clone();
    if refutation.of > 0 {
        explanation.longest = engine::longest(model, ops, part, refutation.placed, LONGEST_NODES);
    }
    explanation.operations = smallest.iter().map(|&op| described(model, ops, op)).collect();
    explanation.attempts = attempts(model, &own, &smallest);
    if explanation.longest.is_empty() {
        explanation.longest =
            explanation.attempts.first().map(|attempt| attempt.order.clone()).unwrap_or_default();
    }
    explanation.text = words::invalid(model, ops, refutation, explanation);
}

fn described<M: Model>(model: &M, ops: &[OpOf<M>], position: u32) -> Described {
    let op = &ops[position as usize];
    Described {
        op: position,
        process: op.process,
        call: op.call,
        at: op.returned.as_ref().map(|returned| returned.at),
        text: model.describe(&op.input, op.output()),
    }
}

/// What the referee tried on the sub-history.
fn attempts<M: Model>(model: &M, own: &[OpOf<M>], smallest: &[u32]) -> Vec<Attempt> {
    if own.len() > ATTEMPTS_OPS_MAX {
        return Vec::new();
    }
    let mut orders: Vec<Vec<u32>> =
        referee(model, own).partial.into_iter().flatten().map(|order| order.to_vec()).collect();
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
