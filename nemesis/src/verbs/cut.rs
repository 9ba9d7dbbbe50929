//! What is asked of a cut.

use serde::{Deserialize, Serialize};

/// Rules for one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The node that gets the rules.
    pub node: String,
    /// Whom it no longer reaches or hears.
    pub peers: Vec<String>,
    /// Which way, as `node` sees it.
    pub direction: Direction,
}

/// Which way packets go, as the node sees it on which something is done to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Packets to the node.
    In,
    /// Packets from the node.
    Out,
    /// Both.
    #[default]
    Both,
}
