//! The real clients, recipes and workloads against real servers in containers.
//!
//! Needs a Docker engine and the project's server images; says loudly when they are not there,
//! and fails then if `FENCEPOST_REQUIRE_DOCKER=1`.

mod broken;
mod etcd;
mod faults;
mod proxy;
mod redis;
mod resource;
mod support;
mod workload;
mod zookeeper;
