//! [`crate::env::Env`] of a real node: the machine's clocks, tokio's timers and tasks.

use std::{
    cell::Cell,
    future::Future,
    time::{Duration, SystemTime},
};

use history::splitmix;
use nix::time::{ClockId, clock_gettime};

use crate::env::{EnvApi, LocalFuture, TaskHandle};

/// Runs on a current-thread tokio runtime, inside a `LocalSet`.
pub struct RealEnv {
    origin: u64,
    state: Cell<u64>,
}

impl RealEnv {
    /// `origin_ns` is CLOCK_MONOTONIC at the run's beginning, see [`monotonic_ns`]; `seed` starts the node's generator.
    pub fn new(origin_ns: u64, seed: u64) -> RealEnv {
        RealEnv { origin: origin_ns, state: Cell::new(seed) }
    }
}

/// CLOCK_MONOTONIC, which all processes of one kernel share, in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every kernel has it");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

impl EnvApi for RealEnv {
    fn now(&self) -> u64 {
        monotonic_ns().saturating_sub(self.origin)
    }

    fn wall(&self) -> i64 {
        match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => since.as_nanos() as i64,
            Err(before) => -(before.duration().as_nanos() as i64),
        }
    }

    fn sleep(&self, duration: Duration) -> LocalFuture<()> {
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, task: LocalFuture<()>) -> Box<dyn TaskHandle> {
        Box::new(Task(Some(tokio::task::spawn_local(task as std::pin::Pin<Box<dyn Future<Output = ()>>>))))
    }

    fn random(&self) -> u64 {
        let mut state = self.state.get();
        let drawn = splitmix::next(&mut state);
        self.state.set(state);
        drawn
    }
}

struct Task(Option<tokio::task::JoinHandle<()>>);

impl TaskHandle for Task {
    fn detach(mut self: Box<Self>) {
        self.0.take();
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_numbers() {
        let draw = |seed| {
            let env = RealEnv::new(0, seed);
            (env.random(), env.random())
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        // The generator's published first output for seed 0.
        assert_eq!(draw(0).0, 0xe220_a839_7b1d_cdaf);
    }
}
