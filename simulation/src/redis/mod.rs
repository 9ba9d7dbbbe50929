//! Redis as its contract goes: one thread, expiry on the server's wall clock, three ways to persist; alone, or as a
//! primary with replicas and sentinels.

mod client;
mod keyspace;
mod readonly;
mod replicated;
mod replication;
pub mod sentinel;
mod server;
mod stream;
mod words;

pub use client::RedisClient;
pub use keyspace::{Change, Keyspace};
pub use replicated::{Kept, Options, Replicated};
pub use server::{PORT, Persistence, start};
