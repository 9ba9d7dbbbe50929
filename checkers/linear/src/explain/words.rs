//! Answers in sentences.

use crate::{
    engine::{Configuration, Refutation, Shortfall, Witness},
    limits::Limit,
    model::{Model, OpOf},
};

use super::{Described, Explanation, shrink::SMALL};

const STATES_MAX: usize = 3;

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
    lines.extend(model.hardness(ops, *op));
    lines.push(raise.to_string());
    lines.join("\n")
}

/// The verdict, and where the search stood.
pub(super) fn refuted<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    refutation: &Refutation,
    states: &[Configuration],
    argument: Option<String>,
) -> Vec<String> {
    let mut lines =
        vec![format!("Not linearizable: {} cannot be placed.", operation(model, ops, refutation.op))];
    let reasons: Vec<String> = refutation.reason.clone().into_iter().chain(argument).collect();
    if !reasons.is_empty() {
        lines.push(format!("Why: {}.", reasons.join("; ")));
    }
    if refutation.of > 0 {
        lines.push(format!(
            "{} of {} returns can be passed, but not this one.",
            refutation.placed, refutation.of
        ));
    }
    lines.extend(states.iter().take(STATES_MAX).map(|state| standing(model, ops, state)));
    if states.len() > STATES_MAX {
        lines.push(format!("And {} more such states.", states.len() - STATES_MAX));
    }
    lines
}

pub(super) fn invalid<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    refutation: &Refutation,
    explanation: &Explanation,
    argument: Option<String>,
    is_told: bool,
) -> String {
    let mut lines = refuted(model, ops, refutation, &explanation.states, argument);
    lines.extend(explanation.stopped.clone());
    let shown = &explanation.operations;
    lines.push(match shown.len() {
        _ if is_told => "To be seen at:".to_string(),
        1 => "This operation alone is enough to see it:".to_string(),
        count if count > SMALL => {
            format!("No small part that shows it was found; {count} operations do, the last of which are:")
        }
        count => format!("{count} operations are enough to see it:"),
    });
    if shown.len() > SMALL {
        lines.push(format!("  … {} more before", shown.len() - SMALL));
    }
    lines.extend(shown[shown.len().saturating_sub(SMALL)..].iter().map(|op| format!("  {}", in_words(op))));
    lines.join("\n")
}

/// That a limit ended the explanation.
pub(super) fn stopped((limit, during): (Option<Limit>, &str)) -> String {
    let limit = match limit {
        None => "it had tried much",
        Some(Limit::Time) => "of its time limit",
        Some(Limit::Memory) => "of its memory limit",
        Some(Limit::Stopped) => "it was told to",
    };
    format!("This explanation ended early, because {limit}, while {during}: a smaller part may show it too.")
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
    in_words(&super::described(model, position, &ops[position as usize], &ops[position as usize]))
}

fn in_words(Described { op, process, call, at, text }: &Described) -> String {
    let until = at.map_or("?".to_string(), |at| at.to_string());
    format!("operation {op} (process {process}, {call} to {until}): {text}")
}
