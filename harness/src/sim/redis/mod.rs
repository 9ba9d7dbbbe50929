//! Redis as its contract goes: one thread, expiry on the server's wall clock, three ways to persist.

mod client;
mod keyspace;
mod server;
mod words;

pub use client::RedisClient;
pub use keyspace::{Change, Keyspace};
pub use server::{PORT, Persistence, start};
