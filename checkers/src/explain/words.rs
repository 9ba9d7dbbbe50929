//! Answers in sentences.

use crate::{
    engine::{Configuration, Refutation, Shortfall, Witness},
    limits::Limit,
    model::{Model, OpOf},
};

use super::Explanation;

const STATES_MAX: usize = 4;

pub(super) fn valid(witness: &Witness) -> String {
    match witness.nodes {
        0 => "Linearizable: seen without a search.".to_string(),
        nodes => format!("Linearizable: an order was found after {nodes} configurations."),
    }
}

pub(super) fn unknown<M: Model>(model: &M, ops: &[OpOf<M>], shortfall: &Shortfall) -> String {
    let Shortfall { limit, parts_valid, parts, op, placed, of, nodes, memory_bytes } = shortfall;
    let (reached, raise) = match limit {
        Limit::Time => {
            ("the time limit was reached", "Give it more time, or more threads if there are more parts.")
        }
        Limit::Memory => ("the memory limit was reached", "Give it more memory."),
        Limit::Stopped => ("it was stopped", "Let it run on."),
    };
    let mut lines = vec![format!(
        "Undecided: {reached} after {nodes} configurations and {} MiB.",
        memory_bytes.div_ceil(1 << 20)
    )];
    if *parts > 1 {
        lines.push(format!("{parts_valid} of {parts} parts are linearizable; the others are not decided."));
    }
    if *of > 0 {
        let op = operation(model, ops, *op);
        lines.push(format!(
            "The part that came least far passed {placed} of {of} returns; the next is that of {op}."
        ));
    }
    lines.push(raise.to_string());
    lines.join("\n")
}

pub(super) fn invalid<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    refutation: &Refutation,
    explanation: &Explanation,
) -> String {
    let mut lines =
        vec![format!("Not linearizable: {} cannot be placed.", operation(model, ops, refutation.op))];
    if let Some(reason) = &refutation.reason {
        lines.push(format!("Why: {reason}."));
    }
    for with in &refutation.with {
        lines.push(format!("See {}.", operation(model, ops, *with)));
    }
    if refutation.of > 0 {
        lines.push(format!(
            "{} of {} returns can be passed, but not this one.",
            refutation.placed, refutation.of
        ));
    }
    lines.extend(explanation.states.iter().take(STATES_MAX).map(|state| standing(model, ops, state)));
    if explanation.states.len() > STATES_MAX {
        lines.push(format!("And {} more such states.", explanation.states.len() - STATES_MAX));
    }
    let count = explanation.operations.len();
    lines.push(format!("{count} operations are enough to see it:"));
    lines.extend(explanation.operations.iter().map(|op| format!("  {}", operation(model, ops, op.op))));
    lines.join("\n")
}

fn standing<M: Model>(model: &M, ops: &[OpOf<M>], configuration: &Configuration) -> String {
    let Configuration { state, taken, used } = configuration;
    let mut sentence = format!("Before its return the state can be: {state}");
    let list = |positions: &[u32]| {
        let texts = positions.iter().map(|&op| {
            let op = &ops[op as usize];
            model.describe(&op.input, op.output())
        });
        texts.collect::<Vec<_>>().join("; ")
    };
    if !taken.is_empty() {
        sentence.push_str(&format!(", after {} (still under way)", list(taken)));
    }
    if !used.is_empty() {
        sentence.push_str(&format!(", if {} happened (indeterminate)", list(used)));
    }
    sentence + "."
}

/// Process, interval and what it is.
fn operation<M: Model>(model: &M, ops: &[OpOf<M>], position: u32) -> String {
    let op = &ops[position as usize];
    let until = op.returned.as_ref().map_or("?".to_string(), |returned| returned.at.to_string());
    let text = model.describe(&op.input, op.output());
    format!("operation {position} (process {}, {} to {until}): {text}", op.process, op.call)
}
