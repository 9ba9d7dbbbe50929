//! What the rounds of workloads are made of.

use std::time::Duration;

use history::Action;

use super::hold::Hold;
use crate::error::OpResult;

/// A client as a workload sees it.
pub(super) trait Steps {
    /// One of the locks, by chance.
    fn pick(&self) -> String;

    /// Any number, by chance.
    fn draw(&self) -> u64;

    /// Work as long as a lock is held.
    fn short_work(&self) -> Work;

    /// Work as long as a lease or a leadership is held.
    fn long_work(&self) -> Work;

    /// Acquires or campaigns; `None` if that certainly failed.
    async fn acquire(&mut self, action: Action, lock: &str) -> OpResult<Option<Hold>>;

    /// Works under a grant while it is kept alive, and gives it back, whatever came of the work: an exception leaves a
    /// critical section by way of the release. Only a client that has given its grant up in doubt leaves it to run out.
    /// Either way it holds nothing after that, and never acquires what it holds.
    async fn use_up(&mut self, hold: Hold, work: Work, release: Action) -> OpResult<()>;

    /// Looks who leads.
    async fn observe(&mut self, name: &str) -> OpResult<()>;
}

/// What is done under one grant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// One read-modify-write that takes so long.
    Once(Duration),
    /// One after the other for so long, or until the phase changes.
    For(Duration),
}
