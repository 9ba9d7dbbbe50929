//! The services under test, a folder each: how it is configured, started, found ready and asked who leads, and how it
//! is modelled in the simulation.

mod etcd;
mod plan;
mod probe;
mod redis;
mod sentinel;
mod service;
mod setting;
mod setup;
mod zookeeper;

use std::net::SocketAddr;

pub use plan::{DATA, Member, ServerPlan};
pub use probe::{Probe, Unready};
pub use service::Service;
pub use setting::{BadValue, Setting, Values};
pub use setup::Setup;

use crate::catalog::LayoutEntry;
use simulation::NodeId;

/// All systems.
pub static ALL: [&System; 5] =
    [&redis::REDIS, &redis::INDEPENDENT, &sentinel::SENTINEL, &etcd::ETCD, &zookeeper::ZOOKEEPER];

/// What a system is, apart from its images.
pub struct System {
    /// As users write it.
    pub name: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Name of its images in the catalog: `redis-independent` is made of `redis` servers.
    pub images: &'static str,
    /// Servers when nobody says otherwise.
    pub default_nodes: u32,
    /// Greatest sensible number of servers.
    pub max_nodes: u32,
    /// What its servers are to each other.
    pub servers: Servers,
    /// Its settings.
    pub settings: &'static [Setting],
    /// The ports at which clients use a server, the usual one first.
    pub client_ports: &'static [u16],
    /// The ports at which every server is used by the others; none where they know nothing of each other.
    pub peer_ports: &'static [u16],
    /// What goes on one of the members, by its place among them. The layouts say where the image may keep its programs.
    pub plan: fn(&Setup<'_>, &[Member], usize, &[LayoutEntry]) -> ServerPlan,
    /// Uses the server at an address once, from its own node, and asks what it is.
    pub probe: fn(SocketAddr) -> Result<Probe, Unready>,
    /// The version whose contract is modelled when none is asked for: the newest that the model knows.
    pub modelled: &'static str,
    /// The model of the server on a node, one of the members.
    pub model: fn(&Setup<'_>, NodeId, &[NodeId]) -> Box<dyn Service>,
}

/// What a system's servers are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Servers {
    /// There is one, which leads itself.
    One,
    /// They know nothing of each other, so none of them leads.
    Strangers,
    /// They are one service, and one of them leads.
    Cluster,
}

impl System {
    /// By name.
    pub fn named(name: &str) -> Option<&'static System> {
        ALL.into_iter().find(|system| system.name == name)
    }

    /// The port that clients use.
    pub fn port(&self) -> u16 {
        self.client_ports[0]
    }

    /// Whether one of its servers leads.
    pub fn has_leader(&self) -> bool {
        self.servers != Servers::Strangers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn every_system_is_whole() {
        for system in ALL {
            let name = system.name;
            assert!(
                System::named(name).is_some_and(|named| std::ptr::eq(named, system)),
                "{name} is a name twice"
            );
            assert!((1..=system.max_nodes).contains(&system.default_nodes), "{name}");
            assert_eq!(system.servers == Servers::One, system.max_nodes == 1, "{name}");
            assert_eq!(system.servers == Servers::Cluster, !system.peer_ports.is_empty(), "{name}");
            assert!(!system.client_ports.is_empty(), "{name}");
            let defaults =
                catalog::CATALOG.images.iter().filter(|image| image.system == system.images && image.default);
            assert_eq!(defaults.count(), 1, "{name}");
            assert!(catalog::CATALOG.layouts.iter().any(|layout| layout.system == system.images), "{name}");
            for setting in system.settings {
                assert_eq!(setting.check(setting.default), Ok(()), "{name}");
            }
        }
    }
}
