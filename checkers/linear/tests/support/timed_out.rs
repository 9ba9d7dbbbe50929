//! Long histories of which much timed out, as a service may have left them.

use std::collections::{BTreeSet, VecDeque};

use linear::{
    model::OpOf,
    models::{
        Counter, FifoQueue, Register, Semaphore, Set,
        counter::{CounterInput, CounterOutput},
        queue::{QueueInput, QueueOutput},
        register::{RegisterInput, RegisterOutput},
        semaphore::{SemaphoreAction, SemaphoreInput, SemaphoreOutput},
        set::{SetInput, SetOutput},
    },
    op::Op,
};

use super::random::Random;

/// What one operation is to be.
struct Slot {
    client: u32,
    call: u64,
    at: u64,
    /// Whether nobody learns how it ended.
    is_lost: bool,
}

impl Slot {
    fn op<I, O>(&self, input: I, output: O) -> Op<I, O> {
        match self.is_lost {
            true => Op::info(self.client, self.call, input),
            false => Op::ok(self.client, self.call, self.at, input, output),
        }
    }
}

/// Slots of `clients` clients in the order in which they act, each within its own time; about so many in a thousand are
/// lost, and half of those never act.
fn slots(count: usize, clients: u32, lost_per_mille: u64, random: &mut Random) -> Vec<(Slot, bool)> {
    let mut clocks: Vec<u64> = (0..clients.into()).map(|client| client + 1).collect();
    let mut slots: Vec<(u64, Slot, bool)> = (0..count)
        .map(|_| {
            let client = random.below(clients.into()) as usize;
            // Times of different clients differ.
            let step = |bound: u64, random: &mut Random| (1 + random.below(bound)) * u64::from(clients);
            let call = clocks[client] + step(3, random);
            let at = call + step(20, random);
            let is_lost = random.below(1000) < lost_per_mille;
            let acts = !is_lost || random.one_in(2);
            clocks[client] = at;
            let point = call + random.below(at - call + 1);
            (point, Slot { client: client as u32, call, at, is_lost }, acts)
        })
        .collect();
    slots.sort_by_key(|(point, slot, _)| (*point, slot.client));
    slots.into_iter().map(|(_, slot, acts)| (slot, acts)).collect()
}

/// A time when everything was invoked, and returned if it does.
fn end<I, O>(ops: &[Op<I, O>]) -> u64 {
    ops.iter().map(|op| if op.is_info() { op.call } else { op.deadline() }).max().unwrap_or(0)
}

fn in_order<I, O>(mut ops: Vec<Op<I, O>>) -> Vec<Op<I, O>> {
    ops.sort_by_key(|op| op.call);
    ops
}

/// `additions` of as many elements that time out, other elements that are added (and, if wanted, removed), and reads of
/// the whole set. Where it is to be wrong, the last read but one lacks what an earlier one had.
pub fn set(additions: u32, removals: bool, is_right: bool, random: &mut Random) -> Vec<OpOf<Set<u32>>> {
    let (mut state, mut ops, mut number) = (BTreeSet::new(), Vec::new(), 0);
    for (mut slot, acts) in slots(additions as usize * 2, 5, 500, random) {
        number += 1;
        let input = match random.below(24) {
            0 => SetInput::Read,
            1..4 if removals => SetInput::Remove(random.below(number) as u32),
            _ => SetInput::Add(number as u32),
        };
        slot.is_lost &= input != SetInput::Read;
        match &input {
            SetInput::Add(element) if acts => drop(state.insert(*element)),
            SetInput::Remove(element) if acts => drop(state.remove(element)),
            _ => {}
        }
        let output =
            if input == SetInput::Read { SetOutput::Elements(state.clone()) } else { SetOutput::Done };
        ops.push(slot.op(input, output));
    }
    let end = end(&ops);
    let mut wrong = state.clone();
    if !is_right {
        wrong.pop_last();
    }
    for (call, elements) in [(end + 1, state.clone()), (end + 3, wrong), (end + 5, state)] {
        ops.push(Op::ok(9, call, call + 1, SetInput::Read, SetOutput::Elements(elements)));
    }
    in_order(ops)
}

/// A register with six values, of which many operations timed out; where it is to be wrong, one read found a seventh.
pub fn register(count: usize, is_right: bool, random: &mut Random) -> Vec<OpOf<Register<u64>>> {
    let (mut state, mut ops) = (0, Vec::new());
    for (slot, acts) in slots(count, 5, 300, random) {
        let (input, output) = match random.below(3) {
            0 => (RegisterInput::Read, RegisterOutput::Value(state)),
            1 => (RegisterInput::Write(random.below(6)), RegisterOutput::Done),
            _ => (RegisterInput::Cas { from: state, to: random.below(6) }, RegisterOutput::Done),
        };
        match input {
            RegisterInput::Write(to) | RegisterInput::Cas { to, .. } if acts => state = to,
            _ => {}
        }
        ops.push(slot.op(input, output));
    }
    if let Some(op) = ops.iter_mut().rev().find(|op| op.input == RegisterInput::Read && !op.is_info())
        && let (false, Some(returned)) = (is_right, &mut op.returned)
    {
        returned.output = RegisterOutput::Value(6);
    }
    in_order(ops)
}

/// A queue of so many different values, each enqueued many times. Where it is to be wrong, two dequeues one after the
/// other have taken each other's element.
pub fn queue(
    count: usize,
    values: u64,
    lost_per_mille: u64,
    is_right: bool,
    seed: u64,
) -> Vec<OpOf<FifoQueue<u64>>> {
    let random = &mut Random(seed);
    let (mut state, mut ops) = (VecDeque::new(), Vec::new());
    for (slot, acts) in slots(count, 5, lost_per_mille, random) {
        if random.below(5) < 3 {
            let value = random.below(values);
            state.extend(acts.then_some(value));
            ops.push(slot.op(QueueInput::Enqueue(value), QueueOutput::Done));
            continue;
        }
        let head = if acts { state.pop_front() } else { state.front().copied() };
        let output = head.map_or(QueueOutput::Empty, QueueOutput::Value);
        ops.push(slot.op(QueueInput::Dequeue, output));
    }
    let mut ops = in_order(ops);
    if !is_right {
        let taken: Vec<usize> =
            (0..ops.len()).filter(|&op| matches!(ops[op].output(), Some(QueueOutput::Value(_)))).collect();
        let differ = taken.iter().flat_map(|&a| taken.iter().map(move |&b| (a, b))).find(|&(a, b)| {
            b > taken[taken.len() / 2]
                && ops[a].deadline() < ops[b].call
                && ops[a].output() != ops[b].output()
        });
        let (a, b) = differ.expect("some elements differ");
        let (first, second) = (ops[a].returned.take(), ops[b].returned.take());
        let swap = |at: u64, other| Op::ok(0, 0, at, (), other).returned;
        let (first, second) = (first.expect("it returned"), second.expect("it returned"));
        ops[a].returned = swap(first.at, second.output);
        ops[b].returned = swap(second.at, first.output);
    }
    ops
}

/// A semaphore of ten permits of which acquires time out; their owners go on and give back one permit at a time. Where
/// it is to be wrong, an eleventh permit is taken in the end.
pub fn semaphore(acquires: usize, is_right: bool, random: &mut Random) -> Vec<OpOf<Semaphore>> {
    const PERMITS: u64 = 10;
    let (mut held, mut ops, mut lost) = ([0u64; 5], Vec::new(), 0);
    for (mut slot, acts) in slots(acquires * 8, 5, 0, random) {
        let owner = slot.client;
        let held_by = held[owner as usize];
        let is_full = held.iter().sum::<u64>() == PERMITS;
        let input = |action| SemaphoreInput { owner, action };
        if held_by > 0 && random.below(3) < 2 {
            held[owner as usize] -= 1;
            ops.push(slot.op(input(SemaphoreAction::Release(1)), SemaphoreOutput::Done));
        } else if lost < acquires && (is_full || random.one_in(3)) {
            (slot.is_lost, lost) = (true, lost + 1);
            held[owner as usize] += u64::from(!is_full && acts && random.one_in(2));
            ops.push(slot.op(input(SemaphoreAction::Acquire(1)), SemaphoreOutput::Done));
        } else if !is_full {
            held[owner as usize] += 1;
            ops.push(slot.op(input(SemaphoreAction::Acquire(1)), SemaphoreOutput::Done));
        }
    }
    let end = end(&ops);
    for (owner, held) in (0..).zip(held).filter(|(_, held)| *held > 0) {
        let release = SemaphoreInput { owner, action: SemaphoreAction::Release(held) };
        ops.push(Op::ok(owner, end + 1, end + 2, release, SemaphoreOutput::Done));
    }
    let all = if is_right { PERMITS } else { PERMITS + 1 };
    let acquire = SemaphoreInput { owner: 99, action: SemaphoreAction::Acquire(all) };
    ops.push(Op::ok(99, end + 3, end + 4, acquire, SemaphoreOutput::Done));
    in_order(ops)
}

/// A counter of which additions of 1 to `amounts` time out. Where it is to be wrong, the last read says less than the
/// one before.
pub fn counter(count: usize, amounts: u64, is_right: bool, random: &mut Random) -> Vec<OpOf<Counter>> {
    let (mut value, mut ops) = (0, Vec::new());
    for (slot, acts) in slots(count, 5, 400, random) {
        if random.one_in(8) {
            ops.push(slot.op(CounterInput::Read, CounterOutput::Value(value)));
            continue;
        }
        let amount = 1 + random.below(amounts) as i64;
        value += if acts { amount } else { 0 };
        ops.push(slot.op(CounterInput::Add(amount), CounterOutput::Done));
    }
    let end = end(&ops);
    let last = if is_right { value } else { value - 1 };
    for (call, value) in [(end + 1, value), (end + 3, last)] {
        ops.push(Op::ok(9, call, call + 1, CounterInput::Read, CounterOutput::Value(value)));
    }
    in_order(ops)
}
