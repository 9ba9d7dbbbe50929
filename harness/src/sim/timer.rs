//! What happens when: one heap of everything that lies in the future.

use std::{cmp::Ordering, collections::BinaryHeap, task::Waker};

/// Something that happens at a fixed time.
pub(super) enum Event {
    /// A sleeper's time has come, unless it was dropped meanwhile.
    Timer { slot: u32, generation: u32 },
    /// The next message of a stream has arrived.
    Arrival(u32),
    /// Anything else.
    Call(Box<dyn FnOnce()>),
}

struct Entry {
    time: u64,
    /// Ties are broken by the order of scheduling.
    sequence: u64,
    event: Event,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.sequence).cmp(&(self.time, self.sequence))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

#[derive(Default)]
struct Slot {
    generation: u32,
    waker: Option<Waker>,
}

/// The heap and the sleepers.
#[derive(Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Entry>,
    sequence: u64,
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Timers {
    pub(super) fn schedule(&mut self, time: u64, event: Event) {
        self.sequence += 1;
        self.heap.push(Entry { time, sequence: self.sequence, event });
    }

    /// Time of the next event that still matters.
    pub(super) fn next_time(&mut self) -> Option<u64> {
        while let Some(entry) = self.heap.peek() {
            match entry.event {
                Event::Timer { slot, generation } if self.slots[slot as usize].generation != generation => {
                    self.heap.pop();
                }
                _ => return Some(entry.time),
            }
        }
        None
    }

    /// Takes the next event if it is due at `now`.
    pub(super) fn pop(&mut self, now: u64) -> Option<Event> {
        if self.next_time()? > now {
            return None;
        }
        self.heap.pop().map(|entry| entry.event)
    }

    pub(super) fn sleep(&mut self, deadline: u64, waker: Waker) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        let generation = self.slots[slot as usize].generation;
        self.slots[slot as usize].waker = Some(waker);
        self.schedule(deadline, Event::Timer { slot, generation });
        slot
    }

    pub(super) fn rearm(&mut self, slot: u32, waker: &Waker) {
        match &mut self.slots[slot as usize].waker {
            Some(old) if old.will_wake(waker) => {}
            other => *other = Some(waker.clone()),
        }
    }

    /// A sleeper's waker; its slot stays its own until [`Timers::forget`].
    pub(super) fn fire(&mut self, slot: u32) -> Option<Waker> {
        self.slots[slot as usize].waker.take()
    }

    pub(super) fn forget(&mut self, slot: u32) {
        // Empty only while the simulation itself is being dropped.
        let Some(entry) = self.slots.get_mut(slot as usize) else { return };
        entry.generation = entry.generation.wrapping_add(1);
        entry.waker = None;
        self.free.push(slot);
    }
}
