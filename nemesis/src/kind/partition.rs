//! Partition: packets between nodes are dropped, on the node itself, by rules that count what they drop.
//!
//! Evidence: packets counted by the rules; none at all means `no-effect`. Established connections are cut too.
//! What each target cuts from what is in [`crate::partition`].

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{
    FaultKind, KindInfo,
    policy::{On, Policy, Shows},
};
use crate::{
    draw::Draw,
    duration::DurationRange,
    life::{Aim, Report, reported},
    partition,
    plan::{FaultSpec, SpecTable},
    resolve::{NoTarget, View},
    schedule::{Params, ScheduledFault},
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

/// `[faults.partition]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Who; the kind's default when absent, `groups` when groups are given.
    pub target: Option<Target>,
    /// From one start to the next.
    pub every: Option<DurationRange>,
    /// How long each lasts.
    pub lasts: Option<DurationRange>,
    /// `in`, `out` or `both`.
    pub direction: Option<Direction>,
    /// Servers: from `all`, `servers` or `clients`.
    pub from: Option<From>,
    /// The sides, as lists of nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Vec<String>>>,
}

impl SpecTable for Table {
    fn into_spec(self, kind: FaultKind) -> FaultSpec {
        let groups = self.groups.is_some().then_some(Target::Groups);
        FaultSpec {
            direction: self.direction,
            from: self.from,
            groups: self.groups.unwrap_or_default(),
            ..FaultSpec::timed(kind, self.target.or(groups), self.every, self.lasts)
        }
    }

    fn of(spec: FaultSpec) -> Table {
        let FaultSpec { target, every, lasts, direction, from, groups, .. } = spec;
        let groups = (!groups.is_empty()).then_some(groups);
        Table { target: Some(target), every, lasts, direction, from, groups }
    }
}

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

    fn draw(&self, spec: &FaultSpec, _nth: usize, _ttl_ms: u64, draw: &mut Draw) -> Params {
        let drawn = if draw.below(2) == 0 { From::All } else { From::Servers };
        Params {
            direction: spec.direction,
            from: spec.target.is_servers().then(|| spec.from.unwrap_or(drawn)),
            groups: spec.groups.clone(),
            by_ms: None,
        }
    }

    async fn apply(&self, on: &On<'_>) -> Answer<Report> {
        let cut = on.aim.cuts.iter().find(|cut| cut.node == on.node);
        let cut = cut.ok_or_else(|| format!("{} has no rules", on.node))?;
        reported(on.verbs.cut(on.fault.id, cut).await)
    }

    async fn heal(&self, on: &On<'_>, _left: &[ScheduledFault]) -> Option<Answer<Report>> {
        Some(reported(on.verbs.mend(on.fault.id, on.node).await))
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
