//! The general engine: is there an order of the operations, within their intervals, that the model permits?
//!
//! The search goes from return to return and decides only there ("just in time"), after Lowe's *Testing for
//! linearizability* (2017); what it leaves out is listed in `search.rs`. Parts of a history that the model can judge
//! apart take turns with growing budgets, so that a hard one does not hide a cheap refutation.

mod answer;
mod memo;
mod plan;
mod pool;
mod search;
mod states;

pub use answer::{Answer, Configuration, Refutation, Shortfall, Witness};

use crate::{
    limits::{Guard, Limits},
    model::{Model, OpOf},
};

/// Judges a history by a search, however long it takes within `limits`.
pub fn check<M: Model>(model: &M, ops: &[OpOf<M>], limits: &Limits) -> Answer {
    check_parts(model, ops, &model.partition(ops), limits)
}

/// Judges parts of a history, given by positions, each from the model's initial state.
pub(crate) fn check_parts<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    parts: &[Vec<u32>],
    limits: &Limits,
) -> Answer {
    pool::run(model, ops, parts, &Guard::new(limits), limits.jobs)
}
