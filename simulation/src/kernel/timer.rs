//! What happens when: a heap of the near future, and buckets of what lies further off. Most timers are time limits
//! that are cancelled long before they are due: those never reach the heap.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BinaryHeap},
    task::Waker,
};

use super::waker::Waiter;

/// A bucket holds 2^24 ns, about 17 ms.
const BUCKET_BITS: u32 = 24;

/// Something that happens at a fixed time. Small and plain, since the heap moves it about.
#[derive(Clone, Copy)]
enum Event {
    /// A sleeper's time has come, unless it was dropped meanwhile.
    Timer { slot: u32, generation: u32 },
    /// The next message of a stream has arrived.
    Arrival(u32),
    /// Anything else, at this place among the calls.
    Call(u32),
}

/// What has come to pass.
pub(super) enum Due {
    /// A sleeper's time: it has been woken.
    Sleeper,
    /// The next message of a stream has arrived.
    Arrival(u32),
    /// Anything else.
    Call(Box<dyn FnOnce()>),
}

#[derive(Clone, Copy)]
struct Entry {
    time: u64,
    /// Ties are broken by the order of scheduling.
    sequence: u64,
    event: Event,
}

impl Entry {
    /// Time, then sequence.
    fn key(&self) -> u128 {
        u128::from(self.time) << 64 | u128::from(self.sequence)
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

#[derive(Default)]
struct Slot {
    generation: u32,
    sleeper: Waiter,
}

/// The future and the sleepers.
#[derive(Default)]
pub(super) struct Timers {
    /// What comes before the horizon.
    near: BinaryHeap<Entry>,
    /// What comes later, by bucket, in the order of scheduling.
    far: BTreeMap<u64, Vec<Entry>>,
    horizon: u64,
    /// Key of the last event that came to pass.
    last: u128,
    /// Emptied buckets, to be filled again.
    spare: Vec<Vec<Entry>>,
    sequence: u64,
    slots: Vec<Slot>,
    free: Vec<u32>,
    calls: Vec<Option<Box<dyn FnOnce()>>>,
    free_calls: Vec<u32>,
}

impl Timers {
    /// At `time` the next message of a stream arrives.
    pub(super) fn arrival(&mut self, time: u64, stream: u32) {
        self.schedule(time, Event::Arrival(stream));
    }

    /// Calls at `time`.
    pub(super) fn call(&mut self, time: u64, call: Box<dyn FnOnce()>) {
        let place = self.free_calls.pop().unwrap_or_else(|| {
            self.calls.push(None);
            (self.calls.len() - 1) as u32
        });
        let before = self.calls[place as usize].replace(call);
        assert!(before.is_none(), "a call that is still to come keeps its place");
        self.schedule(time, Event::Call(place));
    }

    fn schedule(&mut self, time: u64, event: Event) {
        assert!(time >= self.reached(), "nothing is planned for the past");
        self.sequence += 1;
        let entry = Entry { time, sequence: self.sequence, event };
        if time < self.horizon {
            self.near.push(entry);
        } else {
            let spare = &mut self.spare;
            self.far
                .entry(time >> BUCKET_BITS)
                .or_insert_with(|| spare.pop().unwrap_or_default())
                .push(entry);
        }
    }

    /// Time of the next event that still matters.
    pub(super) fn next_time(&mut self) -> Option<u64> {
        loop {
            while let Some(entry) = self.near.peek() {
                if is_live(&self.slots, &entry.event) {
                    return Some(entry.time);
                }
                self.near.pop();
            }
            let (bucket, mut entries) = self.far.pop_first()?;
            // The last bucket ends with time itself.
            let horizon = (bucket << BUCKET_BITS).saturating_add(1 << BUCKET_BITS);
            assert!(horizon > self.horizon, "the horizon only moves on");
            self.horizon = horizon;
            debug_assert!(
                entries.iter().all(|entry| entry.time >> BUCKET_BITS == bucket),
                "a bucket holds its own"
            );
            debug_assert!(self.near.is_empty(), "what is near comes before what is far");
            self.near.extend(entries.drain(..).filter(|entry| is_live(&self.slots, &entry.event)));
            self.spare.push(entries);
        }
    }

    /// Takes the next event if it is due at `now`, a time that [`Timers::next_time`] told: nothing due is far off.
    pub(super) fn pop(&mut self, now: u64) -> Option<Due> {
        loop {
            self.near.peek().filter(|entry| entry.time <= now)?;
            let entry = self.near.pop()?;
            assert!(
                entry.key() > self.last,
                "events come in order of time, and of scheduling where times are equal"
            );
            self.last = entry.key();
            match entry.event {
                Event::Arrival(stream) => return Some(Due::Arrival(stream)),
                Event::Call(place) => {
                    self.free_calls.push(place);
                    let call = self.calls[place as usize].take();
                    assert!(call.is_some(), "what was planned is there when its time comes");
                    return call.map(Due::Call);
                }
                Event::Timer { slot, generation } => {
                    let slot = &mut self.slots[slot as usize];
                    if slot.generation == generation {
                        slot.sleeper.wake();
                        return Some(Due::Sleeper);
                    }
                }
            }
        }
    }

    /// Wakes at `deadline`. The slot stays the sleeper's own until [`Timers::forget`].
    pub(super) fn sleep(&mut self, deadline: u64, waker: &Waker) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        self.rearm(slot, waker);
        let generation = self.slots[slot as usize].generation;
        self.schedule(deadline, Event::Timer { slot, generation });
        slot
    }

    pub(super) fn rearm(&mut self, slot: u32, waker: &Waker) {
        self.slots[slot as usize].sleeper.wait(waker);
    }

    /// The time of the last event that came to pass.
    fn reached(&self) -> u64 {
        (self.last >> 64) as u64
    }

    pub(super) fn forget(&mut self, slot: u32) {
        // Empty only while the simulation itself is being dropped.
        let Some(entry) = self.slots.get_mut(slot as usize) else { return };
        entry.generation = entry.generation.wrapping_add(1);
        entry.sleeper.rest();
        debug_assert!(!self.free.contains(&slot), "a sleeper gives its slot back once");
        self.free.push(slot);
    }
}

/// A sleeper that was dropped is forgotten where it lies.
fn is_live(slots: &[Slot], event: &Event) -> bool {
    match event {
        Event::Timer { slot, generation } => slots[*slot as usize].generation == *generation,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_comes_in_time_order_and_the_forgotten_not_at_all() {
        let mut timers = Timers::default();
        let rng = crate::rng::Rng::new(1, 0);
        let mut expected = Vec::new();
        let mut now = 0;
        for round in 0..2000u32 {
            let time = now + rng.below(1 << (10 + round % 28));
            match rng.below(3) {
                0 => {
                    let slot = timers.sleep(time, Waker::noop());
                    timers.forget(slot);
                }
                _ => {
                    timers.arrival(time, round);
                    expected.push((time, round));
                }
            }
            if rng.below(4) == 0 {
                expected.sort_unstable();
                if let Some(time) = timers.next_time() {
                    now = time;
                    let Some(Due::Arrival(number)) = timers.pop(now) else { panic!("an arrival is due") };
                    assert_eq!(expected.remove(0), (time, number));
                }
            }
        }
        assert!(timers.next_time().is_some_and(|time| timers.pop(time).is_some()));
    }
}
