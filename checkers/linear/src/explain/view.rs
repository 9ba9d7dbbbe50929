//! A part of a history as to some of its topics only.
//!
//! A history that is linearizable stays so without an element, a register or an owner ([`Model::about`]), so one that is
//! wrong as to a few of them is wrong for no other reason.

use rustc_hash::FxHashSet;

use crate::{
    engine::Answer,
    model::{Model, OpOf},
};

use super::{budget::Budget, fewest::fewest};

/// More topics than this are not worth a picture.
const TOPICS_MAX: usize = 20;

/// Operations as to some topics, with their positions in the history.
pub(super) struct View<M: Model> {
    pub ops: Vec<OpOf<M>>,
    pub positions: Vec<u32>,
}

impl<M: Model> View<M> {
    /// Everything.
    fn whole(ops: &[OpOf<M>], part: &[u32]) -> View<M> {
        View { ops: part.iter().map(|&op| ops[op as usize].clone()).collect(), positions: part.to_vec() }
    }

    fn of(model: &M, ops: &[OpOf<M>], part: &[u32], topics: &FxHashSet<u64>) -> View<M> {
        let about = |&op: &u32| Some((model.about(&ops[op as usize], &|topic| topics.contains(&topic))?, op));
        let (ops, positions) = part.iter().filter_map(about).unzip();
        View { ops, positions }
    }

    /// Whether it is certainly wrong as it stands: by a special checker, or by a search that ends soon.
    fn is_wrong(&self, model: &M, budget: &mut Budget) -> bool {
        if !budget.lay_out(self.ops.len()) {
            return false;
        }
        model.partition(&self.ops).iter().any(|part| {
            let own: Vec<OpOf<M>> = part.iter().map(|&op| self.ops[op as usize].clone()).collect();
            match model.shortcut(&own) {
                Some(Answer::Valid(_)) => false,
                Some(Answer::Invalid(_)) => true,
                _ => matches!(budget.attempt(model, &own), Some(Err(_))),
            }
        })
    }
}

/// The part as to the fewest topics as to which it is still wrong; those of `evidence` are likely to matter. `None` if
/// the part as a whole is too large to look at.
pub(super) fn narrowest<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    part: &[u32],
    evidence: &[u32],
    budget: &mut Budget,
) -> Option<View<M>> {
    budget.during = "it looked for what does not matter";
    if !budget.lay_out(part.len()) {
        return None;
    }
    let topics = topics(model, ops, part, evidence);
    if topics.len() > 1 {
        let view = |topics: &[u64]| View::of(model, ops, part, &topics.iter().copied().collect());
        let found = fewest(&topics, TOPICS_MAX, |topics| view(topics).is_wrong(model, budget));
        // Where all matter they were never asked about: some operations may be wrong only beside all others.
        if found.len() < topics.len() {
            return Some(view(&found));
        }
    }
    budget.lay_out(part.len()).then(|| View::whole(ops, part))
}

/// All topics: first those of the evidence, last operation first, then those that come up close to it.
fn topics<M: Model>(model: &M, ops: &[OpOf<M>], part: &[u32], evidence: &[u32]) -> Vec<u64> {
    let of = |op: &u32| model.topics(&ops[*op as usize].input, ops[*op as usize].output());
    let last = evidence.last().map_or(0, |op| ops[*op as usize].call);
    let mut others = part.to_vec();
    others.sort_by_key(|op| ops[*op as usize].call.abs_diff(last));
    let mut seen = FxHashSet::default();
    evidence.iter().rev().chain(&others).flat_map(of).filter(|topic| seen.insert(*topic)).collect()
}
