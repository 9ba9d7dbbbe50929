//! Redis with replicas and sentinels: a server and a sentinel on every node, the first server the primary.

mod model;
mod plan;
mod probe;

use super::{
    Servers, Setting, System, Values,
    redis::{self, PERSISTENCE, REDIS},
};

/// What the servers are called among sentinels, as in every example of Redis' own.
const NAME: &str = "mymaster";
/// Where a sentinel listens.
const PORT: u16 = 26379;

/// Primary, replicas, sentinels.
pub static SENTINEL: System = System {
    name: "redis-sentinel",
    about: "a Redis primary with replicas, and a sentinel beside each",
    default_nodes: 3,
    max_nodes: 7,
    servers: Servers::Cluster,
    settings: &[
        PERSISTENCE,
        Setting {
            name: "down_after_ms",
            default: "1000",
            about: "milliseconds without answer after which a sentinel takes a server for down (Redis' own default is 30000)",
            values: Values::Count,
        },
        Setting {
            name: "failover_timeout_ms",
            default: "3000",
            about: "milliseconds that a step of a failover may take, and half of the pause between two tries (Redis' own default is 180000)",
            values: Values::Count,
        },
    ],
    client_ports: &[redis::PORT, PORT],
    peer_ports: &[redis::PORT, PORT],
    plan: plan::plan,
    probe: probe::probe,
    model: model::model,
    ..REDIS
};
