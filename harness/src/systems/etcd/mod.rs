//! etcd: a cluster of one to seven members.

mod model;
mod plan;
mod probe;

use super::{Servers, Setting, System, Values};

/// Where a member listens for the others.
const PEER_PORT: u16 = 2380;
/// Where a member listens for clients.
const PORT: u16 = 2379;

/// etcd.
pub static ETCD: System = System {
    name: "etcd",
    about: "an etcd cluster",
    images: "etcd",
    default_nodes: 3,
    max_nodes: 7,
    servers: Servers::Cluster,
    settings: &[
        Setting {
            name: "heartbeat_ms",
            default: "50",
            about: "milliseconds between the leader's heartbeats (etcd's own default is 100)",
            values: Values::Count,
        },
        Setting {
            name: "election_ms",
            default: "500",
            about: "milliseconds without heartbeat before an election, and the least TTL of a lease times 1.5 (etcd's own default is 1000)",
            values: Values::Count,
        },
    ],
    client_ports: &[PORT],
    peer_ports: &[PORT, PEER_PORT],
    plan: plan::plan,
    probe: probe::probe,
    modelled: "3.5.16",
    model: model::model,
};
