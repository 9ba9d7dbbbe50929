//! The run loop's own clock, which starts again when the run begins.

use std::{cell::Cell, rc::Rc, time::Duration};

use workloads::{
    env::{EnvApi, LocalFuture, TaskHandle},
    real_env::{RealEnv, monotonic_ns},
};

/// This process' clocks, timers and tasks; 0 is when the run begins, and before that when the world was made.
#[derive(Clone)]
pub struct RunClock {
    origin_ns: Rc<Cell<u64>>,
    real: Rc<RealEnv>,
}

impl Default for RunClock {
    fn default() -> RunClock {
        RunClock { origin_ns: Rc::new(Cell::new(monotonic_ns())), real: Rc::new(RealEnv::new(0, 0)) }
    }
}

impl RunClock {
    /// It is 0 now.
    pub fn begin(&self) {
        self.origin_ns.set(monotonic_ns());
    }

    /// Our CLOCK_MONOTONIC at 0.
    pub fn origin_ns(&self) -> u64 {
        self.origin_ns.get()
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
