//! Delay: packets between nodes are held for a while, on one of their ends, as on a slow link.
//!
//! Evidence: packets held, with the times, and the round trip to each peer before, meanwhile and after; no packet held
//! means `no-effect`. Established connections are as slow as new ones. What of them each target has is in
//! [`crate::links`]; beyond that the links of clients to the protected resource can be slow.

use async_trait::async_trait;
use history::node::Role;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Fault, FaultKind,
    info::{KindInfo, Times},
    own::{Asks, Parameters, Unfit, asked},
};
use crate::{
    draw::Draw,
    duration::{DurationRange, format_ms},
    life::{Aim, Ended, On, Policy, Report, Shows, reported},
    links::{self, links},
    resolve::{NoTarget, View, never, resolve},
    target::Target,
    verbs::{self, Answer, Direction, NotDone, Verbs},
};

/// What there is to know about it.
pub static INFO: KindInfo = KindInfo {
    name: "delay",
    label: "slow network",
    colour: "#4a90d9",
    about: "Packets are held for a while (`by`, more or less by `jitter`), in order, as on a slow link: between servers, \
            or between clients and the service or the resource (`from`). One-way with `direction`. By default about as \
            long as the TTL.",
    phrase: ["packets of {} were late", "packets of {} were late"],
    // Who hears nothing for a while, and is heard too late, may as well have stood still.
    akin: Some(FaultKind::Pause),
    shown,
    default_target: Target::Holder,
    targets: &[
        Target::Server,
        Target::Leader,
        Target::Holder,
        Target::Waiter,
        Target::Client,
        Target::Any,
        Target::Minority,
        Target::Majority,
        Target::Resource,
    ],
    times: Times { every_percent: (350, 450), lasts_percent: (200, 300) },
    rolling: None,
};

asked! {
    /// Which packets are held, and for how long.
    {
        /// For how long; drawn by the TTL by default.
        by: DurationRange,
        /// By how much more or less at most; a tenth of `by` by default.
        jitter: DurationRange,
        /// `in`, `out` or `both`, which is the default.
        direction: Direction,
        /// Servers: from `all`, `servers` or `clients`, drawn between the first two by default. Clients: from `all`,
        /// `servers` or `resource`, drawn between the last two.
        from: From,
    }
}

/// From whom packets come late, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// A server's from the other servers and the clients; a client's from the servers and the resource.
    All,
    /// From the servers.
    Servers,
    /// A server's from the clients.
    Clients,
    /// A client's from the protected resource.
    Resource,
}

impl Asks for Asked {
    fn check(&self, target: &Target) -> Result<(), Unfit> {
        if self.by.is_some_and(|by| by.to_ms == 0) {
            return Err("`by` holds packets for no time; write a duration such as \"2s\"".into());
        }
        if let (Some(by), Some(jitter)) = (self.by, self.jitter)
            && jitter.to_ms > by.from_ms
        {
            return Err("`jitter` is greater than `by`, and no packet can come before it is sent".into());
        }
        check_from(self.from, target)
    }

    /// Between them no packet is late.
    fn among_strangers(&mut self, target: &Target) {
        if target.is_servers() {
            self.from.get_or_insert(From::All);
        }
    }

    fn draw(&self, target: &Target, _nth: usize, ttl_ms: u64, draw: &mut Draw) -> Fault {
        let by =
            self.by.unwrap_or(DurationRange { from_ms: ttl_ms / 2, to_ms: ttl_ms.saturating_mul(3) / 2 });
        let by_ms = draw.between(by.from_ms, by.to_ms).max(1);
        let jitter = self.jitter.unwrap_or(DurationRange { from_ms: by_ms / 10, to_ms: by_ms / 10 });
        let jitter_ms = draw.between(jitter.from_ms, jitter.to_ms).min(by_ms);
        let drawn = match draw.below(2) {
            0 if target.is_servers() => From::All,
            0 => From::Resource,
            _ => From::Servers,
        };
        let fits = target.is_servers() || is_clients(target);
        let from = self.from.or(fits.then_some(drawn));
        Delay { by_ms, jitter_ms, direction: self.direction, from }.into()
    }
}

/// A delay. Those of one node add up where they are for the same packets: each has rules of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// For how long each packet is held, in milliseconds.
    #[serde(default)]
    pub by_ms: u64,
    /// By how much more or less at most, in milliseconds.
    #[serde(default)]
    pub jitter_ms: u64,
    /// Which way; both when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// From whom; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<From>,
}

impl Parameters for Delay {
    fn check(&self, target: &Target) -> Result<(), Unfit> {
        if self.by_ms == 0 {
            return Err("a scheduled delay needs `by_ms`".into());
        }
        if self.jitter_ms > self.by_ms {
            return Err(
                "`jitter_ms` is greater than `by_ms`, and no packet can come before it is sent".into()
            );
        }
        check_from(self.from, target)
    }

    fn in_words(&self) -> Vec<String> {
        let by = match self.jitter_ms {
            0 => format!("by {}", format_ms(self.by_ms)),
            jitter_ms => format!("by {} ± {}", format_ms(self.by_ms), format_ms(jitter_ms)),
        };
        let direction = match self.direction.unwrap_or_default() {
            Direction::In => Some("inbound only"),
            Direction::Out => Some("outbound only"),
            Direction::Both => None,
        };
        let from = match self.from {
            Some(From::Servers) => Some("from the servers"),
            Some(From::Clients) => Some("from the clients"),
            Some(From::Resource) => Some("from the resource"),
            Some(From::All) | None => None,
        };
        [by].into_iter().chain([direction, from].into_iter().flatten().map(str::to_owned)).collect()
    }

    fn milder(&self) -> Option<Fault> {
        let (by_ms, jitter_ms) = (self.by_ms * 3 / 4, self.jitter_ms * 3 / 4);
        (self.by_ms > 1).then(|| Delay { by_ms, jitter_ms, ..self.clone() }.into())
    }

    fn weight_ms(&self) -> u64 {
        self.by_ms
    }
}

#[async_trait(?Send)]
impl Policy for Delay {
    fn shows(&self) -> Shows {
        Shows::End
    }

    async fn is_possible(&self, verbs: &dyn Verbs) -> Result<(), NotDone> {
        verbs.can_shape().await
    }

    fn aim(&self, target: &Target, view: &View, seed: u64) -> Result<Aim, NoTarget> {
        let from = match self.from.unwrap_or(From::All) {
            From::Servers => links::From::Servers,
            From::Clients => links::From::Clients,
            From::All | From::Resource => links::From::All,
        };
        let targets = resolve(target, view, seed)?;
        let to_resource = matches!(self.from, None | Some(From::All | From::Resource));
        if !to_resource || !view.clients.contains(&targets[0]) {
            return links(target, from, &[], view, seed).map(Aim::at_links);
        }
        let Some(resource) = &view.resource else { return Err(never("there is no resource")) };
        let servers = if self.from == Some(From::Resource) { &[][..] } else { &view.servers[..] };
        let peers = [servers, std::slice::from_ref(resource)].concat();
        Ok(Aim::at_links(targets.into_iter().map(|client| (client, peers.clone())).collect()))
    }

    async fn apply(&self, on: &On<'_>) -> Answer<Report> {
        let delay = verbs::Delay { by_ms: self.by_ms, jitter_ms: self.jitter_ms };
        reported(on.shape(self.direction.unwrap_or_default(), delay).await)
    }

    async fn heal(&self, on: &On<'_>) -> Ended<Report> {
        Ended::By(reported(on.unshape().await))
    }
}

fn shown(shown: &Map<String, Value>) -> Option<String> {
    let ways = shown.get("held")?.as_object()?.values().filter_map(Value::as_object).flat_map(Map::values);
    let greatest_us = ways.filter_map(|way| way.get("greatest_us")?.as_u64()).max().unwrap_or_default();
    let lost = shown.get("lost").and_then(Value::as_u64).filter(|lost| *lost > 0);
    let lost = lost.map(|lost| format!(", {lost} lost")).unwrap_or_default();
    Some(format!("{} packets held, up to {:.1} s{lost}", shown.get("packets")?, greatest_us as f64 / 1e6))
}

/// Whether it is one or several clients and nothing else.
fn is_clients(target: &Target) -> bool {
    match target {
        Target::Holder | Target::Waiter | Target::Client => true,
        Target::Node(name) => Role::of(name) == Some(Role::Client),
        _ => false,
    }
}

/// Servers know no resource, clients not each other, and the resource nobody but clients.
fn check_from(from: Option<From>, target: &Target) -> Result<(), Unfit> {
    let good = match from {
        None | Some(From::All) => true,
        Some(From::Servers) => target.is_servers() || is_clients(target),
        Some(From::Clients) => target.is_servers(),
        Some(From::Resource) => is_clients(target),
    };
    let word = match from {
        Some(From::Resource) => "resource",
        Some(From::Clients) => "clients",
        _ => "servers",
    };
    if good { Ok(()) } else { Err(Unfit(format!("`{target}` exchanges nothing with `from = \"{word}\"`"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> View {
        let names = |prefix: &str| (1..=3).map(|n| format!("{prefix}{n}")).collect();
        let holders = vec!["c2".into()];
        View {
            servers: names("s"),
            clients: names("c"),
            resource: Some("resource".into()),
            holders,
            ..View::default()
        }
    }

    fn peers(from: Option<From>, target: Target) -> Vec<String> {
        let delay = Delay { by_ms: 1, from, ..Delay::default() };
        let aim = delay.aim(&target, &view(), 1).unwrap();
        aim.links[&aim.targets[0]].clone()
    }

    #[test]
    fn a_client_can_be_slow_towards_the_resource_alone() {
        assert_eq!(peers(Some(From::Resource), Target::Holder), ["resource"]);
        assert_eq!(peers(Some(From::Servers), Target::Holder), ["s1", "s2", "s3"]);
        assert_eq!(peers(None, Target::Holder), ["s1", "s2", "s3", "resource"]);
        assert_eq!(peers(Some(From::Clients), Target::Node("s1".into())), ["c1", "c2", "c3"]);
        assert_eq!(peers(None, Target::Node("s1".into())).len(), 5);
        assert_eq!(peers(None, Target::Resource), ["c1", "c2", "c3"]);
        let lone = View { clients: vec!["c1".into()], ..View::default() };
        let delay = Delay { by_ms: 1, from: Some(From::Resource), ..Delay::default() };
        assert_eq!(delay.aim(&Target::Client, &lone, 1), Err(never("there is no resource")));
    }

    #[test]
    fn draws_stay_within_what_is_asked_and_about_the_ttl_by_default() {
        let range = |from_ms, to_ms| Some(DurationRange { from_ms, to_ms });
        let asked = Asked { by: range(300, 400), jitter: range(0, 50), ..Asked::default() };
        let mut froms = Vec::new();
        for seed in 0..100 {
            let Fault::Delay(drawn) = asked.draw(&Target::Holder, 0, 2000, &mut Draw::new(seed)) else {
                panic!()
            };
            assert!((300..=400).contains(&drawn.by_ms) && drawn.jitter_ms <= 50);
            froms.push(drawn.from);
            let drawn = Asked::default().draw(&Target::Any, 0, 2000, &mut Draw::new(seed));
            let Fault::Delay(drawn) = drawn else { panic!() };
            assert!((1000..=3000).contains(&drawn.by_ms) && drawn.jitter_ms == drawn.by_ms / 10);
            assert_eq!(drawn.from, None);
        }
        assert!(froms.contains(&Some(From::Resource)) && froms.contains(&Some(From::Servers)));
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        let said = |delay: Delay, target: Target| delay.check(&target).unwrap_err().0;
        let delay = Delay { by_ms: 10, jitter_ms: 2, ..Delay::default() };
        assert_eq!(delay.check(&Target::Any), Ok(()));
        assert!(said(Delay::default(), Target::Any).contains("needs `by_ms`"));
        assert!(said(Delay { jitter_ms: 11, ..delay.clone() }, Target::Any).contains("before it is sent"));
        let from = |from| Delay { from: Some(from), ..delay.clone() };
        assert_eq!(
            said(from(From::Resource), Target::Leader),
            "`leader` exchanges nothing with `from = \"resource\"`"
        );
        assert!(said(from(From::Clients), Target::Holder).contains("clients"));
        assert!(said(from(From::Servers), Target::Resource).contains("servers"));
        assert_eq!(from(From::Resource).check(&Target::Node("c1".into())), Ok(()));
        let words = Delay { direction: Some(Direction::Out), ..from(From::Resource) }.in_words();
        assert_eq!(words, ["by 10ms ± 2ms", "outbound only", "from the resource"]);
    }
}
