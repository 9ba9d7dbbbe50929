//! ZooKeeper as its contract goes: writes through the leader's log, reads from whatever the asked server has
//! applied, sessions that end by the leader's clock and can move between servers, one-shot watches.
//!
//! Two simplifications. The log is [`super::raft`]'s, not Zab's: a dead leader is noticed after the sync limit, not by its
//! broken connections, and the low half of a zxid counts on over epochs. Attaching to a session goes through the log.

mod client;
mod messages;
mod server;
mod sessions;
mod tree;

pub use client::ZkClient;
pub use server::{Kept, Options, PORT, Server};
