//! A first glance at a part of a history: one order, without second thoughts. It decides most histories that are valid
//! before anything is laid out for a search, and no other.

use crate::{
    limits::Guard,
    model::{Model, OpOf},
};

use super::timeline::{EventsOf, RETURN};

/// Looks at the guard once in so many events.
const EVENTS_A_LOOK: usize = 1024;
/// Where a state holds memory of its own, each step copies it; a search does so once a state. Up to so many operations it
/// is worth the try.
const COPIED_MAX: usize = 128;
/// In what is pending: it only observes.
const OBSERVES: u32 = RETURN;

pub(super) enum Glance {
    /// An order that the model permits.
    Valid(Vec<u32>),
    /// This order came to an end; others may go on.
    Stuck,
    /// The guard said stop.
    Stopped,
}

/// Operations act when they must return, observations as soon as they can. What cannot act then may do so after one
/// other that is under way.
pub(super) fn glance<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    part: &[u32],
    events: &EventsOf,
    guard: &Guard,
) -> Glance {
    if std::mem::needs_drop::<M::State>() && part.len() > COPIED_MAX {
        return Glance::Stuck;
    }
    let mut walk = Walk {
        model,
        ops,
        part,
        state: model.initial(),
        pending: Vec::with_capacity(16),
        spare: Vec::new(),
        order: Vec::with_capacity(part.len()),
    };
    for (passed, &(_, event)) in events.iter().enumerate() {
        if passed % EVENTS_A_LOOK == EVENTS_A_LOOK - 1 && !guard.go_on() {
            return Glance::Stopped;
        }
        if event & RETURN == 0 {
            walk.begin(event);
        } else if !walk.end(event & !RETURN) {
            return Glance::Stuck;
        }
    }
    Glance::Valid(walk.order)
}

struct Walk<'a, M: Model> {
    model: &'a M,
    ops: &'a [OpOf<M>],
    part: &'a [u32],
    state: M::State,
    /// Under way and not taken: positions in the part, those that only observe marked.
    pending: Vec<u32>,
    /// Indeterminate and not taken.
    spare: Vec<u32>,
    /// Taken, as positions in the history.
    order: Vec<u32>,
}

impl<M: Model> Walk<'_, M> {
    fn begin(&mut self, index: u32) {
        let op = &self.ops[self.part[index as usize] as usize];
        if op.is_info() {
            self.spare.push(index);
        } else if !self.model.observes(&op.input, op.output()) {
            self.pending.push(index);
        } else if let Some(next) = self.step(&self.state, index) {
            debug_assert!(next == self.state, "what only observes changes no state in which it is possible");
            self.order.push(self.part[index as usize]);
        } else {
            self.pending.push(index | OBSERVES);
        }
    }

    /// Whether the operation has acted by now, or can.
    fn end(&mut self, index: u32) -> bool {
        let Some(at) = self.pending.iter().rposition(|&pending| pending & !OBSERVES == index) else {
            return true;
        };
        if let Some(next) = self.step(&self.state, index) {
            self.pending.remove(at);
            self.take(index, next);
            return true;
        }
        let others = self.pending.iter().filter(|&&other| other & OBSERVES == 0 && other != index);
        let helper = others.chain(&self.spare).find_map(|&other| {
            let between = self.step(&self.state, other)?;
            self.step(&between, index)?;
            Some((other, between))
        });
        let Some((other, between)) = helper else { return false };
        self.pending.retain(|&pending| pending != other);
        self.spare.retain(|&spare| spare != other);
        self.take(other, between);
        self.end(index)
    }

    fn take(&mut self, index: u32, next: M::State) {
        self.order.push(self.part[index as usize]);
        if next == self.state {
            return;
        }
        self.state = next;
        let mut kept = 0;
        for at in 0..self.pending.len() {
            let pending = self.pending[at];
            if pending & OBSERVES != 0 && self.step(&self.state, pending & !OBSERVES).is_some() {
                self.order.push(self.part[(pending & !OBSERVES) as usize]);
            } else {
                self.pending[kept] = pending;
                kept += 1;
            }
        }
        self.pending.truncate(kept);
    }

    fn step(&self, state: &M::State, index: u32) -> Option<M::State> {
        let op = &self.ops[self.part[index as usize] as usize];
        self.model.step(state, &op.input, op.output())
    }
}
