//! Partition: packets between nodes are dropped, on the node itself, by rules that count what they drop.
//!
//! Evidence: packets counted by the rules; none at all means `no-effect`. Established connections are cut too.
//! What each target cuts from what is in [`crate::links`].

use std::collections::BTreeSet;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Fault,
    info::{KindInfo, Times},
    own::{Asks, Parameters, Unfit, asked},
};
use crate::{
    draw::Draw,
    life::{Aim, Ended, On, Policy, Report, Shows, reported},
    links::{From, links},
    resolve::{NoTarget, View},
    target::Target,
    verbs::{Answer, Direction},
};

/// What there is to know about it.
pub static INFO: KindInfo = KindInfo {
    name: "partition",
    label: "cut off",
    colour: "#d98e04",
    about: "Packets are dropped: a server, the leader, a minority or majority from the others; a client from the \
            service (never from the resource); two halves; or groups by name. One-way with `direction`.",
    phrase: ["{} was cut off", "{} were cut off"],
    akin: None,
    shown,
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
    times: Times { every_percent: (250, 400), lasts_percent: (100, 200) },
    rolling: None,
};

asked! {
    /// Which packets are dropped. Given groups are the target.
    {
        /// `in`, `out` or `both`, which is the default.
        direction: Direction,
        /// Servers: from `all`, `servers` or `clients`; drawn between the first two by default.
        from: From,
        /// The sides, as lists of nodes.
        groups: Vec<Vec<String>>,
    }
}

impl Asks for Asked {
    fn target(&self) -> Option<Target> {
        self.groups.is_some().then_some(Target::Groups)
    }

    fn named(&self) -> Vec<&String> {
        self.groups.iter().flatten().flatten().collect()
    }

    fn check(&self, target: &Target) -> Result<(), Unfit> {
        check_groups(target, self.groups.as_deref().unwrap_or_default())
    }

    /// A cut between them meets no packet.
    fn among_strangers(&mut self, target: &Target) {
        if target.is_servers() {
            self.from.get_or_insert(From::All);
        }
    }

    fn draw(&self, target: &Target, _nth: usize, _ttl_ms: u64, draw: &mut Draw) -> Fault {
        let drawn = if draw.below(2) == 0 { From::All } else { From::Servers };
        let partition = Partition {
            direction: self.direction,
            from: target.is_servers().then(|| self.from.unwrap_or(drawn)),
            groups: self.groups.clone().unwrap_or_default(),
        };
        partition.into()
    }
}

/// A partition. Those of one node do not touch each other: each has rules of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// Which way packets are dropped; both when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Of servers: from whom; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<From>,
    /// The sides of target `groups`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Vec<String>>,
}

impl Parameters for Partition {
    fn named(&self) -> Vec<&String> {
        self.groups.iter().flatten().collect()
    }

    fn check(&self, target: &Target) -> Result<(), Unfit> {
        check_groups(target, &self.groups)
    }

    fn in_words(&self) -> Vec<String> {
        let direction = match self.direction.unwrap_or_default() {
            Direction::In => Some("inbound only"),
            Direction::Out => Some("outbound only"),
            Direction::Both => None,
        };
        let from = match self.from {
            Some(From::Servers) => Some("from the servers"),
            Some(From::Clients) => Some("from the clients"),
            Some(From::All) | None => None,
        };
        let sides: Vec<_> = self.groups.iter().map(|group| group.join(" ")).collect();
        let sides = (!sides.is_empty()).then(|| sides.join(" | "));
        [direction, from].into_iter().flatten().map(str::to_owned).chain(sides).collect()
    }
}

#[async_trait(?Send)]
impl Policy for Partition {
    fn shows(&self) -> Shows {
        Shows::End
    }

    fn aim(&self, target: &Target, view: &View, seed: u64) -> Result<Aim, NoTarget> {
        links(target, self.from.unwrap_or(From::All), &self.groups, view, seed).map(Aim::at_links)
    }

    async fn apply(&self, on: &On<'_>) -> Answer<Report> {
        reported(on.cut(self.direction.unwrap_or_default()).await)
    }

    async fn heal(&self, on: &On<'_>) -> Ended<Report> {
        Ended::By(reported(on.mend().await))
    }
}

fn shown(shown: &Map<String, Value>) -> Option<String> {
    Some(format!("{} packets dropped", shown.get("packets")?))
}

/// Groups are given exactly when the target says so, are at least two, and share no node.
fn check_groups(target: &Target, groups: &[Vec<String>]) -> Result<(), Unfit> {
    match (target == &Target::Groups, groups.len()) {
        (false, 0) => return Ok(()),
        (false, _) => return Err(Unfit(format!("`groups` needs target `groups`, not `{target}`"))),
        (true, 0 | 1) => {
            return Err(
                "target `groups` needs at least two, such as groups = [[\"s1\", \"c1\"], [\"s2\"]]".into()
            );
        }
        (true, _) => {}
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = groups.iter().flatten().find(|node| !seen.insert(*node)) {
        return Err(Unfit(format!("`{twice}` is in two groups")));
    }
    if groups.iter().any(Vec::is_empty) { Err("a group is empty".into()) } else { Ok(()) }
}
