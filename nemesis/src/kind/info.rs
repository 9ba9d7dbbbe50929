//! What there is to know about a kind before any fault of it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{FaultKind, words::plain};
use crate::{duration::DurationRange, target::Target};

/// What there is to know about a kind.
#[derive(Debug)]
pub struct KindInfo {
    /// In plans, histories and reports; `start-<name>` and `stop-<name>` in the history.
    pub name: &'static str,
    /// The band's legend in reports.
    pub label: &'static str,
    /// The band's colour, as `#rrggbb`; readable on light and on dark ground.
    pub colour: &'static str,
    /// One or two sentences for `list` and the docs.
    pub about: &'static str,
    /// What was the matter with one node, and with several; `{}` is who.
    pub phrase: [&'static str; 2],
    /// The kind whose faults do no less: what a recipe never promised under those it does not promise under these.
    pub akin: Option<FaultKind>,
    /// What a node showed, in a few words.
    pub shown: fn(&Map<String, Value>) -> Option<String>,
    /// The target when a plan names none.
    pub default_target: Target,
    /// Sensible targets. Node names are sensible everywhere.
    pub targets: &'static [Target],
    /// Default times.
    pub times: Times,
    /// Default times of target `rolling`, where that is sensible.
    pub rolling: Option<Times>,
}

/// Default times, in hundredths of the TTL.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// From one start to the next.
    pub every_percent: (u64, u64),
    /// How long each lasts.
    pub lasts_percent: (u64, u64),
}

/// A target makes no sense for a kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{kind}` cannot hit `{target}`: use one of {good} or a node such as s2 or c1")]
pub struct BadTarget {
    kind: FaultKind,
    target: Target,
    good: String,
}

impl FaultKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Whether `target` is sensible for it.
    pub fn check_target(self, target: &Target) -> Result<(), BadTarget> {
        let info = self.info();
        if matches!(target, Target::Node(_)) || info.targets.contains(target) {
            return Ok(());
        }
        Err(BadTarget {
            kind: self,
            target: target.clone(),
            good: info.targets.iter().map(Target::to_string).collect::<Vec<_>>().join(", "),
        })
    }

    /// Default time from one start to the next for this target and TTL.
    pub fn every(self, target: &Target, ttl_ms: u64) -> DurationRange {
        percent(self.times(target).every_percent, ttl_ms)
    }

    /// Default length for this target and TTL.
    pub fn lasts(self, target: &Target, ttl_ms: u64) -> DurationRange {
        percent(self.times(target).lasts_percent, ttl_ms)
    }

    fn times(self, target: &Target) -> Times {
        let info = self.info();
        info.rolling.filter(|_| *target == Target::Rolling).unwrap_or(info.times)
    }

    /// What each node showed in a few words, of those whose evidence is as this kind leaves it.
    pub fn shown(self, evidence: &Value) -> BTreeMap<String, String> {
        let nodes = evidence.as_object().into_iter().flatten();
        let told = nodes.filter_map(|(node, shown)| Some((node.clone(), self.of_node(shown.as_object()?)?)));
        told.collect()
    }

    fn of_node(self, shown: &Map<String, Value>) -> Option<String> {
        match shown.get("error") {
            Some(error) => Some(format!("error: {}", plain(error))),
            None => (self.info().shown)(shown),
        }
    }

    /// A fault on these nodes as a clause: `c3 was paused`.
    pub fn phrase(self, targets: &[String]) -> String {
        let [one, several] = self.info().phrase;
        match targets {
            [] => one.replace("{}", "a node"),
            [target] => one.replace("{}", target),
            _ => several.replace("{}", &targets.join(", ")),
        }
    }
}

fn percent((from, to): (u64, u64), ttl_ms: u64) -> DurationRange {
    let of = |percent: u64| ttl_ms.saturating_mul(percent) / 100;
    DurationRange { from_ms: of(from).max(1), to_ms: of(to).max(1) }
}
