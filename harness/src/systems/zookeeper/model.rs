#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

use simulation::{
    Node, NodeId,
    zookeeper::{Kept, Options, Server},
};

use super::session_timeout_ms_max;
use crate::systems::{Service, Setup, service::Running};

/// A server of an ensemble.
struct Model {
    members: Vec<NodeId>,
    kept: Kept,
    options: Options,
    running: Running<Server>,
}

pub(super) fn model(setup: &Setup<'_>, _node: NodeId, members: &[NodeId]) -> Box<dyn Service> {
    let options = Options {
        tick_ms: setup.number("tick_ms"),
        sync_limit: setup.number("sync_limit") as u32,
        session_timeout_ms_max: session_timeout_ms_max(setup.ttl),
    };
    Box::new(Model { members: members.to_vec(), kept: Kept::default(), options, running: Running::none() })
}

impl Service for Model {
    fn start(&self, node: &Node) {
        self.running.set(Server::start(node, &self.members, self.options, &self.kept));
    }

    fn is_ready(&self) -> bool {
        self.running.ask(Server::serves).unwrap_or(false)
    }

    fn leads(&self) -> Option<u64> {
        self.running.ask(Server::leads)?
    }
}
