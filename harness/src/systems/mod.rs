//! The services under test: how each is configured, started, found ready, and asked who leads.

mod etcd;
mod redis;
pub mod sentinel;
mod zookeeper;

use std::{collections::BTreeMap, net::Ipv4Addr, time::Duration};

use crate::{agent::protocol::Program, catalog::LayoutEntry};

/// One server of a run, before it exists.
#[derive(Clone, Debug)]
pub struct Member {
    /// `s1`, `s2`, …
    pub node: String,
    /// Its fixed address.
    pub address: Ipv4Addr,
}

/// What to put on a server's node and what to start there.
#[derive(Clone, Debug)]
pub struct ServerPlan {
    /// Path and content.
    pub files: Vec<(String, String)>,
    /// The node's programs, the server first. Of each, ways to start it; the first that fits the image is taken.
    pub programs: Vec<Vec<Program>>,
}

/// What a system is, apart from its images.
pub struct System {
    /// As users write it.
    pub name: &'static str,
    /// Whose images it runs on: `redis-independent` is made of `redis` servers.
    pub family: Family,
    /// Servers when nobody says otherwise.
    pub default_nodes: u32,
    /// Greatest sensible number of servers.
    pub max_nodes: u32,
    /// Whether its servers know of each other.
    pub clustered: bool,
    /// Its settings: name, default, and what it is.
    pub settings: &'static [Setting],
    /// One sentence.
    pub about: &'static str,
}

/// A setting of a system, given as `--set name=value` or under `[system]`.
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its default, as it would be written.
    pub default: &'static str,
    /// What it does, with the unit.
    pub about: &'static str,
    /// The values it can take, where they are few.
    pub values: &'static [&'static str],
}

/// Which program a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// redis-server
    Redis,
    /// redis-server, and beside it another as a sentinel
    Sentinel,
    /// etcd
    Etcd,
    /// Apache ZooKeeper
    Zookeeper,
}

/// All systems.
pub static ALL: [&System; 5] =
    [&redis::REDIS, &redis::INDEPENDENT, &sentinel::SENTINEL, &etcd::ETCD, &zookeeper::ZOOKEEPER];

impl System {
    /// By name.
    pub fn named(name: &str) -> Option<&'static System> {
        ALL.into_iter().find(|system| system.name == name)
    }

    /// What goes on each member. `layouts` say where the image may keep its programs.
    pub fn plan(
        &self,
        members: &[Member],
        settings: &BTreeMap<String, String>,
        ttl: Duration,
        layouts: &[LayoutEntry],
    ) -> Vec<ServerPlan> {
        let value = |name: &str| -> String {
            let setting = self.settings.iter().find(|setting| setting.name == name);
            settings
                .get(name)
                .cloned()
                .unwrap_or_else(|| setting.map_or("", |setting| setting.default).to_string())
        };
        members
            .iter()
            .enumerate()
            .map(|(index, _)| match self.family {
                Family::Redis => redis::plan(&value, layouts),
                Family::Sentinel => sentinel::plan(members, index, &value, layouts),
                Family::Etcd => etcd::plan(members, index, &value, layouts),
                Family::Zookeeper => zookeeper::plan(members, index, &value, ttl, layouts),
            })
            .collect()
    }
}

impl Family {
    /// The port that clients use.
    pub fn port(self) -> u16 {
        self.client_ports()[0]
    }

    /// The ports at which clients use a server.
    pub fn client_ports(self) -> &'static [u16] {
        match self {
            Family::Redis => &[6379],
            Family::Sentinel => &[6379, sentinel::PORT],
            Family::Etcd => &[2379],
            Family::Zookeeper => &[2181],
        }
    }

    /// The ports at which every server is used by the others; none where they know nothing of each other.
    pub fn peer_ports(self) -> &'static [u16] {
        match self {
            Family::Redis => &[],
            Family::Sentinel => &[6379, sentinel::PORT],
            Family::Etcd => &[2379, 2380],
            // Followers also use 2888, at which the leader alone listens.
            Family::Zookeeper => &[2181, 3888],
        }
    }

    /// Name of its images in the catalog.
    pub fn images(self) -> &'static str {
        match self {
            Family::Sentinel => "redis",
            own => own.name(),
        }
    }

    /// Name of its probe.
    pub fn name(self) -> &'static str {
        match self {
            Family::Redis => "redis",
            Family::Sentinel => "redis-sentinel",
            Family::Etcd => "etcd",
            Family::Zookeeper => "zookeeper",
        }
    }
}

/// Where servers keep their data: memory of the container, so that nothing is left and disks do not slow a run.
pub const DATA: &str = "/fencepost-data";

/// A program for each layout: its binary and, for Java, its classpath, flags and main class before `args`.
fn programs(layouts: &[LayoutEntry], args: &[String]) -> Vec<Program> {
    let program = |layout: &LayoutEntry| {
        let java = layout.flags.iter().chain((!layout.main.is_empty()).then_some(&layout.main));
        Program {
            when: layout.when.clone(),
            candidates: layout.program.clone(),
            classpath: (!layout.classpath.is_empty()).then(|| layout.classpath.clone()),
            args: java.chain(args).cloned().collect(),
            cwd: Some(DATA.into()),
            ..Program::default()
        }
    };
    layouts.iter().map(program).collect()
}
