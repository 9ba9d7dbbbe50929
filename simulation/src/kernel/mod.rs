//! The kernel of the simulation: one thread, virtual time, nodes and the network between them.
//!
//! What they share stands here: tasks, polled in an order drawn from the seed, and time, which moves on when none is ready.

pub mod clock;
pub mod net;
pub mod node;
mod sim;
mod sleep;
mod timer;
pub(crate) mod waker;

pub use sim::{Sim, Stuck};

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    task::{Context, Waker},
};

use workloads::env::LocalFuture;

use self::{
    net::Net,
    node::{NodeId, NodeState},
    timer::{Due, Timers},
    waker::{TaskWaker, Woken},
};
use crate::rng::{Rng, mix};

/// More polls than this at one instant, and the run counts as stuck.
const POLLS_PER_INSTANT_MAX: u64 = 1_000_000;

/// Shared by every handle on the simulation.
pub(crate) struct Core {
    seed: u64,
    now: Cell<u64>,
    origin: Cell<u64>,
    trace: Cell<u64>,
    polls: Cell<u64>,
    order: Rng,
    woken: Woken,
    ready: RefCell<Vec<u32>>,
    tasks: RefCell<Vec<Task>>,
    free: RefCell<Vec<u32>>,
    timers: RefCell<Timers>,
    nodes: RefCell<Vec<NodeState>>,
    net: RefCell<Net>,
}

struct Task {
    node: NodeId,
    generation: u32,
    aborted: bool,
    future: Option<LocalFuture<()>>,
    /// Taken out while the task is polled.
    waker: Option<Waker>,
    wake: Arc<TaskWaker>,
}

impl Core {
    fn new(seed: u64) -> Rc<Core> {
        Rc::new(Core {
            seed,
            now: Cell::new(0),
            origin: Cell::new(0),
            trace: Cell::new(mix(seed)),
            polls: Cell::new(0),
            order: Rng::new(seed, 0),
            woken: Woken::default(),
            ready: RefCell::default(),
            tasks: RefCell::default(),
            free: RefCell::default(),
            timers: RefCell::default(),
            nodes: RefCell::default(),
            net: RefCell::new(Net::new(seed)),
        })
    }

    pub(crate) fn now(&self) -> u64 {
        self.now.get()
    }

    /// When the run began.
    pub(crate) fn origin(&self) -> u64 {
        self.origin.get()
    }

    pub(crate) fn begin_run(&self) {
        assert!(
            self.origin.get() <= self.now.get(),
            "a run does not begin before the one that went before it"
        );
        self.origin.set(self.now.get());
    }

    /// Folds a fact into the trace hash.
    pub(crate) fn note(&self, fact: u64) {
        let hash = (self.trace.get() ^ fact).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.trace.set(hash ^ (hash >> 29));
    }

    /// Calls at `time`.
    pub(crate) fn call_at(&self, time: u64, call: impl FnOnce() + 'static) {
        self.timers.borrow_mut().call(time, Box::new(call));
    }

    /// Starts a task; returns its slot and generation. A dead node runs nothing.
    pub(crate) fn spawn(&self, node: NodeId, future: LocalFuture<()>) -> (u32, u32) {
        if !self.nodes.borrow()[node.index()].alive {
            return (u32::MAX, 0);
        }
        let mut tasks = self.tasks.borrow_mut();
        let slot = self.free.borrow_mut().pop().unwrap_or_else(|| {
            let slot = tasks.len() as u32;
            let wake = TaskWaker::new(slot, &self.woken);
            let waker = Some(Waker::from(wake.clone()));
            tasks.push(Task { node, generation: 0, aborted: false, future: None, waker, wake });
            slot
        });
        let task = &mut tasks[slot as usize];
        assert!(task.future.is_none(), "a slot holds one task at a time");
        assert!(task.waker.is_some(), "a slot that is being polled is given to no other task");
        task.node = node;
        task.aborted = false;
        task.future = Some(future);
        task.waker.iter().for_each(Waker::wake_by_ref);
        (slot, task.generation)
    }

    /// Drops a task; one that is being polled is dropped right after.
    pub(crate) fn abort(&self, slot: u32, generation: u32) {
        let future = {
            let mut tasks = self.tasks.borrow_mut();
            let Some(task) = tasks.get_mut(slot as usize).filter(|t| t.generation == generation) else {
                return;
            };
            let future = task.future.take();
            match future {
                Some(_) => self.release(slot, task),
                None => task.aborted = true,
            }
            future
        };
        drop(future);
    }

    /// Drops all tasks of a node.
    pub(crate) fn abort_all(&self, node: NodeId) {
        let doomed: Vec<_> = {
            let tasks = self.tasks.borrow();
            let of_node = tasks.iter().enumerate().filter(|(_, task)| task.node == node);
            of_node.map(|(slot, task)| (slot as u32, task.generation)).collect()
        };
        for (slot, generation) in doomed {
            self.abort(slot, generation);
        }
    }

    /// Lets go of tasks that were held back by a pause and will not be polled: their slots may be used again.
    pub(crate) fn forget(&self, slots: &[u32]) {
        let tasks = self.tasks.borrow();
        slots.iter().for_each(|slot| tasks[*slot as usize].wake.rearm());
    }

    /// Puts tasks that were held back by a pause in line.
    pub(crate) fn requeue(&self, slots: Vec<u32>) {
        self.ready.borrow_mut().extend(slots);
    }

    fn release(&self, slot: u32, task: &mut Task) {
        assert!(task.future.is_none(), "a slot is free only once its task is gone");
        debug_assert!(!self.free.borrow().contains(&slot), "a slot is given back once");
        task.generation = task.generation.wrapping_add(1);
        self.free.borrow_mut().push(slot);
    }

    /// Polls until no task is ready.
    fn poll_ready(&self) -> Result<(), Stuck> {
        let start = self.polls.get();
        while let Some(slot) = self.next_ready() {
            self.poll(slot);
            if self.polls.get() - start > POLLS_PER_INSTANT_MAX {
                return Err(Stuck::Livelock(self.now.get()));
            }
        }
        Ok(())
    }

    fn next_ready(&self) -> Option<u32> {
        let (mut ready, tasks) = (self.ready.borrow_mut(), self.tasks.borrow());
        self.woken.drain(&mut ready, |slot| tasks[slot as usize].wake.next());
        debug_assert!(is_distinct(&ready), "a task is polled once a turn, however often it was woken");
        loop {
            let slot = match ready.len() {
                0 => return None,
                1 => ready.pop()?,
                n => ready.swap_remove(self.order.below(n as u64) as usize),
            };
            let node = &mut self.nodes.borrow_mut()[tasks[slot as usize].node.index()];
            if node.paused {
                node.deferred.push(slot);
            } else {
                return Some(slot);
            }
        }
    }

    fn poll(&self, slot: u32) {
        let (mut future, waker) = {
            let task = &mut self.tasks.borrow_mut()[slot as usize];
            assert!(task.wake.is_queued(), "only a task that was woken is polled");
            task.wake.rearm();
            match (task.future.take(), task.waker.take()) {
                (Some(future), Some(waker)) => (future, waker),
                (future, waker) => {
                    task.future = future;
                    task.waker = waker;
                    return;
                }
            }
        };
        self.polls.set(self.polls.get() + 1);
        self.note(self.now.get() ^ (u64::from(slot) << 48));
        let done = future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        let finished = {
            let mut tasks = self.tasks.borrow_mut();
            // Empty only when the simulation was dropped from within a task.
            let Some(task) = tasks.get_mut(slot as usize) else { return };
            assert!(task.waker.is_none() && task.future.is_none(), "nobody else polled the task meanwhile");
            task.waker = Some(waker);
            if done || task.aborted {
                self.release(slot, task);
                Some(future)
            } else {
                task.future = Some(future);
                None
            }
        };
        drop(finished);
    }

    /// Moves time to the next event at or before `limit` and lets everything of that instant happen.
    fn advance(&self, limit: u64) -> bool {
        let Some(time) = self.timers.borrow_mut().next_time().filter(|time| *time <= limit) else {
            return false;
        };
        assert!(time >= self.now.get(), "time never goes back");
        self.now.set(time);
        loop {
            let due = self.timers.borrow_mut().pop(time);
            match due {
                Some(Due::Sleeper) => {}
                Some(Due::Arrival(stream)) => self.net.borrow_mut().arrival(stream),
                Some(Due::Call(call)) => call(),
                None => return true,
            }
        }
    }
}

fn is_distinct(slots: &[u32]) -> bool {
    let mut sorted = slots.to_vec();
    sorted.sort_unstable();
    sorted.is_sorted_by(|a, b| a < b)
}
