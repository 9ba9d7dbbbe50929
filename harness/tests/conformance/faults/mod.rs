//! Scripts in which time passes and servers fail: one for each thing that can happen, and what every call said.

pub mod etcd;
pub mod redis;
pub mod replication;
pub mod zookeeper;
