//! Recipes on etcd.

mod lease_lock;
mod leases;
mod server_lock;
mod table;

pub(super) use table::RECIPES;
