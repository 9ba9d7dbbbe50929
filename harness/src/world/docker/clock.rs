//! The run's clock: the run loop's own, which starts again when the run begins, and that of the nodes.

use std::{cell::Cell, rc::Rc, time::Duration};

use workloads::{
    env::{EnvApi, LocalFuture, TaskHandle},
    real_env::{RealEnv, monotonic_ns},
};

use crate::ticker::Stall;

/// This process' clocks, timers and tasks; 0 is when the run begins, and before that when the world was made.
#[derive(Clone)]
pub struct RunClock {
    origin_ns: Rc<Cell<u64>>,
    has_begun: Rc<Cell<bool>>,
    ahead_ns: Rc<Cell<i64>>,
    real: Rc<RealEnv>,
}

impl Default for RunClock {
    fn default() -> RunClock {
        RunClock {
            origin_ns: Rc::new(Cell::new(monotonic_ns())),
            has_begun: Rc::default(),
            ahead_ns: Rc::default(),
            real: Rc::new(RealEnv::new(0, 0)),
        }
    }
}

impl RunClock {
    /// It is 0 now.
    pub fn begin(&self) {
        self.origin_ns.set(monotonic_ns());
        self.has_begun.set(true);
    }

    /// What the nodes' CLOCK_MONOTONIC shows, less what ours does: 0 unless their kernel is another.
    pub fn set_ahead_ns(&self, ahead_ns: i64) {
        self.ahead_ns.set(ahead_ns);
    }

    /// The nodes' CLOCK_MONOTONIC at 0.
    pub fn nodes_origin_ns(&self) -> u64 {
        self.origin_ns.get().wrapping_add_signed(self.ahead_ns.get())
    }

    /// The part of a stall that lies in the run, from and to in nanoseconds since its beginning.
    /// `of_node`: it was told by a node, on the nodes' clock.
    pub fn in_run(&self, stall: Stall, of_node: bool) -> Option<(u64, u64)> {
        let origin = if of_node { self.nodes_origin_ns() } else { self.origin_ns.get() };
        let [from, to] = [stall.due_ns, stall.came_ns].map(|at| at.saturating_sub(origin));
        (self.has_begun.get() && to > 0).then_some((from, to))
    }
}

impl EnvApi for RunClock {
    fn now(&self) -> u64 {
        monotonic_ns().saturating_sub(self.origin_ns.get())
    }

    fn wall(&self) -> i64 {
        self.real.wall()
    }

    fn sleep(&self, duration: Duration) -> LocalFuture<()> {
        self.real.sleep(duration)
    }

    fn spawn(&self, task: LocalFuture<()>) -> Box<dyn TaskHandle> {
        self.real.spawn(task)
    }

    fn random(&self) -> u64 {
        self.real.random()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_stall_only_what_lies_in_the_run_counts() {
        let clock = RunClock::default();
        let stall = |from: i64, to: i64, origin: u64| Stall {
            due_ns: origin.wrapping_add_signed(from),
            came_ns: origin.wrapping_add_signed(to),
        };
        assert_eq!(clock.in_run(stall(10, 20, clock.nodes_origin_ns()), true), None, "nothing has begun");
        clock.begin();
        let own = clock.nodes_origin_ns();
        clock.set_ahead_ns(1_000_000);
        let nodes = clock.nodes_origin_ns();
        assert_eq!(nodes, own + 1_000_000);
        for (origin, of_node) in [(own, false), (nodes, true)] {
            assert_eq!(clock.in_run(stall(10, 20, origin), of_node), Some((10, 20)));
            assert_eq!(clock.in_run(stall(-10, 20, origin), of_node), Some((0, 20)));
            assert_eq!(clock.in_run(stall(-20, -10, origin), of_node), None);
        }
    }
}
