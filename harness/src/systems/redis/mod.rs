//! Redis: one server, or several that know nothing of each other.

mod model;
mod plan;
mod probe;

pub(super) use model::persistence;
pub(super) use plan::append_only;

use super::{Servers, Setting, System, Values};

/// Where a server listens.
pub(super) const PORT: u16 = 6379;

/// A setting of every system that is made of Redis servers.
pub(super) const PERSISTENCE: Setting = Setting {
    name: "persistence",
    default: "none",
    about: "what survives a restart: none, everysec (append-only file, synced once a second) or always (synced before each answer)",
    values: Values::OneOf(&["none", "everysec", "always"]),
};

/// One server.
pub static REDIS: System = System {
    name: "redis",
    about: "one Redis server",
    images: "redis",
    default_nodes: 1,
    max_nodes: 1,
    servers: Servers::One,
    settings: &[PERSISTENCE],
    client_ports: &[PORT],
    peer_ports: &[],
    plan: plan::plan,
    probe: probe::probe,
    modelled: "7.0",
    model: model::model,
};

/// Unrelated primaries, for Redlock.
pub static INDEPENDENT: System = System {
    name: "redis-independent",
    about: "several unrelated Redis servers, for Redlock",
    default_nodes: 5,
    max_nodes: 9,
    servers: Servers::Strangers,
    ..REDIS
};
