//! Recipes on ZooKeeper.

mod queue;
mod queue_lock;
mod session;
mod table;

pub(super) use table::RECIPES;
