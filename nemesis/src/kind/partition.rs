//! Partition: packets between nodes are dropped, on the node itself, by rules that count what they drop.
//!
//! Evidence: packets counted by the rules; none at all means `no-effect`. Established connections are cut too.
//! What each target cuts from what is in [`crate::partition`].

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{
    KindInfo,
    policy::{On, Policy, Shows},
};
use crate::{
    life::{Aim, Report},
    partition,
    resolve::{NoTarget, View},
    schedule::ScheduledFault,
    target::Target,
    verbs::Answer,
};

static INFO: KindInfo = KindInfo {
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

/// The policy. Partitions of one node do not touch each other: each has rules of its own.
pub(super) struct Partition;

#[async_trait(?Send)]
impl Policy for Partition {
    fn info(&self) -> &'static KindInfo {
        &INFO
    }

    fn shows(&self) -> Shows {
        Shows::End
    }

    fn aim(&self, fault: &ScheduledFault, view: &View) -> Result<Aim, NoTarget> {
        let cuts = partition::cuts(fault, view)?;
        Ok(Aim { targets: cuts.iter().map(|cut| cut.node.clone()).collect(), cuts })
    }

    async fn apply(&self, on: &On<'_>) -> Answer<Report> {
        let cut = on.aim.cuts.iter().find(|cut| cut.node == on.node);
        let cut = cut.ok_or_else(|| format!("{} has no rules", on.node))?;
        Ok(on.verbs.cut(on.fault.id, cut).await?.map(Report::from))
    }

    async fn heal(&self, on: &On<'_>, _left: &[ScheduledFault]) -> Option<Answer<Report>> {
        Some(on.verbs.mend(on.fault.id, on.node).await.map(|done| done.map(Report::from)))
    }
}

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
