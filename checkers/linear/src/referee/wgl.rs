//! Wing's and Gong's search with Lowe's memory, as Porcupine does it.
//!
//! Sources: J. Wing and C. Gong, *Testing and verifying concurrent objects* (1993); G. Lowe, *Testing for
//! linearizability* (2017); A. Athalye, *Porcupine* (2017), for the record of partial linearizations.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::model::{Model, OpOf};

/// What the referee says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// Whether the history is linearizable.
    pub is_valid: bool,
    /// By operation: the longest order found in which it takes part, as positions in the history. Within one part.
    pub partial: Vec<Option<Rc<Vec<u32>>>>,
}

/// Judges a history by plain search: every operation that may come next is tried in order of invocation. Takes time and
/// memory with the square of the history's length, and exponentially with indeterminate operations.
pub fn referee<M: Model>(model: &M, ops: &[OpOf<M>]) -> Judged {
    let mut judged = Judged { is_valid: true, partial: vec![None; ops.len()] };
    for part in model.partition(ops) {
        judged.is_valid &= Wgl::new(model, ops, &part).run(&mut judged.partial, |_| true);
    }
    judged
}

/// By operation: the longest order in which it takes part, of those found while `go_on` says so; it is asked with every
/// state that is to be remembered.
pub(crate) fn partial_orders<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    mut go_on: impl FnMut(&M::State) -> bool,
) -> Vec<Option<Rc<Vec<u32>>>> {
    let mut partial = vec![None; ops.len()];
    for part in model.partition(ops) {
        Wgl::new(model, ops, &part).run(&mut partial, &mut go_on);
    }
    partial
}

/// Calls and returns in order of time, as a doubly linked list around entry 0; a call knows its return.
struct Wgl<'a, M: Model> {
    model: &'a M,
    ops: &'a [OpOf<M>],
    entries: Vec<Entry>,
    required: usize,
    seen: FxHashSet<(Vec<u64>, M::State)>,
    linearized: Vec<u64>,
    stack: Vec<(usize, M::State)>,
}

struct Entry {
    op: u32,
    kind: Kind,
    before: usize,
    after: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Call { bit: usize, returning: Option<usize> },
    Return,
}

impl<'a, M: Model> Wgl<'a, M> {
    fn new(model: &'a M, ops: &'a [OpOf<M>], part: &[u32]) -> Self {
        let mut events: Vec<(u64, bool, usize)> = Vec::new();
        for (bit, &op) in part.iter().enumerate() {
            let op = &ops[op as usize];
            events.push((op.call, false, bit));
            events.extend(op.returned.as_ref().map(|returned| (returned.at.max(op.call), true, bit)));
        }
        events.sort_unstable();
        let count = events.len();
        let mut entries =
            vec![Entry { op: u32::MAX, kind: Kind::Return, before: count, after: 1 % (count + 1) }];
        let mut call_of = vec![0; part.len()];
        for (at, &(_, is_return, bit)) in events.iter().enumerate() {
            let at = at + 1;
            let kind = if is_return { Kind::Return } else { Kind::Call { bit, returning: None } };
            entries.push(Entry { op: part[bit], kind, before: at - 1, after: (at + 1) % (count + 1) });
            if is_return {
                entries[call_of[bit]].kind = Kind::Call { bit, returning: Some(at) };
            } else {
                call_of[bit] = at;
            }
        }
        let required = part.iter().filter(|&&op| !ops[op as usize].is_info()).count();
        let linearized = vec![0; part.len().div_ceil(64)];
        Wgl { model, ops, entries, required, seen: FxHashSet::default(), linearized, stack: Vec::new() }
    }

    /// Whether there is an order; not, if it may not go on.
    fn run(mut self, partial: &mut [Option<Rc<Vec<u32>>>], mut go_on: impl FnMut(&M::State) -> bool) -> bool {
        let mut state = self.model.initial();
        let mut at = self.entries[0].after;
        while self.required > 0 {
            if let Kind::Call { bit, .. } = self.entries[at].kind {
                match self.linearize(at, bit, &state) {
                    Some(next) if !go_on(&next) => {
                        self.record(partial);
                        return false;
                    }
                    Some(next) => {
                        self.stack.push((at, std::mem::replace(&mut state, next)));
                        self.lift(at);
                        at = self.entries[0].after;
                    }
                    None => at = self.entries[at].after,
                }
                continue;
            }
            self.record(partial);
            let Some((call, before)) = self.stack.pop() else { return false };
            state = before;
            self.unlift(call);
            at = self.entries[call].after;
        }
        self.record(partial);
        true
    }

    /// The state after the call, if it may come next and leads to something new.
    fn linearize(&mut self, at: usize, bit: usize, state: &M::State) -> Option<M::State> {
        let op = &self.ops[self.entries[at].op as usize];
        let next = self.model.step(state, &op.input, op.output())?;
        let mut linearized = self.linearized.clone();
        linearized[bit / 64] |= 1 << (bit % 64);
        self.seen.insert((linearized, next.clone())).then_some(next)
    }

    fn lift(&mut self, call: usize) {
        let Kind::Call { bit, returning } = self.entries[call].kind else { return };
        self.linearized[bit / 64] |= 1 << (bit % 64);
        self.required -= usize::from(returning.is_some());
        for at in [Some(call), returning].into_iter().flatten() {
            let (before, after) = (self.entries[at].before, self.entries[at].after);
            self.entries[before].after = after;
            self.entries[after].before = before;
        }
    }

    fn unlift(&mut self, call: usize) {
        let Kind::Call { bit, returning } = self.entries[call].kind else { return };
        self.linearized[bit / 64] &= !(1 << (bit % 64));
        self.required += usize::from(returning.is_some());
        for at in [returning, Some(call)].into_iter().flatten() {
            let (before, after) = (self.entries[at].before, self.entries[at].after);
            self.entries[before].after = at;
            self.entries[after].before = at;
        }
    }

    /// Remembers the current order for each operation that had no longer one.
    fn record(&self, partial: &mut [Option<Rc<Vec<u32>>>]) {
        let mut order = None;
        for &(call, _) in &self.stack {
            let known = &mut partial[self.entries[call].op as usize];
            if known.as_ref().is_none_or(|known| known.len() < self.stack.len()) {
                let order = order.get_or_insert_with(|| {
                    Rc::new(self.stack.iter().map(|&(call, _)| self.entries[call].op).collect())
                });
                *known = Some(Rc::clone(order));
            }
        }
    }
}
