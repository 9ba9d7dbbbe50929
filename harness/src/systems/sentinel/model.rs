#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

use std::rc::Rc;

use simulation::{
    Node, NodeId,
    redis::{
        Kept, Options, Replicated,
        sentinel::{self, Sentinel},
    },
};

use crate::systems::{Service, Setup, redis::persistence, service::Running};

/// A server and its sentinel.
struct Model {
    members: Vec<NodeId>,
    kept: Kept,
    options: Options,
    running: Running<(Rc<Replicated>, Rc<Sentinel>)>,
}

pub(super) fn model(setup: &Setup<'_>, node: NodeId, members: &[NodeId]) -> Box<dyn Service> {
    let sentinel = sentinel::Options {
        down_after_ms: setup.number("down_after_ms") as i64,
        failover_timeout_ms: setup.number("failover_timeout_ms") as i64,
    };
    Box::new(Model {
        members: members.to_vec(),
        kept: Kept::new(members.first().copied().filter(|first| *first != node)),
        options: Options::of_version(setup.modelled_version(), persistence(setup), sentinel),
        running: Running::none(),
    })
}

impl Service for Model {
    fn start(&self, node: &Node) {
        let server = Replicated::start(node, self.options, &self.kept);
        let sentinel = Sentinel::start(&server, &self.members);
        self.running.set(Rc::new((server, sentinel)));
    }

    fn lose_unsynced(&self) -> Option<usize> {
        Some(self.kept.disk.lose_unsynced())
    }

    fn is_ready(&self) -> bool {
        self.running.ask(|(server, _)| server.is_in_sync()).unwrap_or(false)
    }

    /// A primary's term is the epoch in which its own sentinel says it was promoted, or 0.
    fn leads(&self) -> Option<u64> {
        self.running.ask(|(server, sentinel)| {
            let (primary, epoch) = sentinel.primary();
            let is_promoted = self.members[primary] == server.id();
            server.is_primary().then_some(if is_promoted { epoch } else { 0 })
        })?
    }
}
