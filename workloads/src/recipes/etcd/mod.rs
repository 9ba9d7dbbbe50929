//! Recipes on etcd.

mod lease_lock;
mod leases;
mod promises;
mod server_lock;
mod table;

pub(super) use lease_lock::{Flaw, LeaseLock};
pub(super) use table::{KEEPALIVE_PERCENT, RECIPES, UNTIL};
