#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

use simulation::{Node, NodeId, disk::Disk, redis};

use crate::systems::{Service, Setup, service::SYNC};

/// A server by itself.
struct Model {
    disk: Disk<redis::Change>,
    persistence: redis::Persistence,
}

pub(super) fn model(setup: &Setup<'_>, _node: NodeId, _members: &[NodeId]) -> Box<dyn Service> {
    Box::new(Model { disk: Disk::default(), persistence: persistence(setup) })
}

/// What a modelled server keeps on its disk.
pub(in crate::systems) fn persistence(setup: &Setup<'_>) -> redis::Persistence {
    match setup.value("persistence") {
        "always" => redis::Persistence::Always(SYNC),
        "everysec" => redis::Persistence::EverySecond,
        _ => redis::Persistence::None,
    }
}

impl Service for Model {
    fn start(&self, node: &Node) {
        redis::start(node, &self.disk, self.persistence);
    }

    fn lose_unsynced(&self) -> Option<usize> {
        Some(self.disk.lose_unsynced())
    }

    fn is_ready(&self) -> bool {
        true
    }

    /// It leads itself.
    fn leads(&self) -> Option<u64> {
        Some(0)
    }
}
