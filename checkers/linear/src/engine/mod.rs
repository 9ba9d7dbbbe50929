//! The general engine: is there an order of the operations, within their intervals, that the model permits?
//!
//! The search goes from return to return and decides only there ("just in time"), after Lowe's *Testing for
//! linearizability* (2017); what it leaves out is listed in `search.rs`. Parts of a history that the model can judge
//! apart take turns with growing budgets, so that a hard one does not hide a cheap refutation.

mod bits;
mod entries;
mod glance;
mod layout;
mod memo;
mod order;
mod plan;
mod pool;
mod search;
mod serial;
mod slots;
mod small;
mod snapshot;
mod states;
mod timeline;
mod way;
mod window;

pub use crate::answer::{Answer, Configuration, Refutation, Shortfall, Witness};

pub(crate) use pool::run as check_parts;
use search::{Progress, Search};
pub(crate) use small::judge as judge_small;
use timeline::events;

use crate::{
    limits::{Guard, Limits},
    model::{Model, OpOf},
};

/// Judges a history by a search, however long it takes within `limits`.
pub fn check<M: Model>(model: &M, ops: &[OpOf<M>], limits: &Limits) -> Answer {
    check_parts(model, ops, &model.partition(ops), &Guard::new(limits), limits.jobs)
}

/// Judges one part by at most about `nodes` nodes: whether it is linearizable, with an order that is, and how many nodes
/// that took. `None` if they, or what `guard` permits, were not enough.
pub(crate) fn attempt<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    nodes: u64,
    guard: &Guard,
) -> (Option<Result<Vec<u32>, u32>>, u64) {
    let part: Vec<u32> = (0..ops.len() as u32).collect();
    let mut search = Search::new(model, ops, &part, &events(model, ops, &part), guard);
    search.look_ahead_at_once();
    let found = match search.run(nodes, u32::MAX) {
        Progress::Valid => {
            let order = search.linearization();
            debug_assert!(order::is_permitted(model, ops, order), "an order that was found is one");
            debug_assert!(order::is_whole::<M>(ops, &part, order), "an order has all that happened");
            Some(Ok(order.to_vec()))
        }
        Progress::Invalid => Some(Err(search.plan().op_at(search.deepest()))),
        Progress::Paused | Progress::Ended => None,
    };
    (found, search.nodes())
}

/// An order of operations of one part that comes as far as any: up to the return that `placed` others precede. At most
/// about `nodes` nodes are spent on it, and what `guard` permits.
pub(crate) fn longest<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    part: &[u32],
    placed: u32,
    nodes: u64,
    guard: &Guard,
) -> Vec<u32> {
    let mut search = Search::new(model, ops, part, &events(model, ops, part), guard);
    search.run(nodes, placed);
    debug_assert!(
        order::is_permitted(model, ops, search.linearization()),
        "so far as it goes, an order is one"
    );
    search.linearization().to_vec()
}
