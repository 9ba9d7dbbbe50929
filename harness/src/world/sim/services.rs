//! The servers of a run: which model, with which settings, from which disk.

use std::{cell::RefCell, rc::Rc, time::Duration};

use simulation::{Node, NodeId, disk::Disk, etcd, raft::Timing, redis, zookeeper};

use crate::{experiment::Experiment, systems::Family};

/// A sync of a disk, as containers on memory have it.
const SYNC: Duration = Duration::from_micros(500);

/// One server: what it runs and what its disk keeps.
pub(super) enum Service {
    Redis {
        disk: Disk<redis::Change>,
        persistence: redis::Persistence,
    },
    /// A server and its sentinel.
    Replicated {
        members: Vec<NodeId>,
        kept: redis::Kept,
        options: redis::Options,
        server: Running<(Rc<redis::Replicated>, Rc<redis::sentinel::Sentinel>)>,
    },
    Etcd {
        members: Vec<NodeId>,
        kept: etcd::Kept,
        options: etcd::Options,
        server: Running<Rc<etcd::Server>>,
    },
    Zookeeper {
        members: Vec<NodeId>,
        kept: zookeeper::Kept,
        options: zookeeper::Options,
        server: Running<Rc<zookeeper::Server>>,
    },
}

type Running<T> = RefCell<Option<T>>;

impl Service {
    /// What runs on `node`, one of the members.
    pub(super) fn new(experiment: &Experiment, node: NodeId, members: &[NodeId]) -> Service {
        let setting = |name: &str| setting(experiment, name);
        let number = |name: &str| setting(name).parse::<u64>().unwrap_or(1).max(1);
        let (members, server) = (members.to_vec(), || RefCell::new(None));
        let persistence = match setting("persistence").as_str() {
            "always" => redis::Persistence::Always(SYNC),
            "everysec" => redis::Persistence::EverySecond,
            _ => redis::Persistence::None,
        };
        match experiment.system().family {
            Family::Redis => Service::Redis { disk: Disk::default(), persistence },
            Family::Sentinel => {
                let sentinel = redis::sentinel::Options {
                    down_after_ms: number("down_after_ms") as i64,
                    failover_timeout_ms: number("failover_timeout_ms") as i64,
                };
                let options = redis::Options::of_version(&version(experiment), persistence, sentinel);
                let kept = redis::Kept::new(members.first().copied().filter(|first| *first != node));
                Service::Replicated { members, kept, options, server: RefCell::new(None) }
            }
            Family::Etcd => {
                let (heartbeat, election) = (number("heartbeat_ms"), number("election_ms"));
                let timing = Timing {
                    tick_ns: heartbeat * 1_000_000,
                    heartbeat_ticks: 1,
                    election_ticks: election.div_ceil(heartbeat).max(2) as u32,
                    sync_ns: SYNC.as_nanos() as u64,
                };
                let options = etcd::Options::of_version(&version(experiment), timing);
                Service::Etcd { members, kept: etcd::Kept::default(), options, server: RefCell::new(None) }
            }
            Family::Zookeeper => {
                let options = zookeeper::Options {
                    tick_ms: number("tick_ms"),
                    sync_limit: number("sync_limit") as u32,
                    session_timeout_ms_max: (experiment.ttl.as_millis() as u64 * 10).max(60_000),
                };
                Service::Zookeeper { members, kept: zookeeper::Kept::default(), options, server: server() }
            }
        }
    }

    /// Starts it on a living node, with what its disk kept.
    pub(super) fn start(&self, node: &Node) {
        match self {
            Service::Redis { disk, persistence } => redis::start(node, disk, *persistence),
            Service::Replicated { members, kept, options, server } => {
                let started = redis::Replicated::start(node, *options, kept);
                let sentinel = redis::sentinel::Sentinel::start(&started, members);
                *server.borrow_mut() = Some((started, sentinel));
            }
            Service::Etcd { members, kept, options, server } => {
                *server.borrow_mut() = Some(etcd::Server::start(node, members, *options, kept));
            }
            Service::Zookeeper { members, kept, options, server } => {
                *server.borrow_mut() = Some(zookeeper::Server::start(node, members, *options, kept));
            }
        }
    }

    /// A power cut; how many records it lost, for servers whose disk is modelled with a cache.
    pub(super) fn lose_unsynced(&self) -> Option<usize> {
        match self {
            Service::Redis { disk, .. } => Some(disk.lose_unsynced()),
            Service::Replicated { kept, .. } => Some(kept.disk.lose_unsynced()),
            Service::Etcd { .. } | Service::Zookeeper { .. } => None,
        }
    }

    /// Whether clients can use it.
    pub(super) fn is_ready(&self) -> bool {
        match self {
            Service::Redis { .. } => true,
            Service::Replicated { server, .. } => {
                server.borrow().as_ref().is_some_and(|(server, _)| server.is_in_sync())
            }
            Service::Etcd { server, .. } => server.borrow().as_ref().is_some_and(|s| s.leader().is_some()),
            Service::Zookeeper { server, .. } => server.borrow().as_ref().is_some_and(|s| s.serves()),
        }
    }

    /// The term in which it leads, if it does. A lone Redis server leads itself; a primary's term is the epoch in which
    /// its own sentinel says it was promoted, or 0.
    pub(super) fn leads(&self) -> Option<u64> {
        match self {
            Service::Redis { .. } => Some(0),
            Service::Replicated { members, server, .. } => {
                let running = server.borrow();
                let (server, sentinel) = running.as_ref().filter(|(server, _)| server.is_primary())?;
                let (primary, epoch) = sentinel.primary();
                Some(if members[primary] == server.id() { epoch } else { 0 })
            }
            Service::Etcd { server, .. } => server.borrow().as_ref().and_then(|server| server.leads()),
            Service::Zookeeper { server, .. } => server.borrow().as_ref().and_then(|server| server.leads()),
        }
    }
}

/// A setting of the system, or its default.
fn setting(experiment: &Experiment, name: &str) -> String {
    let known = experiment.system().settings.iter().find(|setting| setting.name == name);
    let given = experiment.settings.get(name).cloned();
    given.unwrap_or_else(|| known.map_or_else(String::new, |setting| setting.default.to_owned()))
}

/// The version whose contract is modelled: the one asked for, or the newest that the models know.
pub(super) fn version(experiment: &Experiment) -> String {
    let newest = match experiment.system().family {
        Family::Redis | Family::Sentinel => "7.0",
        Family::Etcd => "3.5.16",
        Family::Zookeeper => "3.8",
    };
    experiment.version.clone().unwrap_or_else(|| newest.to_owned())
}
