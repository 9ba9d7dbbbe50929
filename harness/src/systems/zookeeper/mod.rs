//! Apache ZooKeeper: an ensemble of one to seven servers. The agent starts Java itself, not through `zkServer.sh`.

mod model;
mod plan;
mod probe;

use std::time::Duration;

use super::{Servers, Setting, System, Values};

/// Where a server listens for clients.
const PORT: u16 = 2181;
/// Where the leader alone listens for its followers.
const LEADER_PORT: u16 = 2888;
/// Where a server listens for elections.
const ELECTION_PORT: u16 = 3888;

/// ZooKeeper.
pub static ZOOKEEPER: System = System {
    name: "zookeeper",
    about: "a ZooKeeper ensemble",
    images: "zookeeper",
    default_nodes: 3,
    max_nodes: 7,
    servers: Servers::Cluster,
    settings: &[
        Setting {
            name: "tick_ms",
            default: "200",
            about: "milliseconds of ZooKeeper's tick, the unit of its other times (its own default is 2000)",
            values: Values::Count,
        },
        Setting {
            name: "init_limit",
            default: "50",
            about: "ticks a follower may take to connect and sync",
            values: Values::Count,
        },
        Setting {
            name: "sync_limit",
            default: "5",
            about: "ticks a follower may lag before it is dropped",
            values: Values::Count,
        },
    ],
    client_ports: &[PORT],
    peer_ports: &[PORT, ELECTION_PORT],
    plan: plan::plan,
    probe: probe::probe,
    modelled: "3.8",
    model: model::model,
};

/// The longest time-out that a session can ask for, milliseconds.
fn session_timeout_ms_max(ttl: Duration) -> u64 {
    (ttl.as_millis() as u64 * 10).max(60_000)
}
