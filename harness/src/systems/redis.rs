//! Redis: one server, or several that know nothing of each other.

use super::{DATA, Family, ServerPlan, Setting, System, programs};
use crate::catalog::LayoutEntry;

pub(super) const PERSISTENCE: Setting = Setting {
    name: "persistence",
    default: "none",
    about: "what survives a restart: none, everysec (append-only file, synced once a second) or always (synced before each answer)",
    values: &["none", "everysec", "always"],
};

/// One server.
pub static REDIS: System = System {
    name: "redis",
    family: Family::Redis,
    default_nodes: 1,
    max_nodes: 1,
    clustered: false,
    settings: &[PERSISTENCE],
    about: "one Redis server",
};

/// Unrelated primaries, for Redlock.
pub static INDEPENDENT: System = System {
    name: "redis-independent",
    family: Family::Redis,
    default_nodes: 5,
    max_nodes: 9,
    clustered: false,
    settings: &[PERSISTENCE],
    about: "several unrelated Redis servers, for Redlock",
};

pub(super) fn plan(value: &impl Fn(&str) -> String, layouts: &[LayoutEntry]) -> ServerPlan {
    let persistence = value("persistence");
    let append = if persistence == "none" { "no" } else { "yes" };
    let sync = if persistence == "none" { "no" } else { persistence.as_str() };
    let mut args: Vec<String> = Vec::new();
    for (name, setting) in [
        ("bind", "0.0.0.0"),
        ("port", "6379"),
        ("protected-mode", "no"),
        ("daemonize", "no"),
        ("dir", DATA),
        ("save", ""),
        ("appendonly", append),
        ("appendfsync", sync),
        // Active expiry runs hz times a second; the default of 10 is what users have.
        ("loglevel", "notice"),
    ] {
        args.extend([format!("--{name}"), setting.to_string()]);
    }
    ServerPlan { files: Vec::new(), programs: vec![programs(layouts, &args)] }
}
