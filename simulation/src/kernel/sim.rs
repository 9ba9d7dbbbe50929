//! A simulation as its owner sees it.

use std::{cell::RefCell, future::Future, rc::Rc};

use super::{
    Core,
    node::{Node, NodeId},
};

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
        let sim = Sim { core: Core::new(seed) };
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

    pub(in crate::kernel) fn core(&self) -> &Core {
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
        debug_assert!(
            self.core.timers.borrow_mut().next_time().is_none_or(|next| next > time),
            "all that was due has happened"
        );
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
