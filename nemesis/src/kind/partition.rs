//! Partition: packets between nodes are dropped, on the node itself, by rules that count what they drop.
//!
//! Evidence: packets counted by the rules; none at all means `no-effect`. Established connections are cut too.
//! What each target cuts from what is in [`crate::partition`].

use serde::{Deserialize, Serialize};

use super::KindInfo;
use crate::target::Target;

pub(super) static INFO: KindInfo = KindInfo {
    name: "partition",
    label: "cut off",
    colour: "#d98e04",
    about: "Packets are dropped: a server, the leader, a minority or majority from the others; a client from the \
            service (never from the resource); two halves; or groups by name. One-way with `direction`.",
    default_target: Target::Server,
    targets: &[
        Target::Server,
        Target::Leader,
        Target::Holder,
        Target::Waiter,
        Target::Client,
        Target::Any,
        Target::Minority,
        Target::Majority,
        Target::Halves,
        Target::Groups,
        Target::Resource,
    ],
    every_ttl_percent: (250, 400),
    lasts_ttl_percent: (100, 200),
};

/// Which way packets are dropped, as the cut-off node sees it.
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

/// From whom a server is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// From the other servers and from the clients.
    All,
    /// From the other servers only: clients still reach it. A lone server has none, and is cut from the clients.
    Servers,
    /// From the clients only.
    Clients,
}
