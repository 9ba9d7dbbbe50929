//! Plans in experiment files: `[faults.pause]` with `target`, `every`, `lasts` and the kind's own parameters.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor, value},
};

use super::{FaultSpec, Plan, PlanError};
use crate::{
    duration::{DurationRange, OffsetRange},
    kind::{
        FaultKind,
        partition::{Direction, From},
    },
    target::Target,
};

/// The table `[faults]` of an experiment: one table a kind, or several as `[[faults.pause]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultsTable {
    /// See [`crate::kind::pause`].
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub pause: OneOrMany<PauseTable>,
    /// See [`crate::kind::kill`].
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub kill: OneOrMany<KillTable>,
    /// See [`crate::kind::partition`].
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub partition: OneOrMany<PartitionTable>,
    /// See [`crate::kind::clock`].
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub clock: OneOrMany<ClockTable>,
}

/// `[faults.pause]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PauseTable {
    /// Who; the kind's default when absent.
    pub target: Option<Target>,
    /// From one start to the next.
    pub every: Option<DurationRange>,
    /// How long each lasts.
    pub lasts: Option<DurationRange>,
}

/// `[faults.kill]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KillTable {
    /// Who; the kind's default when absent.
    pub target: Option<Target>,
    /// From one start to the next.
    pub every: Option<DurationRange>,
    /// How long it is down.
    pub lasts: Option<DurationRange>,
}

/// `[faults.partition]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartitionTable {
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

/// `[faults.clock]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockTable {
    /// Who; the kind's default when absent.
    pub target: Option<Target>,
    /// From one start to the next.
    pub every: Option<DurationRange>,
    /// How long until the clock is true again.
    pub lasts: Option<DurationRange>,
    /// How far it jumps.
    pub by: Option<OffsetRange>,
}

impl TryFrom<FaultsTable> for Plan {
    type Error = PlanError;

    /// Kinds in the order pause, kill, partition, clock; within a kind in the order written.
    fn try_from(table: FaultsTable) -> Result<Plan, PlanError> {
        let spec = |kind: FaultKind, target: Option<Target>, every, lasts| FaultSpec {
            every,
            lasts,
            ..FaultSpec::new(kind, target.unwrap_or_else(|| kind.info().default_target.clone()))
        };
        let pauses = table.pause.0.into_iter().map(|t| spec(FaultKind::Pause, t.target, t.every, t.lasts));
        let kills = table.kill.0.into_iter().map(|t| spec(FaultKind::Kill, t.target, t.every, t.lasts));
        let partitions = table.partition.0.into_iter().map(|t| {
            let groups = t.groups.is_some().then_some(Target::Groups);
            FaultSpec {
                direction: t.direction,
                from: t.from,
                groups: t.groups.unwrap_or_default(),
                ..spec(FaultKind::Partition, t.target.or(groups), t.every, t.lasts)
            }
        });
        let clocks = table
            .clock
            .0
            .into_iter()
            .map(|t| FaultSpec { by: t.by, ..spec(FaultKind::Clock, t.target, t.every, t.lasts) });
        let plan = Plan { faults: pauses.chain(kills).chain(partitions).chain(clocks).collect() };
        plan.check()?;
        Ok(plan)
    }
}

impl std::convert::From<Plan> for FaultsTable {
    fn from(plan: Plan) -> FaultsTable {
        let mut table = FaultsTable::default();
        for FaultSpec { kind, target, every, lasts, by, direction, from, groups } in plan.faults {
            let target = Some(target);
            match kind {
                FaultKind::Pause => table.pause.0.push(PauseTable { target, every, lasts }),
                FaultKind::Kill => table.kill.0.push(KillTable { target, every, lasts }),
                FaultKind::Partition => {
                    let groups = (!groups.is_empty()).then_some(groups);
                    table.partition.0.push(PartitionTable { target, every, lasts, direction, from, groups });
                }
                FaultKind::Clock => table.clock.0.push(ClockTable { target, every, lasts, by }),
            }
        }
        table
    }
}

/// A table or a list of them. Read by hand, because an untagged enum would lose the place of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T> OneOrMany<T> {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for OneOrMany<T> {
    fn default() -> OneOrMany<T> {
        OneOrMany(Vec::new())
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            many => many.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OneOrMany<T>, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

struct OneOrManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table, or several as [[…]]")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneOrMany<T>, A::Error> {
        Ok(OneOrMany(vec![T::deserialize(value::MapAccessDeserializer::new(map))?]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<OneOrMany<T>, A::Error> {
        Ok(OneOrMany(Vec::deserialize(value::SeqAccessDeserializer::new(seq))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Plan, String> {
        let table: FaultsTable = toml::from_str(text).map_err(|error| error.to_string())?;
        table.try_into().map_err(|error: PlanError| error.to_string())
    }

    #[test]
    fn reads_and_writes_tables() {
        let plan = read(
            "[pause]\ntarget = \"holder\"\nevery = \"6s\"\nlasts = \"2s..3s\"\n\
             [[clock]]\nby = \"±3s\"\n[[clock]]\ntarget = \"c1\"\n\
             [partition]\ngroups = [[\"s1\"], [\"s2\"]]\ndirection = \"in\"\n",
        )
        .unwrap();
        assert_eq!(plan.to_string(), "pause:holder,partition:groups,clock:server,clock:c1");
        assert_eq!(plan.faults[0].lasts, Some(DurationRange { from_ms: 2000, to_ms: 3000 }));
        let written = toml::to_string(&FaultsTable::from(plan.clone())).unwrap();
        assert_eq!(read(&written), Ok(plan), "{written}");
    }

    #[test]
    fn errors_point_at_the_place() {
        let unknown = read("[pause]\ntarget = \"holder\"\nevry = \"6s\"\n").unwrap_err();
        assert!(unknown.contains("line 3") && unknown.contains("unknown field `evry`"), "{unknown}");
        let unit = read("[[clock]]\nby = \"3 parsecs\"\n").unwrap_err();
        assert!(unit.contains("line 2") && unit.contains("unknown unit `parsecs`"), "{unit}");
        let target = read("[kill]\ntarget = \"resource\"\n").unwrap_err();
        assert!(target.starts_with("`kill` cannot hit `resource`: use one of"), "{target}");
        assert!(read("[pause]\nby = \"3s\"\n").unwrap_err().contains("unknown field `by`"));
        assert!(
            read("[partition]\ngroups = [[\"s1\"], [\"s1\"]]\n")
                .unwrap_err()
                .contains("`s1` is in two groups")
        );
        let none = read("[partition]\ngroups = []\n").unwrap_err();
        assert!(none.contains("target `groups` needs at least two"), "{none}");
        assert!(read("[pause]\nlasts = \"0s\"\n").unwrap_err().contains("`lasts` must be above 0"));
    }
}
