//! A replicated log with elections and quorum, on which etcd and ZooKeeper stand. After Ongaro and Ousterhout,
//! "In search of an understandable consensus algorithm" (2014), with what etcd runs beside it: pre-vote, a leader
//! that steps down without a quorum, votes refused while a leader is heard, and reads confirmed by a round of heartbeats.
//! Logs are kept whole: a run is short.

mod consensus;
mod log;
mod message;
mod replica;

pub use log::{Log, Logged};
pub use message::Timing;
pub use replica::{Place, Replica, Stable};
