//! The network: links between nodes, streams that behave like TCP, and datagrams.

mod connect;
mod connection;
mod datagram;
mod delay;
mod link;
mod stream;

use std::{any::Any, collections::BTreeMap, fmt::Debug};

pub use connect::{ConnectError, Listener};
pub use connection::{Closed, Connection, Reader, Writer};
pub use datagram::Inbox;
pub use delay::{DelayId, Held, Hold};
pub use link::Quality;
use link::{Fate, Link};

use super::node::{Node, NodeId};

/// Anything that travels. Its `Debug` form labels the arrow in a message diagram.
pub trait Payload: Any + Debug {}

impl<T: Any + Debug> Payload for T {}

/// Where a service listens.
pub type Port = u16;

/// One message, as a diagram shows it. Times in nanoseconds since the run began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Sender.
    pub from: NodeId,
    /// Receiver.
    pub to: NodeId,
    /// When it was sent.
    pub sent: u64,
    /// When it arrived; `None` when it was lost or has not arrived yet.
    pub arrived: Option<u64>,
    /// What it said.
    pub label: String,
}

/// Messages that are kept: some 200 bytes each, and a long run has no end of them.
const ARROWS_MAX: usize = 1_000_000;

/// All state of the network.
pub(super) struct Net {
    seed: u64,
    nodes: usize,
    /// Row: sender; column: receiver. Rows grow with the nodes.
    links: Vec<Vec<Link>>,
    streams: Vec<stream::Stream>,
    free_streams: Vec<u32>,
    listeners: BTreeMap<(NodeId, Port), connect::Backlog>,
    inboxes: BTreeMap<(NodeId, Port), datagram::Queue>,
    arrows: Option<Vec<Arrow>>,
    /// Messages beyond those that are kept.
    arrows_left_out: u64,
}

impl Net {
    pub(super) fn new(seed: u64) -> Net {
        Net {
            seed,
            nodes: 0,
            links: Vec::new(),
            streams: Vec::new(),
            free_streams: Vec::new(),
            listeners: BTreeMap::new(),
            inboxes: BTreeMap::new(),
            arrows: None,
            arrows_left_out: 0,
        }
    }

    pub(super) fn add_node(&mut self) {
        let id = self.nodes as u16;
        for (from, row) in self.links.iter_mut().enumerate() {
            row.push(Link::new(self.seed, from as u16, id));
        }
        self.nodes += 1;
        self.links.push((0..self.nodes).map(|to| Link::new(self.seed, id, to as u16)).collect());
        debug_assert!(
            self.links.iter().all(|row| row.len() == self.links.len()),
            "a link leads from each node to each"
        );
    }

    /// A dead process listens nowhere.
    pub(super) fn forget(&mut self, node: NodeId) {
        assert!(node.index() < self.nodes, "the network knows every node");
        self.listeners.retain(|(owner, _), _| *owner != node);
        self.inboxes.retain(|(owner, _), _| *owner != node);
    }

    /// Called for a scheduled arrival: wakes whoever waits for it.
    pub(super) fn arrival(&mut self, stream: u32) {
        self.streams.get_mut(stream as usize).into_iter().for_each(stream::Stream::arrival);
    }

    /// The end of the simulation.
    pub(super) fn close(&mut self) {
        self.streams.clear();
        self.listeners.clear();
        self.inboxes.clear();
    }

    fn link(&mut self, from: NodeId, to: NodeId) -> &mut Link {
        &mut self.links[from.index()][to.index()]
    }

    fn draw_arrow(&mut self, from: NodeId, to: NodeId, sent: u64, arrived: Option<u64>, what: &dyn Debug) {
        if self.arrows.is_some() {
            self.label_arrow(from, to, sent, arrived, Some(format!("{what:?}")));
        }
    }

    fn label_arrow(
        &mut self,
        from: NodeId,
        to: NodeId,
        sent: u64,
        arrived: Option<u64>,
        label: Option<String>,
    ) {
        match (&mut self.arrows, label) {
            (Some(arrows), Some(label)) if arrows.len() < ARROWS_MAX => {
                arrows.push(Arrow { from, to, sent, arrived, label });
            }
            (Some(_), Some(_)) => self.arrows_left_out += 1,
            _ => {}
        }
    }
}

/// Packets that a link treated in a special way: the evidence of network faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packets {
    /// Taken by cuts.
    pub cut: u64,
    /// Taken by chance.
    pub lost: u64,
    /// Carried under a quality other than the default.
    pub shaped: u64,
}

impl Node {
    /// Cuts the way from this node to `to`; the way back stays. Cuts add up.
    pub fn cut(&self, to: NodeId) {
        self.core.net.borrow_mut().link(self.id(), to).cuts += 1;
    }

    /// Mends one cut. Returns whether packets pass again.
    pub fn mend(&self, to: NodeId) -> bool {
        let mut net = self.core.net.borrow_mut();
        let link = net.link(self.id(), to);
        link.cuts = link.cuts.saturating_sub(1);
        link.cuts == 0
    }

    /// Sets how packets from here to `to` are treated.
    pub fn set_quality(&self, to: NodeId, quality: Quality) {
        self.core.net.borrow_mut().link(self.id(), to).quality = quality;
    }

    /// What the link from here to `to` has done so far.
    pub fn packets(&self, to: NodeId) -> Packets {
        let mut net = self.core.net.borrow_mut();
        let link = net.link(self.id(), to);
        Packets { cut: link.cut_packets, lost: link.lost_packets, shaped: link.shaped_packets }
    }
}

impl super::Sim {
    /// From now on messages, up to [`ARROWS_MAX`], are kept for a diagram. Costs time; decisions stay the same.
    pub fn record_messages(&self) {
        self.core().net.borrow_mut().arrows.get_or_insert_default();
    }

    /// The messages kept so far, in order of sending.
    pub fn take_messages(&self) -> Vec<Arrow> {
        self.core().net.borrow_mut().arrows.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// How many were sent after the last one that was kept.
    pub fn messages_left_out(&self) -> u64 {
        self.core().net.borrow().arrows_left_out
    }
}
