//! A deterministic simulation: nodes, network, disks and models of the stores, on one thread in virtual time.
//!
//! Everything that happens is a function of the seed. What could break that, and how it is closed:
//!
//! | source of nondeterminism | closed by |
//! |---|---|
//! | time | [`Sim::now`] advances only when no task is ready, to the next event |
//! | order of ready tasks | drawn from the seed, see [`Sim`] |
//! | threads | there are none; a waker's atomics are only read and written |
//! | chance | [`rng::Rng`], one stream a node, one a link, one for the scheduler |
//! | message delay, loss, order | drawn from the link's own stream |
//! | iteration order of hash maps | no hash map: vectors and B-trees |
//! | floating point | integers only wherever a decision is taken |
//! | addresses, global state | never looked at; none |
//!
//! [`Sim::trace`] hashes every decision and every message: equal hashes mean equal runs. `docs/simulation.md` says more.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod disk;
pub mod etcd;
mod kernel;
pub mod raft;
pub mod redis;
pub mod resource;
pub mod rng;
pub mod rpc;
pub mod zookeeper;

pub use kernel::{
    Sim, Stuck, clock, net,
    node::{self, Node, NodeId},
};
