//! Nodes: what a fault can hit. A node is one process: its tasks, its wall clock, its chance.

use std::{future::Future, rc::Rc, time::Duration};

use workloads::env::{Env, EnvApi, LocalFuture, TaskHandle};

use super::{Core, clock::WallClock, sleep::Sleep};
use crate::rng::Rng;

/// Position of a node in its simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u16);

impl NodeId {
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

pub(super) struct NodeState {
    pub(super) name: String,
    pub(super) alive: bool,
    pub(super) paused: bool,
    /// Tasks that were woken during a pause.
    pub(super) deferred: Vec<u32>,
    wall: WallClock,
    rng: Rng,
    starts: u32,
}

/// A cheap handle on one node.
#[derive(Clone)]
pub struct Node {
    pub(super) core: Rc<Core>,
    id: NodeId,
}

impl Node {
    pub(super) fn add(core: &Rc<Core>, name: &str) -> Node {
        let mut nodes = core.nodes.borrow_mut();
        let id = NodeId(u16::try_from(nodes.len()).expect("fewer than 65536 nodes"));
        nodes.push(NodeState {
            name: name.to_owned(),
            alive: true,
            paused: false,
            deferred: Vec::new(),
            wall: WallClock::default(),
            rng: Rng::new(core.seed, 1 + u64::from(id.0)),
            starts: 1,
        });
        core.net.borrow_mut().add_node();
        Node { core: core.clone(), id }
    }

    pub(super) fn of(core: &Rc<Core>, id: NodeId) -> Node {
        Node { core: core.clone(), id }
    }

    /// The node's position.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The node's name.
    pub fn name(&self) -> String {
        self.state(|state| state.name.clone())
    }

    /// What recipes and servers on this node see of the world.
    pub fn env(&self) -> Env {
        Env::new(self.clone())
    }

    /// Adds another node to the same simulation.
    pub fn sibling(&self, name: &str) -> Node {
        Node::add(&self.core, name)
    }

    /// Nanoseconds since the simulation began, unlike [`EnvApi::now`], which counts from [`Node::begin_run`].
    pub fn now(&self) -> u64 {
        self.core.now()
    }

    /// From now on every node's [`EnvApi::now`] counts from here.
    pub fn begin_run(&self) {
        self.core.begin_run();
    }

    /// How often the node has been started.
    pub fn starts(&self) -> u32 {
        self.state(|state| state.starts)
    }

    /// Runs a task that ends with its node.
    pub fn run(&self, task: impl Future<Output = ()> + 'static) {
        self.core.spawn(self.id, Box::pin(task));
    }

    /// Completes at `time` (nanoseconds since the run began), at once when that has passed.
    pub fn sleep_until(&self, time: u64) -> impl Future<Output = ()> + Unpin + 'static {
        Sleep::until(&self.core, time)
    }

    /// From now on no task of the node is polled. Its sockets still take what arrives, as a stopped
    /// process's kernel does. Returns false when it was paused or dead already.
    pub fn pause(&self) -> bool {
        self.state(|state| state.alive && !std::mem::replace(&mut state.paused, true))
    }

    /// Ends a pause. Returns false when there was none.
    pub fn resume(&self) -> bool {
        let (was, deferred) =
            self.state(|s| (std::mem::take(&mut s.paused), std::mem::take(&mut s.deferred)));
        self.core.requeue(deferred);
        was
    }

    /// Kills the process: its tasks are dropped and its connections end. Returns false when it was dead.
    pub fn kill(&self) -> bool {
        let (was, deferred) = self.state(|state| {
            state.paused = false;
            (std::mem::take(&mut state.alive), std::mem::take(&mut state.deferred))
        });
        self.core.forget(&deferred);
        if was {
            self.core.abort_all(self.id);
            self.core.net.borrow_mut().forget(self.id);
        }
        was
    }

    /// Lets the node run tasks again; returns how often it has been started. The caller starts them.
    pub fn revive(&self) -> u32 {
        self.state(|state| {
            state.starts += u32::from(!std::mem::replace(&mut state.alive, true));
            state.starts
        })
    }

    /// Whether the process runs (a paused one does).
    pub fn is_alive(&self) -> bool {
        self.state(|state| state.alive)
    }

    /// Whether the process is paused.
    pub fn is_paused(&self) -> bool {
        self.state(|state| state.paused)
    }

    /// Sets the wall clock `offset` nanoseconds ahead of true time.
    pub fn set_clock_offset(&self, offset: i64) {
        let now = self.core.now();
        self.state(|state| state.wall.set_offset(now, offset));
    }

    /// The wall clock gains `ppm` microseconds a second from now on.
    pub fn set_clock_rate(&self, ppm: i64) {
        let now = self.core.now();
        self.state(|state| state.wall.set_rate(now, ppm));
    }

    /// How far the wall clock is ahead of true time, in nanoseconds.
    pub fn clock_offset(&self) -> i64 {
        let now = self.core.now();
        self.state(|state| state.wall.offset(now))
    }

    pub(super) fn state<T>(&self, look: impl FnOnce(&mut NodeState) -> T) -> T {
        look(&mut self.core.nodes.borrow_mut()[self.id.index()])
    }
}

impl EnvApi for Node {
    fn now(&self) -> u64 {
        self.core.now() - self.core.origin()
    }

    fn wall(&self) -> i64 {
        let now = self.core.now();
        self.state(|state| state.wall.read(now))
    }

    fn sleep(&self, duration: Duration) -> LocalFuture<()> {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Box::pin(Sleep::until(&self.core, self.core.now().saturating_add(nanos)))
    }

    fn spawn(&self, task: LocalFuture<()>) -> Box<dyn TaskHandle> {
        let (slot, generation) = self.core.spawn(self.id, task);
        Box::new(Handle { core: self.core.clone(), slot, generation })
    }

    fn random(&self) -> u64 {
        self.state(|state| state.rng.next())
    }
}

struct Handle {
    core: Rc<Core>,
    slot: u32,
    generation: u32,
}

impl TaskHandle for Handle {
    fn detach(mut self: Box<Self>) {
        self.slot = u32::MAX;
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.core.abort(self.slot, self.generation);
    }
}
