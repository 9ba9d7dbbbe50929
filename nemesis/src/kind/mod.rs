//! The kinds of faults. All that a kind is (words, targets, default schedule, band, what it does in verbs) stands in one
//! file each.

pub mod clock;
pub mod kill;
pub mod partition;
pub mod pause;
pub(crate) mod policy;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use self::policy::Policy;
use crate::{duration::DurationRange, suggest, target::Target};

/// The list of kinds, handed to a macro: each has a module of its own, in which a type of its name is the policy, and
/// `Table` its table in experiment files.
macro_rules! each_kind {
    ($make:ident) => {
        $make! {
            /// The process stands still: [`crate::kind::pause`].
            Pause in pause;
            /// The process dies and is started again: [`crate::kind::kill`].
            Kill in kill;
            /// Packets between nodes are dropped: [`crate::kind::partition`].
            Partition in partition;
            /// The wall clock jumps: [`crate::kind::clock`].
            Clock in clock;
        }
    };
}
pub(crate) use each_kind;

macro_rules! fault_kind {
    ($($(#[$about:meta])* $kind:ident in $module:ident;)*) => {
        /// A kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FaultKind {
            $($(#[$about])* $kind,)*
        }

        impl FaultKind {
            /// All kinds.
            pub const ALL: [FaultKind; [$(FaultKind::$kind),*].len()] = [$(FaultKind::$kind),*];

            /// What it means in verbs.
            pub(crate) fn policy(self) -> &'static dyn Policy {
                match self {
                    $(FaultKind::$kind => &$module::$kind,)*
                }
            }
        }
    };
}
each_kind!(fault_kind);

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
    /// The target when a plan names none.
    pub default_target: Target,
    /// Sensible targets. Node names are sensible everywhere.
    pub targets: &'static [Target],
    /// Default time from one start to the next, in hundredths of the TTL.
    pub every_ttl_percent: (u64, u64),
    /// Default length, in hundredths of the TTL.
    pub lasts_ttl_percent: (u64, u64),
}

impl FaultKind {
    /// What there is to know about it.
    pub fn info(self) -> &'static KindInfo {
        self.policy().info()
    }

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
        let rolling = *target == Target::Rolling;
        percent(if rolling { kill::ROLLING_EVERY_PERCENT } else { self.info().every_ttl_percent }, ttl_ms)
    }

    /// Default length for this target and TTL.
    pub fn lasts(self, target: &Target, ttl_ms: u64) -> DurationRange {
        let rolling = *target == Target::Rolling;
        percent(if rolling { kill::ROLLING_LASTS_PERCENT } else { self.info().lasts_ttl_percent }, ttl_ms)
    }
}

/// A target makes no sense for a kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{kind}` cannot hit `{target}`: use one of {good} or a node such as s2 or c1")]
pub struct BadTarget {
    kind: FaultKind,
    target: Target,
    good: String,
}

/// A text names no kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown fault `{written}`: use one of {names}{hint}")]
pub struct UnknownKind {
    written: String,
    names: String,
    hint: String,
}

fn percent((from, to): (u64, u64), ttl_ms: u64) -> DurationRange {
    let of = |percent: u64| ttl_ms.saturating_mul(percent) / 100;
    DurationRange { from_ms: of(from).max(1), to_ms: of(to).max(1) }
}

impl FromStr for FaultKind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<FaultKind, UnknownKind> {
        let text = text.trim();
        let names = FaultKind::ALL.map(FaultKind::name);
        FaultKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| UnknownKind {
            written: text.into(),
            names: names.join(", "),
            hint: suggest::hint(text, names),
        })
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl<'de> Deserialize<'de> for FaultKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FaultKind, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for FaultKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_whole() {
        for kind in FaultKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(kind.check_target(&kind.info().default_target), Ok(()));
            assert!(kind.info().colour.len() == 7 && kind.info().colour.starts_with('#'));
            for target in kind.info().targets {
                let (every, lasts) = (kind.every(target, 2000), kind.lasts(target, 2000));
                assert!(every.from_ms > lasts.to_ms, "{kind}:{target} would run into itself");
            }
        }
    }

    #[test]
    fn errors_name_what_is_good() {
        assert_eq!(
            FaultKind::Kill.check_target(&Target::Resource).unwrap_err().to_string(),
            "`kill` cannot hit `resource`: use one of server, leader, holder, waiter, client, any, minority, \
             majority, all, rolling or a node such as s2 or c1"
        );
        assert_eq!(
            "puase".parse::<FaultKind>().unwrap_err().to_string(),
            "unknown fault `puase`: use one of pause, kill, partition, clock; did you mean `pause`?"
        );
    }
}
