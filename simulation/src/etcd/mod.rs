//! etcd as its contract goes: one revision for all keys, leases on the leader's monotonic clock, watches,
//! and the lock and election services as its servers run them.

mod client;
mod failure;
mod lessor;
mod server;
mod services;
mod store;

pub use client::EtcdClient;
pub use server::{Kept, Options, PORT, Server};
