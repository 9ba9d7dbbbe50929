//! The executor: polls ready tasks in an order drawn from the seed, and moves time on when none is left.

use std::{
    cell::{Cell, RefCell},
    future::Future,
    rc::Rc,
    sync::Arc,
    task::{Context, Waker},
};

use workloads::env::LocalFuture;

use super::{
    net::Net,
    node::{Node, NodeId, NodeState},
    rng::{Rng, mix},
    timer::{Due, Timers},
    waker::{TaskWaker, Woken},
};

/// More polls than this at one instant, and the run counts as stuck.
const POLLS_PER_INSTANT_MAX: u64 = 1_000_000;

/// Why a run cannot go on. A defect of the harness or of a recipe, never a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stuck {
    /// No task is ready and nothing lies in the future.
    #[error("every task waits and nothing will happen any more (at {0} ns)")]
    Deadlock(u64),
    /// Tasks wake each other without end.
    #[error("tasks keep each other awake and time does not go on (at {0} ns)")]
    Livelock(u64),
}

/// One simulation. Dropped, it drops every task.
pub struct Sim {
    core: Rc<Core>,
}

impl Sim {
    /// An empty world at time 0 with one node, `harness`, that no fault should touch.
    pub fn new(seed: u64) -> Sim {
        let core = Rc::new(Core {
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
        });
        let sim = Sim { core };
        sim.node("harness");
        sim
    }

    /// Adds a node, alive and without tasks.
    pub fn node(&self, name: &str) -> Node {
        Node::add(&self.core, name)
    }

    /// The node `harness`.
    pub fn harness(&self) -> Node {
        Node::of(&self.core, NodeId(0))
    }

    /// Nanoseconds since the run began.
    pub fn now(&self) -> u64 {
        self.core.now.get()
    }

    /// Hash of every decision and message so far.
    pub fn trace(&self) -> u64 {
        self.core.trace.get()
    }

    /// How often a task was polled.
    pub fn polls(&self) -> u64 {
        self.core.polls.get()
    }

    pub(super) fn core(&self) -> &Core {
        &self.core
    }

    /// Lets everything happen that happens up to `time`, and sets the clock there.
    pub fn run_until(&self, time: u64) -> Result<(), Stuck> {
        loop {
            self.core.poll_ready()?;
            match self.core.advance(time) {
                true => {}
                false => break,
            }
        }
        self.core.now.set(self.core.now.get().max(time));
        Ok(())
    }

    /// Runs `future` as a task of the harness until it is done.
    pub fn block_on<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> Result<T, Stuck> {
        let result = Rc::new(RefCell::new(None));
        let slot = result.clone();
        let task = async move { *slot.borrow_mut() = Some(future.await) };
        self.core.spawn(NodeId(0), Box::pin(task));
        loop {
            self.core.poll_ready()?;
            if let Some(value) = result.borrow_mut().take() {
                return Ok(value);
            }
            if !self.core.advance(u64::MAX) {
                return Err(Stuck::Deadlock(self.now()));
            }
        }
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        let tasks = std::mem::take(&mut *self.core.tasks.borrow_mut());
        let timers = std::mem::take(&mut *self.core.timers.borrow_mut());
        self.core.net.borrow_mut().close();
        drop((tasks, timers));
    }
}

/// Shared by every handle on the simulation.
pub(super) struct Core {
    pub(super) seed: u64,
    now: Cell<u64>,
    origin: Cell<u64>,
    trace: Cell<u64>,
    polls: Cell<u64>,
    order: Rng,
    woken: Woken,
    ready: RefCell<Vec<u32>>,
    tasks: RefCell<Vec<Task>>,
    free: RefCell<Vec<u32>>,
    pub(super) timers: RefCell<Timers>,
    pub(super) nodes: RefCell<Vec<NodeState>>,
    pub(super) net: RefCell<Net>,
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
    pub(super) fn now(&self) -> u64 {
        self.now.get()
    }

    /// When the run began.
    pub(super) fn origin(&self) -> u64 {
        self.origin.get()
    }

    pub(super) fn begin_run(&self) {
        self.origin.set(self.now.get());
    }

    /// Folds a fact into the trace hash.
    pub(super) fn note(&self, fact: u64) {
        let hash = (self.trace.get() ^ fact).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.trace.set(hash ^ (hash >> 29));
    }

    /// Calls at `time`.
    pub(super) fn call_at(&self, time: u64, call: impl FnOnce() + 'static) {
        self.timers.borrow_mut().call(time, Box::new(call));
    }

    /// Starts a task; returns its slot and generation. A dead node runs nothing.
    pub(super) fn spawn(&self, node: NodeId, future: LocalFuture<()>) -> (u32, u32) {
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
        task.node = node;
        task.aborted = false;
        task.future = Some(future);
        task.waker.iter().for_each(Waker::wake_by_ref);
        (slot, task.generation)
    }

    /// Drops a task; one that is being polled is dropped right after.
    pub(super) fn abort(&self, slot: u32, generation: u32) {
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
    pub(super) fn abort_all(&self, node: NodeId) {
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
    pub(super) fn forget(&self, slots: &[u32]) {
        let tasks = self.tasks.borrow();
        slots.iter().for_each(|slot| tasks[*slot as usize].wake.rearm());
    }

    /// Puts tasks that were held back by a pause in line.
    pub(super) fn requeue(&self, slots: Vec<u32>) {
        self.ready.borrow_mut().extend(slots);
    }

    fn release(&self, slot: u32, task: &mut Task) {
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
        self.now.set(self.now.get().max(time));
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
