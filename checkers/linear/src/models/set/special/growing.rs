//! A set from which nothing is removed.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::{
    answer::Answer,
    model::OpOf,
    models::{
        Value,
        set::{Set, SetOutput},
        words,
    },
    special::sweep::{proved, valid},
};

use super::elements::{Bound, Elements, element};

/// Judges it, in O(n log n) and the size of what was read.
///
/// Of two reads the one with fewer elements must act first, so their order is known but for those that found the same.
/// A read acts after what it found can have come and before what it lacks must have come. The history is linearizable
/// exactly if instants in that order can be chosen within these bounds, each the earliest possible: every element can
/// then come between the last read that lacks it and the first that has it, or at the end of its own bounds if that is
/// earlier, independent of the others.
pub(super) fn judge<V: Value>(ops: &[OpOf<Set<V>>], elements: &Elements<'_, V>) -> Answer {
    let levels = match Levels::new(ops, elements) {
        Ok(levels) => levels,
        Err(answer) => return answer,
    };
    let mut last = Point { bound: Bound::BEGINNING, read: None };
    for (level, reads) in levels.reads.iter().enumerate() {
        let mut latest = last;
        for &read in reads {
            let op = &ops[read as usize];
            let called = Bound { at: op.call, op: Some(read) };
            let own = Point { bound: called.later(levels.from[level]), read: Some(read) };
            let point = if own.bound.at > last.bound.at { own } else { last };
            let end = Bound { at: op.deadline(), op: Some(read) }.earlier(levels.to[level]);
            if point.bound.at > end.at {
                return refute(ops, read, point, end);
            }
            if point.bound.at > latest.bound.at {
                latest = point;
            }
        }
        last = latest;
    }
    valid()
}

/// The earliest instant at which a read can act, and why.
#[derive(Clone, Copy)]
struct Point {
    bound: Bound,
    /// The read that makes it so.
    read: Option<u32>,
}

fn refute<V: Value>(ops: &[OpOf<Set<V>>], read: u32, point: Point, end: Bound) -> Answer {
    let is_own = point.read == Some(read);
    let (first, last) = (element(ops, point.bound), element(ops, end));
    let reason = match (is_own, point.bound.op == Some(read), end.op == Some(read)) {
        (true, false, true) => format!("it has {first}, which was added later"),
        (true, true, false) => format!("it lacks {last}, which was there before it began"),
        (true, ..) => format!("it lacks {last}, which was there before {first}, which it has"),
        (false, ..) => "it has more elements than a read which must come later".to_string(),
    };
    proved(read, [point.read, point.bound.op, end.op].into_iter().flatten(), &reason)
}

/// The first of the elements that the others lack, in words.
fn other<V: Value>(elements: &BTreeSet<V>, others: &BTreeSet<V>) -> String {
    elements.difference(others).next().map_or_else(|| "nothing".to_string(), words::value)
}

/// Reads by what they found, from the fewest elements to the most.
struct Levels {
    reads: Vec<Vec<u32>>,
    /// By level: what was found cannot have come earlier.
    from: Vec<Bound>,
    /// What is lacking must have come then.
    to: Vec<Bound>,
}

impl Levels {
    /// `Err` if of two reads each has what the other lacks.
    fn new<V: Value>(ops: &[OpOf<Set<V>>], elements: &Elements<'_, V>) -> Result<Levels, Answer> {
        let found = |read: u32| match ops[read as usize].output() {
            Some(SetOutput::Elements(found)) => found,
            _ => unreachable!("reads of all elements were asked for"),
        };
        let mut reads = elements.reads.clone();
        reads.sort_by_key(|&read| (found(read).len(), ops[read as usize].deadline()));
        let mut levels = Levels { reads: Vec::new(), from: Vec::new(), to: Vec::new() };
        let mut level_of: FxHashMap<&V, usize> = FxHashMap::default();
        for read in reads {
            let last = levels.reads.last().and_then(|reads| reads.first().copied());
            if let Some(last) = last {
                if found(last) == found(read) {
                    levels.reads.last_mut().expect("there is a last one").push(read);
                    continue;
                }
                if !found(last).is_subset(found(read)) {
                    let reason = format!(
                        "it lacks {}, which another read has, and has {}, which that one lacks",
                        other(found(last), found(read)),
                        other(found(read), found(last))
                    );
                    return Err(proved(read, [last], &reason));
                }
            }
            for value in found(read) {
                level_of.entry(value).or_insert(levels.reads.len());
            }
            levels.reads.push(vec![read]);
        }
        levels.bound(elements, &level_of);
        Ok(levels)
    }

    fn bound<V: Value>(&mut self, elements: &Elements<'_, V>, level_of: &FxHashMap<&V, usize>) {
        let count = self.reads.len();
        self.from = vec![Bound::BEGINNING; count];
        self.to = vec![Bound::END; count];
        for (value, coming) in &elements.coming {
            let level = level_of.get(value).copied().unwrap_or(count);
            if let Some(from) = self.from.get_mut(level) {
                *from = from.later(coming.from);
            }
            if coming.is_certain() && level > 0 && count > 0 {
                self.to[level - 1] = self.to[level - 1].earlier(coming.to);
            }
        }
        for level in 1..count {
            self.from[level] = self.from[level].later(self.from[level - 1]);
            self.to[count - 1 - level] = self.to[count - 1 - level].earlier(self.to[count - level]);
        }
    }
}
