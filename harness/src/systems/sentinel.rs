//! Redis with replicas and sentinels: a server and a sentinel on every node, the first server the primary.

use super::{Family, Setting, System, redis::PERSISTENCE};

/// Primary, replicas, sentinels.
pub static SENTINEL: System = System {
    name: "redis-sentinel",
    family: Family::Sentinel,
    default_nodes: 3,
    max_nodes: 7,
    clustered: true,
    settings: &[
        PERSISTENCE,
        Setting {
            name: "down_after_ms",
            default: "1000",
            about: "milliseconds without answer after which a sentinel takes a server for down (Redis' own default is 30000)",
            values: &[],
        },
        Setting {
            name: "failover_timeout_ms",
            default: "3000",
            about: "milliseconds that a step of a failover may take, and half of the pause between two tries (Redis' own default is 180000)",
            values: &[],
        },
    ],
    about: "a Redis primary with replicas, and a sentinel beside each",
};
