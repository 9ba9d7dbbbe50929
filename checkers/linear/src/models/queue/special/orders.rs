//! A search for the order in which equal elements came and left, where guesses fail.

use rustc_hash::FxHashSet;

use crate::{
    model::OpOf,
    models::{Value, queue::FifoQueue},
};

use super::{
    life::{Life, Span},
    slots::Uses,
};

/// States that are looked at, of less than 200 bytes each.
const STATES_MAX: usize = 1 << 16;

/// What the search found.
pub(super) enum Found {
    /// The elements, in an order that works.
    Order(Vec<Life>),
    /// No order works. This is the earliest return among the dequeues that the longest attempt could not place.
    Nothing { op: u32 },
    /// It would take too many states, or too many at once.
    Nobody,
}

/// Looks for an order, exactly.
///
/// The k-th element to leave is the k-th that came. So the two orders are built side by side, one element at a time: an
/// enqueue and a dequeue of the same value, each with all those before it that had returned when it was invoked, and the
/// enqueue not invoked after the dequeue's return. What has been taken of either side is all that counts from there: it is
/// the state, instead of what is in the queue. No element so ordered overtakes another, and that is all there is to a
/// queue that is never called empty (see [`super::lives::wrong`]). It is empty after some step, in the time of the
/// operation that says so, if then no later element certainly came before an earlier one left; this is passed as soon as
/// it can be, which is in no other's way. Each kind of indeterminate operations is taken in order of invocation: they
/// never end, so the earlier one can stand for the later one.
pub(super) fn find<V: Value>(
    ops: &[OpOf<FifoQueue<V>>],
    uses: &[Uses],
    unclear: &[u32],
    empties: &[u32],
) -> Found {
    let Some(sides) = Sides::of(ops, uses, unclear, empties) else { return Found::Nobody };
    let mut start = State::default();
    sides.pass_empties(&mut start);
    let mut steps = vec![Step { state: start, before: 0, enqueue: 0, dequeue: 0 }];
    let (mut seen, mut open) = (FxHashSet::from_iter([start]), vec![0]);
    let (mut furthest, mut best) = (0, start);
    while let Some(at) = open.pop() {
        let state = steps[at as usize].state;
        if sides.is_over(&state) {
            return Found::Order(sides.lives(ops, &steps, at));
        }
        if sides.placed(&state) > furthest {
            (furthest, best) = (sides.placed(&state), state);
        }
        let Some(next) = sides.next(&state) else { return Found::Nobody };
        // The likeliest is pushed last, and so looked at first.
        for (state, enqueue, dequeue) in next.into_iter().rev().filter(|next| seen.insert(next.0)) {
            open.push(steps.len() as u32);
            steps.push(Step { state, before: at, enqueue, dequeue });
        }
        if steps.len() > STATES_MAX {
            return Found::Nobody;
        }
    }
    Found::Nothing { op: sides.missing(&best) }
}

/// How a state was reached first.
struct Step {
    state: State,
    before: u32,
    enqueue: u32,
    dequeue: u32,
}

/// How much was taken of everything.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct State {
    enqueues: Taken,
    dequeues: Taken,
    empties: Taken,
    /// Indeterminate enqueues, as bits.
    spare: u128,
    /// How many of the indeterminate dequeues.
    unclear: u32,
}

/// Which of the operations of a [`Side`] were taken.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Taken {
    /// All before this one, which was not.
    first: u32,
    /// Those after it, as bits: the lowest is for the one right after.
    later: u64,
}

impl Taken {
    fn has(&self, index: usize) -> bool {
        let first = self.first as usize;
        index < first || (index > first && index - first <= 64 && self.later >> (index - first - 1) & 1 == 1)
    }

    /// `None` if there is no bit for it.
    fn with(mut self, index: usize) -> Option<Taken> {
        let distance = index - self.first as usize;
        if distance > 0 {
            self.later |= 1u64.checked_shl(distance as u32 - 1)?;
            return Some(self);
        }
        let run = self.later.trailing_ones();
        self.first += run + 1;
        self.later = self.later.checked_shr(run + 1).unwrap_or(0);
        Some(self)
    }

    /// The last that was taken.
    fn last(&self) -> Option<usize> {
        let after = (u64::BITS - self.later.leading_zeros()) as usize;
        let end = if after > 0 { self.first as usize + after + 1 } else { self.first as usize };
        end.checked_sub(1)
    }

    fn count(&self) -> u32 {
        self.first + self.later.count_ones()
    }
}

/// Determinate operations of one kind, by invocation.
struct Side(Vec<Item>);

#[derive(Clone, Copy)]
struct Item {
    op: u32,
    value: usize,
    call: u64,
    at: u64,
}

impl Side {
    fn of<V: Value>(ops: &[OpOf<FifoQueue<V>>], items: impl Iterator<Item = (usize, u32)>) -> Side {
        let item = |(value, op): (usize, u32)| Item {
            op,
            value,
            call: ops[op as usize].call,
            at: ops[op as usize].deadline(),
        };
        let mut items: Vec<Item> = items.map(item).collect();
        items.sort_by_key(|item| (item.call, item.op));
        Side(items)
    }

    /// Those that can be next, by position, and the earliest return of all that were not taken.
    fn open(&self, taken: &Taken) -> (Vec<usize>, u64) {
        let (mut open, mut first_return) = (Vec::new(), u64::MAX);
        for (index, item) in self.0.iter().enumerate().skip(taken.first as usize) {
            if item.call > first_return {
                break;
            }
            if !taken.has(index) {
                open.push(index);
                first_return = first_return.min(item.at);
            }
        }
        (open, first_return)
    }

    /// The latest invocation of those that were taken.
    fn last_call(&self, taken: &Taken) -> u64 {
        taken.last().map_or(0, |last| self.0[last].call)
    }
}

struct Sides {
    enqueues: Side,
    dequeues: Side,
    empties: Side,
    /// Indeterminate enqueues.
    spare: Side,
    /// Indeterminate dequeues.
    unclear: Side,
}

impl Sides {
    /// `None` if there are more indeterminate enqueues than bits.
    fn of<V: Value>(
        ops: &[OpOf<FifoQueue<V>>],
        uses: &[Uses],
        unclear: &[u32],
        empties: &[u32],
    ) -> Option<Sides> {
        let enqueues = || {
            let all = uses.iter().enumerate();
            all.flat_map(|(value, uses)| uses.enqueues.iter().map(move |&op| (value, op)))
        };
        let is_info = |op: u32| ops[op as usize].is_info();
        let dequeues = uses.iter().enumerate();
        let dequeues = dequeues.flat_map(|(value, uses)| uses.dequeues.iter().map(move |&op| (value, op)));
        let without = |side: &[u32]| Side::of(ops, side.iter().map(|&op| (usize::MAX, op)));
        let sides = Sides {
            enqueues: Side::of(ops, enqueues().filter(|&(_, op)| !is_info(op))),
            dequeues: Side::of(ops, dequeues),
            empties: without(empties),
            spare: Side::of(ops, enqueues().filter(|&(_, op)| is_info(op))),
            unclear: without(unclear),
        };
        (sides.spare.0.len() <= u128::BITS as usize).then_some(sides)
    }

    fn is_over(&self, state: &State) -> bool {
        self.placed(state) as usize == self.dequeues.0.len() + self.empties.0.len()
    }

    fn placed(&self, state: &State) -> u32 {
        state.dequeues.count() + state.empties.count()
    }

    /// The states after one more element, the likeliest first, each with that element's operations. `None` if one cannot
    /// be written down.
    fn next(&self, state: &State) -> Option<Vec<(State, u32, u32)>> {
        let mut next = Vec::new();
        let (_, empty_until) = self.empties.open(&state.empties);
        let enqueues = self.enqueues(state)?;
        for (dequeue, dequeues, unclear) in self.dequeues(state)? {
            for &(enqueue, enqueues, spare) in &enqueues {
                let is_same = dequeue.value == usize::MAX || dequeue.value == enqueue.value;
                let is_in_time = enqueue.call <= dequeue.at && enqueue.call.max(dequeue.call) <= empty_until;
                if is_same && is_in_time {
                    let mut state = State { enqueues, dequeues, spare, unclear, ..*state };
                    self.pass_empties(&mut state);
                    next.push((dequeue.at.max(enqueue.at), enqueue.at, (state, enqueue.op, dequeue.op)));
                }
            }
        }
        next.sort_by_key(|(last, enqueue, _)| (*last, *enqueue));
        Some(next.into_iter().map(|(_, _, next)| next).collect())
    }

    /// The enqueues that can be next, and what is taken then; of indeterminate ones of a value the first.
    fn enqueues(&self, state: &State) -> Option<Vec<(Item, Taken, u128)>> {
        let (open, first_return) = self.enqueues.open(&state.enqueues);
        let mut all = Vec::with_capacity(open.len());
        for index in open {
            all.push((self.enqueues.0[index], state.enqueues.with(index)?, state.spare));
        }
        let certain = all.len();
        for (index, item) in self.spare.0.iter().enumerate().take_while(|(_, item)| item.call <= first_return)
        {
            let is_first = all[certain..].iter().all(|(other, ..)| other.value != item.value);
            if is_first && state.spare >> index & 1 == 0 {
                all.push((*item, state.enqueues, state.spare | 1 << index));
            }
        }
        Some(all)
    }

    /// The dequeues that can be next, and what is taken then.
    fn dequeues(&self, state: &State) -> Option<Vec<(Item, Taken, u32)>> {
        let (open, first_return) = self.dequeues.open(&state.dequeues);
        let mut all = Vec::with_capacity(open.len() + 1);
        for index in open {
            all.push((self.dequeues.0[index], state.dequeues.with(index)?, state.unclear));
        }
        let unclear = self.unclear.0.get(state.unclear as usize);
        if let Some(item) = unclear.filter(|item| item.call <= first_return) {
            all.push((*item, state.dequeues, state.unclear + 1));
        }
        Some(all)
    }

    /// Takes the operations that say that the queue is empty, as far as it can be.
    fn pass_empties(&self, state: &mut State) {
        if self.empties.0.len() == state.empties.first as usize {
            return;
        }
        let (_, next_came) = self.enqueues.open(&state.enqueues);
        let (_, next_left) = self.dequeues.open(&state.dequeues);
        let unclear = state.unclear.checked_sub(1).map_or(0, |last| self.unclear.0[last as usize].call);
        let last_left = self.dequeues.last_call(&state.dequeues).max(unclear);
        let spare = state.spare.checked_ilog2().map_or(0, |last| self.spare.0[last as usize].call);
        let last_came = self.enqueues.last_call(&state.enqueues).max(spare);
        let is_empty = |item: &Item| {
            item.call <= next_came.min(next_left)
                && last_came.max(last_left) <= item.at
                && last_left <= next_came
        };
        loop {
            let (open, _) = self.empties.open(&state.empties);
            let passed = open.into_iter().find(|&index| is_empty(&self.empties.0[index]));
            let Some(taken) = passed.and_then(|index| state.empties.with(index)) else { return };
            state.empties = taken;
        }
    }

    /// The elements of the attempt that ends at this step; those that nothing took stay.
    fn lives<V: Value>(&self, ops: &[OpOf<FifoQueue<V>>], steps: &[Step], last: u32) -> Vec<Life> {
        let life = |enqueue: u32, dequeue: Option<u32>| Life {
            value: 0,
            rank: 0,
            enqueue: Span::of(ops, enqueue),
            dequeue: dequeue.map(|dequeue| Span::of(ops, dequeue)),
        };
        let end = steps[last as usize].state.enqueues;
        let staying = (0..self.enqueues.0.len()).filter(|&index| !end.has(index));
        let mut lives: Vec<Life> = staying.map(|index| life(self.enqueues.0[index].op, None)).collect();
        let mut at = last;
        while at > 0 {
            let Step { before, enqueue, dequeue, .. } = steps[at as usize];
            lives.push(life(enqueue, Some(dequeue)));
            at = before;
        }
        lives
    }

    fn missing(&self, state: &State) -> u32 {
        let left = |side: &Side, taken: &Taken| {
            let left = side.0.iter().enumerate().filter(|(index, _)| !taken.has(*index));
            left.map(|(_, item)| (item.at, item.op)).min()
        };
        let [dequeue, empty] = [left(&self.dequeues, &state.dequeues), left(&self.empties, &state.empties)];
        dequeue.into_iter().chain(empty).min().map_or(0, |(_, op)| op)
    }
}
