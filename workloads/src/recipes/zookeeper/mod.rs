//! Recipes on ZooKeeper.

mod promises;
mod queue;
mod queue_lock;
mod session;
mod table;

pub(super) use queue::Flaw;
pub(super) use queue_lock::QueueLock;
pub(super) use table::{KEEPALIVE_PERCENT, RECIPES, UNTIL};
