//! Redis as its contract goes: one thread, expiry on the server's wall clock, three ways to persist; alone, or as a
//! primary with replicas and sentinels.

mod client;
mod kept;
mod keyspace;
mod options;
mod readonly;
mod replicated;
pub mod sentinel;
mod server;
mod stream;
mod words;

pub use client::RedisClient;
pub use kept::Kept;
pub use keyspace::{Change, Keyspace};
pub use options::Options;
pub use replicated::Replicated;
pub use server::{PORT, Persistence, start};
