//! A part of a history as the small search sees it: operations have numbers, and what is under way is a set.

use crate::model::{Lookahead, Model, OpOf, Placed, Timeline};

use super::{bits::Bits, timeline::insert};

pub(super) struct Layout<const W: usize> {
    /// By number: position in the history, with the time of return or invocation.
    pub ops: Vec<(u64, u32)>,
    /// By event, a return: what was invoked before it.
    pub invoked: Vec<Bits<W>>,
    /// What returned at all.
    pub determinate: Bits<W>,
    /// What only observes.
    pub observing: Bits<W>,
}

impl<const W: usize> Layout<W> {
    pub fn new<M: Model>(model: &M, ops: &[OpOf<M>], part: &[u32]) -> Self {
        let mut numbered = Vec::with_capacity(part.len());
        let mut optional = Vec::new();
        for &position in part {
            let op = &ops[position as usize];
            match &op.returned {
                Some(returned) => insert(&mut numbered, (returned.at.max(op.call), position)),
                None if model.observes(&op.input, None) => {}
                None => insert(&mut optional, (op.call, position)),
            }
        }
        let events = numbered.len();
        let mut calls = Vec::with_capacity(events);
        let mut layout = Layout {
            ops: numbered,
            invoked: Vec::with_capacity(events),
            determinate: Bits::EMPTY,
            observing: Bits::EMPTY,
        };
        for (number, &(_, position)) in (0..).zip(&layout.ops) {
            let op = &ops[position as usize];
            insert(&mut calls, (op.call, number));
            layout.determinate = layout.determinate.with(number);
            if model.observes(&op.input, op.output()) {
                layout.observing = layout.observing.with(number);
            }
        }
        let optional = by_class(&optional, |a, b| ops[a as usize].input == ops[b as usize].input);
        layout.invoke(&calls, &optional);
        layout.ops.extend(optional);
        layout
    }

    fn invoke(&mut self, calls: &[(u64, u32)], optional: &[(u64, u32)]) {
        let events = self.ops.len() as u32;
        let mut by_call = Vec::with_capacity(optional.len());
        for (number, &(call, _)) in (events..).zip(optional) {
            insert(&mut by_call, (call, number));
        }
        let mut invoked = Bits::EMPTY;
        let (mut next, mut next_optional) = (0, 0);
        for &(at, _) in &self.ops {
            while next < calls.len() && calls[next].0 <= at {
                invoked = invoked.with(calls[next].1);
                next += 1;
            }
            while next_optional < by_call.len() && by_call[next_optional].0 <= at {
                invoked = invoked.with(by_call[next_optional].1);
                next_optional += 1;
            }
            self.invoked.push(invoked);
        }
    }

    pub fn lookahead<M: Model>(
        &self,
        model: &M,
        ops: &[OpOf<M>],
    ) -> Option<Box<dyn Lookahead<M::State> + Send>> {
        let events = self.invoked.len();
        let mut since = vec![u32::MAX; self.ops.len()];
        let mut known = Bits::EMPTY;
        for (event, &invoked) in (0..).zip(&self.invoked) {
            invoked.minus(known).iter().for_each(|op| since[op as usize] = event);
            known = invoked;
        }
        let placed = |number: usize| Placed {
            op: &ops[self.ops[number].1 as usize],
            since: since[number],
            until: if number < events { number as u32 } else { u32::MAX },
        };
        let is_invoked = |number: &usize| known.has(*number as u32);
        model.lookahead(&Timeline {
            returned: (0..events).map(placed).collect(),
            optional: (events..self.ops.len()).filter(is_invoked).map(placed).collect(),
        })
    }
}

/// Those with the same input side by side, each in order, where the first of them was: what helped once is used again
/// before what was not tried yet.
fn by_class(optional: &[(u64, u32)], is_same: impl Fn(u32, u32) -> bool) -> Vec<(u64, u32)> {
    let first = |at: usize| (0..at).find(|&other| is_same(optional[other].1, optional[at].1)).unwrap_or(at);
    let mut classes: Vec<(u64, u32)> = Vec::with_capacity(optional.len());
    for at in 0..optional.len() {
        insert(&mut classes, (first(at) as u64, at as u32));
    }
    classes.into_iter().map(|(_, at)| optional[at as usize]).collect()
}
