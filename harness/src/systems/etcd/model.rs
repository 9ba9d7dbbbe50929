#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

use simulation::{
    Node, NodeId,
    etcd::{Kept, Options, Server},
    raft::Timing,
};

use crate::systems::{
    Service, Setup,
    service::{Running, SYNC},
};

/// A member.
struct Model {
    members: Vec<NodeId>,
    kept: Kept,
    options: Options,
    running: Running<Server>,
}

pub(super) fn model(setup: &Setup<'_>, _node: NodeId, members: &[NodeId]) -> Box<dyn Service> {
    let (heartbeat, election) = (setup.number("heartbeat_ms"), setup.number("election_ms"));
    let timing = Timing {
        tick_ns: heartbeat * 1_000_000,
        heartbeat_ticks: 1,
        election_ticks: election.div_ceil(heartbeat).max(2) as u32,
        sync_ns: SYNC.as_nanos() as u64,
    };
    Box::new(Model {
        members: members.to_vec(),
        kept: Kept::default(),
        options: Options::of_version(setup.modelled_version(), timing),
        running: Running::none(),
    })
}

impl Service for Model {
    fn start(&self, node: &Node) {
        self.running.set(Server::start(node, &self.members, self.options, &self.kept));
    }

    fn is_ready(&self) -> bool {
        self.running.ask(Server::leader).flatten().is_some()
    }

    fn leads(&self) -> Option<u64> {
        self.running.ask(Server::leads)?
    }
}
