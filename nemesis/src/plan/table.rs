//! Plans in experiment files: `[faults.pause]` with `target`, `every`, `lasts` and the kind's own parameters.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor, value},
};

use super::{FaultSpec, Plan, PlanError};
use crate::{
    duration::DurationRange,
    kind::{self, Asked},
    target::Target,
};

macro_rules! faults_table {
    ($($kind:ident in $module:ident;)*) => {
        /// The table `[faults]` of an experiment: one table a kind, or several as `[[faults.pause]]`.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct FaultsTable {
            $(
                #[doc = concat!("See [`kind::", stringify!($module), "`].")]
                #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
                pub $module: OneOrMany<kind::$module::Table>,
            )*
        }

        impl TryFrom<FaultsTable> for Plan {
            type Error = PlanError;

            /// Kinds in the order of their list; within a kind in the order written.
            fn try_from(table: FaultsTable) -> Result<Plan, PlanError> {
                let mut faults = Vec::new();
                $(
                    for one in table.$module.0 {
                        let (asked, target, times) = one.taken_apart();
                        faults.push(FaultSpec::written(asked.into(), target, times));
                    }
                )*
                let plan = Plan { faults };
                plan.check()?;
                Ok(plan)
            }
        }
    };
}

kind::each_kind!(faults_table);

impl FaultSpec {
    /// As a table has it; without a target it has its parameters' or its kind's default.
    fn written(
        asked: Asked,
        target: Option<Target>,
        [every, lasts]: [Option<DurationRange>; 2],
    ) -> FaultSpec {
        let target = target.or_else(|| asked.target());
        let target = target.unwrap_or_else(|| asked.kind().info().default_target.clone());
        FaultSpec { target, every, lasts, asked }
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
        let text = "[pause]\ntarget = \"holder\"\nevery = \"6s\"\nlasts = \"2s..3s\"\n\
             [[clock]]\nby = \"±3s\"\n[[clock]]\ntarget = \"c1\"\n\
             [partition]\ngroups = [[\"s1\"], [\"s2\"]]\ndirection = \"in\"\n";
        let plan = read(text).unwrap();
        assert_eq!(plan.to_string(), "pause:holder,partition:groups,clock:server,clock:c1");
        assert_eq!(plan.faults[0].lasts, Some(DurationRange { from_ms: 2000, to_ms: 3000 }));
        let written = toml::to_string(&toml::from_str::<FaultsTable>(text).unwrap()).unwrap();
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
