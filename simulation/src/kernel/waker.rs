//! Wakers of simulated tasks, and the list of those woken.
//!
//! A `Waker` must be `Sync`, but a simulation and its wakers live on one thread. So the atomics here are only read and
//! written, which costs what plain memory does; a lock or an exchange for every message would not. Woken from another
//! thread, a task could miss it: nothing does that.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    task::{Wake, Waker},
};

const NONE: u32 = u32::MAX;

/// The tasks that were woken since the last look: a list through their wakers, the latest first.
pub(super) struct Woken(Arc<AtomicU32>);

impl Default for Woken {
    fn default() -> Self {
        Woken(Arc::new(AtomicU32::new(NONE)))
    }
}

impl Woken {
    /// Moves the slots of all woken tasks to `ready`, in the order in which they were woken.
    pub(super) fn drain(&self, ready: &mut Vec<u32>, next: impl Fn(u32) -> u32) {
        let mut slot = self.0.load(Relaxed);
        if slot == NONE {
            return;
        }
        self.0.store(NONE, Relaxed);
        let first = ready.len();
        while slot != NONE {
            ready.push(slot);
            slot = next(slot);
        }
        ready[first..].reverse();
    }
}

/// What wakes the task in one slot.
pub(super) struct TaskWaker {
    slot: u32,
    /// Woken and not yet polled: in this list, ready, or held back by a pause.
    queued: AtomicBool,
    /// The one that was woken before.
    next: AtomicU32,
    head: Arc<AtomicU32>,
}

impl TaskWaker {
    pub(super) fn new(slot: u32, woken: &Woken) -> Arc<TaskWaker> {
        let (queued, next) = (AtomicBool::new(false), AtomicU32::new(NONE));
        Arc::new(TaskWaker { slot, queued, next, head: woken.0.clone() })
    }

    /// The task that was woken before this one, for [`Woken::drain`].
    pub(super) fn next(&self) -> u32 {
        self.next.load(Relaxed)
    }

    /// Whether it was woken and not polled since.
    pub(super) fn is_queued(&self) -> bool {
        self.queued.load(Relaxed)
    }

    /// From now on the task can be woken again.
    pub(super) fn rearm(&self) {
        self.queued.store(false, Relaxed);
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.load(Relaxed) {
            debug_assert!(
                self.head.load(Relaxed) != self.slot,
                "a task that is not queued is not in the list"
            );
            self.queued.store(true, Relaxed);
            self.next.store(self.head.load(Relaxed), Relaxed);
            self.head.store(self.slot, Relaxed);
        }
    }
}

/// Someone who may wait for something. Keeps the waker when the waiting is over: most often the same one waits again,
/// and then nothing is copied.
#[derive(Default)]
pub(crate) struct Waiter {
    waits: bool,
    waker: Option<Waker>,
}

impl Waiter {
    /// Waits from now on, with this waker.
    pub(crate) fn wait(&mut self, waker: &Waker) {
        self.waits = true;
        match &mut self.waker {
            Some(kept) => kept.clone_from(waker),
            None => self.waker = Some(waker.clone()),
        }
    }

    /// Wakes it if it waits.
    pub(crate) fn wake(&mut self) {
        if std::mem::take(&mut self.waits) {
            self.waker.iter().for_each(Waker::wake_by_ref);
        }
    }

    /// Waits no longer.
    pub(crate) fn rest(&mut self) {
        self.waits = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_woken_once() {
        let woken = Woken::default();
        let task = TaskWaker::new(0, &woken);
        let (waker, mut waiter) = (Waker::from(task.clone()), Waiter::default());
        let wakes = |waiter: &mut Waiter| {
            waiter.wake();
            let mut ready = Vec::new();
            woken.drain(&mut ready, |_| task.next());
            task.rearm();
            !ready.is_empty()
        };
        assert!(!wakes(&mut waiter));
        waiter.wait(&waker);
        assert!(wakes(&mut waiter) && !wakes(&mut waiter));
        waiter.wait(&waker);
        waiter.rest();
        assert!(!wakes(&mut waiter));
    }

    #[test]
    fn tasks_come_once_and_in_the_order_of_waking() {
        let woken = Woken::default();
        let tasks: Vec<_> = (0..4).map(|slot| TaskWaker::new(slot, &woken)).collect();
        let drained = || {
            let mut ready = vec![9];
            woken.drain(&mut ready, |slot| tasks[slot as usize].next());
            ready
        };
        [2, 0, 2, 3].iter().for_each(|slot: &usize| tasks[*slot].wake_by_ref());
        assert_eq!(drained(), [9, 2, 0, 3]);
        tasks[3].wake_by_ref();
        assert_eq!(drained(), [9], "still queued");
        tasks[3].rearm();
        Waker::from(tasks[3].clone()).wake();
        assert_eq!(drained(), [9, 3]);
    }
}
