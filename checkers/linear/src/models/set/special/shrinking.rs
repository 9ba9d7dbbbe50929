//! A set from which some elements are removed.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    answer::{Answer, Refutation},
    engine::attempt,
    limits::{Guard, Limits},
    model::OpOf,
    models::{
        Value,
        set::{Set, SetInput, SetOutput},
        words,
    },
    op::Op,
    special::sweep::{proved, valid},
};

use super::elements::{Bound, Elements, element};

/// Elements times reads that are looked at.
const WORK_MAX: usize = 1 << 22;
/// Nodes of one search.
const NODES_MAX: u64 = 1 << 14;
/// Bytes that it may remember.
const BYTES_MAX: usize = 64 << 20;

/// Judges it, or leaves it to the search.
///
/// A read of the whole set is one of each element, at one instant for all. So each element's own operations with these
/// reads must be linearizable: that refutes. The history is linearizable if each is with the reads at instants that are
/// given, since elements have nothing but these instants in common: that proves, for a few choices of instants. What is
/// left is searched for, with one element for all those that come between the same reads.
pub(super) fn judge<V: Value>(
    ops: &[OpOf<Set<V>>],
    elements: &Elements<'_, V>,
    removed: &FxHashSet<&V>,
) -> Option<Answer> {
    if (elements.coming.len() + removed.len()).saturating_mul(elements.reads.len()) > WORK_MAX {
        return None;
    }
    let reads = match Read::all(ops, elements) {
        Ok(reads) => reads,
        Err(answer) => return Some(answer),
    };
    let mut apart = Apart::new(ops, &reads, removed);
    match apart.judge(&reads) {
        Some(Answer::Invalid(refutation)) => return Some(with_bounds(refutation, &reads)),
        Some(_) => {}
        None => return None,
    }
    apart.represent(&reads, elements);
    let ends: [fn(&Read<'_, V>) -> u64; 3] =
        [|read| read.to.at, |read| read.from.at, |read| read.from.at.midpoint(read.to.at)];
    for instant in ends {
        let reads: Vec<Read<'_, V>> = reads.iter().map(|read| read.at(instant(read))).collect();
        let instants: FxHashSet<u64> = reads.iter().map(|read| read.from.at).collect();
        if instants.len() == reads.len() && matches!(apart.judge(&reads), Some(Answer::Valid(_))) {
            return Some(valid());
        }
    }
    match apart.together(&reads) {
        Some(Answer::Invalid(refutation)) => Some(with_bounds(refutation, &reads)),
        answer => answer,
    }
}

/// Adds to the evidence what bounds the reads in it.
fn with_bounds<V>(mut refutation: Box<Refutation>, reads: &[Read<'_, V>]) -> Answer {
    let evidence: FxHashSet<u32> = refutation.with.iter().chain([&refutation.op]).copied().collect();
    let bounding = reads.iter().filter(|read| evidence.contains(&read.op));
    refutation.with.extend(bounding.flat_map(|read| [read.from.op, read.to.op]).flatten());
    let mut seen = FxHashSet::from_iter([refutation.op]);
    refutation.with.retain(|&op| seen.insert(op));
    Answer::Invalid(refutation)
}

/// A read of the whole set, with bounds on its instant.
struct Read<'a, V> {
    op: u32,
    process: u32,
    found: &'a BTreeSet<V>,
    from: Bound,
    to: Bound,
}

impl<'a, V: Value> Read<'a, V> {
    /// The reads, each after what it found can have come and before what it lacks must have come, of what is never
    /// removed. `Err` if one has no instant.
    fn all(ops: &'a [OpOf<Set<V>>], elements: &Elements<'_, V>) -> Result<Vec<Self>, Answer> {
        let mut reads = Vec::new();
        for &position in &elements.reads {
            let op = &ops[position as usize];
            let Some(SetOutput::Elements(found)) = op.output() else { continue };
            let mut from = Bound { at: op.call, op: Some(position) };
            let mut to = Bound { at: op.deadline(), op: Some(position) };
            for (value, coming) in &elements.coming {
                match found.contains(value) {
                    true => from = from.later(coming.from),
                    false if coming.is_certain() => to = to.earlier(coming.to),
                    false => {}
                }
            }
            if from.at > to.at {
                let with = [from.op, to.op].into_iter().flatten();
                let reason = match to.op == Some(position) {
                    true => format!("it has {}, which was added later", element(ops, from)),
                    false => format!("it lacks {}, which was there and never removed", element(ops, to)),
                };
                return Err(proved(position, with, &reason));
            }
            reads.push(Read { op: position, process: op.process, found, from, to });
        }
        Ok(reads)
    }

    /// The same at one instant.
    fn at(&self, instant: u64) -> Read<'a, V> {
        let bound = Bound { at: instant, op: None };
        Read { from: bound, to: bound, ..*self }
    }

    fn as_op(&self, input: SetInput<V>, output: SetOutput<V>) -> OpOf<Set<V>> {
        Op::ok(self.process, self.from.at, self.to.at, input, output)
    }
}

/// Elements with their own operations.
struct Apart<'a, V: Value> {
    ops: &'a [OpOf<Set<V>>],
    own: FxHashMap<&'a V, Vec<u32>>,
    /// Those that stand for all that come between the same reads, and may come at any time.
    representatives: Vec<&'a V>,
}

impl<'a, V: Value> Apart<'a, V> {
    fn new(ops: &'a [OpOf<Set<V>>], reads: &[Read<'a, V>], removed: &FxHashSet<&V>) -> Self {
        let mut own: FxHashMap<&V, Vec<u32>> = FxHashMap::default();
        for (position, op) in (0..).zip(ops) {
            if let SetInput::Add(value) | SetInput::Remove(value) | SetInput::Contains(value) = &op.input
                && removed.contains(value)
            {
                own.entry(value).or_default().push(position);
            }
        }
        for value in reads.iter().flat_map(|read| read.found).filter(|value| removed.contains(value)) {
            own.entry(value).or_default();
        }
        Apart { ops, own, representatives: Vec::new() }
    }

    /// Chooses representatives of the elements that are never removed.
    fn represent(&mut self, reads: &[Read<'a, V>], elements: &Elements<'_, V>) {
        let mut found_by: FxHashMap<&V, Vec<u32>> = FxHashMap::default();
        for (number, read) in (0..).zip(reads) {
            for value in read.found.iter().filter(|value| elements.coming.contains_key(value)) {
                found_by.entry(value).or_default().push(number);
            }
        }
        let mut seen = FxHashSet::default();
        let mut found_by: Vec<(&V, Vec<u32>)> = found_by.into_iter().collect();
        found_by.sort_unstable();
        found_by.retain(|(_, reads)| seen.insert(reads.clone()));
        self.representatives = found_by.into_iter().map(|(value, _)| value).collect();
    }

    /// Judges each element by itself; `None` if a search within the bound cannot tell.
    fn judge(&self, reads: &[Read<'a, V>]) -> Option<Answer> {
        let mut answer = Some(valid());
        for (value, own) in &self.own {
            let own: Vec<(u32, OpOf<Set<V>>)> =
                own.iter().map(|&op| (op, self.ops[op as usize].clone())).collect();
            match self.element(value, own, reads) {
                Some(Answer::Valid(_)) => {}
                Some(wrong) => return Some(wrong),
                None => answer = None,
            }
        }
        for value in &self.representatives {
            let own = vec![(u32::MAX, Op::info(u32::MAX, 0, SetInput::Add((*value).clone())))];
            match self.element(value, own, reads) {
                Some(Answer::Valid(_)) => {}
                other => return other,
            }
        }
        answer
    }

    fn element(&self, value: &V, mut own: Vec<(u32, OpOf<Set<V>>)>, reads: &[Read<'a, V>]) -> Option<Answer> {
        own.extend(reads.iter().map(|read| {
            let is_found = SetOutput::Is(read.found.contains(value));
            (read.op, read.as_op(SetInput::Contains(value.clone()), is_found))
        }));
        let value = words::value(value);
        search(&own, &format!("the reads do not fit the additions and removals of {value}"))
    }

    /// Searches for an order of the reads and of all elements' operations.
    fn together(&self, reads: &[Read<'a, V>]) -> Option<Answer> {
        let mut all: Vec<(u32, OpOf<Set<V>>)> = Vec::new();
        all.extend(self.own.values().flatten().map(|&op| (op, self.ops[op as usize].clone())));
        all.extend(
            self.representatives
                .iter()
                .map(|value| (u32::MAX, Op::info(u32::MAX, 0, SetInput::Add((*value).clone())))),
        );
        let known: FxHashSet<&V> = self.own.keys().chain(&self.representatives).copied().collect();
        all.extend(reads.iter().map(|read| {
            let found = read.found.iter().filter(|value| known.contains(value)).cloned().collect();
            (read.op, read.as_op(SetInput::Read, SetOutput::Elements(found)))
        }));
        search(&all, "the reads fit each element, but not all of them in one order")
    }
}

/// Searches within the bound; operations come with their positions.
fn search<V: Value>(ops: &[(u32, OpOf<Set<V>>)], reason: &str) -> Option<Answer> {
    let (positions, ops): (Vec<u32>, Vec<OpOf<Set<V>>>) = ops.iter().cloned().unzip();
    let limits = Limits { memory_bytes: Some(BYTES_MAX), ..Limits::default() };
    let found = attempt(&Set::empty(), &ops, NODES_MAX, &Guard::new(&limits)).0?;
    let Err(last) = found else { return Some(valid()) };
    let end = ops[last as usize].deadline();
    let is_evidence = |op: &OpOf<Set<V>>| !op.is_info() && op.call <= end;
    let with = positions.iter().zip(&ops).filter(|(_, op)| is_evidence(op)).map(|(&position, _)| position);
    Some(proved(positions[last as usize], with, reason))
}
