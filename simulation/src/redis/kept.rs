//! What outlives the processes of a node.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use super::keyspace::Change;
use crate::{disk::Disk, node::NodeId};

/// What outlives the process: the append-only file, and both programs' configuration files.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The append-only file.
    pub disk: Disk<Change>,
    pub(super) replica_of: Rc<Cell<Option<NodeId>>>,
    pub(super) sentinel: Rc<RefCell<SentinelKept>>,
}

impl Kept {
    /// A fresh server, a replica of `primary` if there is one.
    pub fn new(primary: Option<NodeId>) -> Kept {
        let replica_of = Rc::new(Cell::new(primary));
        Kept { disk: Disk::default(), replica_of, sentinel: Rc::default() }
    }
}

/// What a sentinel writes to its configuration file, and syncs, before it acts on it.
#[derive(Clone, Debug, Default)]
pub(super) struct SentinelKept {
    pub(super) epoch: Epoch,
    /// The epoch in which `primary` was promoted.
    pub(super) config_epoch: Epoch,
    pub(super) primary: Member,
    pub(super) vote: Option<Vote>,
}

/// Position of a server, and of the sentinel on its node, among the members.
pub(super) type Member = usize;
/// Counts elections: the greater is the newer.
pub(super) type Epoch = u64;

/// One vote an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vote {
    pub(super) leader: Member,
    pub(super) epoch: Epoch,
}
