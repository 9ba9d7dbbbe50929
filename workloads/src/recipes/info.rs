use std::collections::BTreeMap;

use history::{Reacquire, suggest::closest};
use serde::Serialize;

use super::{Context, Gap, Instance, TABLES, renamed};
use crate::rates::Rates;

/// Number of clients where the recipe does not ask for another.
pub const CLIENTS: u32 = 5;

/// What a recipe offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Primitive {
    /// Mutual exclusion for a short critical section.
    Lock,
    /// Mutual exclusion for as long as it is renewed.
    Lease,
    /// One leader at a time.
    Election,
}

/// One recipe of the table.
#[derive(Debug, Serialize)]
pub struct RecipeInfo {
    /// `<system family>/<recipe>`
    pub name: &'static str,
    /// The system it needs: `redis`, `redis-independent`, ….
    pub system: &'static str,
    /// What it offers.
    pub primitive: Primitive,
    /// Its grants carry a fencing token.
    pub has_token: bool,
    /// Its grants end by themselves.
    pub has_ttl: bool,
    /// Its client looks at its own clock before each write and stops at the deadline; as locks are used, it does not.
    pub aware: bool,
    /// After which share of the TTL its libraries renew a lock that is held, in the background, percent; `None` where
    /// they do not by themselves. (Leases and leaderships are renewed as the rates say.)
    pub keepalive_percent: Option<u64>,
    /// Where its algorithm is published.
    pub source: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Why it is broken by design, for those that are here to show what a check finds.
    pub broken: Option<&'static str>,
    /// The check that finds it, for those.
    pub breaks: Option<&'static str>,
    /// Its fence compares the token when the resource is read, and takes the write unseen.
    pub checks_then_sets: bool,
    /// Number of clients unless another is asked for.
    pub clients: u32,
    /// How it is driven unless the experiment has rates of its own.
    pub rates: Rates,
    /// Settings of its own.
    pub settings: &'static [SettingInfo],
    /// Until when nobody else holds, as it promises; ends "one holder …".
    #[serde(skip)]
    pub until: &'static str,
    /// What it never promised, what matters most first.
    #[serde(skip)]
    pub(super) gaps: fn(&RecipeInfo) -> Vec<Gap>,
    /// Makes an instance.
    #[serde(skip)]
    pub build: fn(Context) -> Instance,
}

/// A setting that is a whole number.
#[derive(Debug, Serialize)]
pub struct SettingInfo {
    /// Key.
    pub name: &'static str,
    /// Taken when it is not given.
    pub default: u64,
    /// The least that it can be.
    pub least: u64,
    /// The greatest that it can be.
    pub most: u64,
    /// What it does, with the unit.
    pub about: &'static str,
    /// It counts replicas: there are never more than the servers beside the first.
    #[serde(skip)]
    pub counts_replicas: bool,
}

/// A recipe that cannot be made as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRecipe {
    /// It has another name now.
    #[error("there is no recipe {name:?} any more: what it was is {now:?} now")]
    Renamed {
        /// As given.
        name: String,
        /// What it is called now.
        now: &'static str,
    },
    /// There is none of that name.
    #[error("there is no recipe {name:?}{}", suggestion(.similar))]
    Unknown {
        /// As given.
        name: String,
        /// The nearest that there is.
        similar: Option<&'static str>,
    },
    /// It has no such setting.
    #[error("{recipe} has no setting {key:?}{}", suggestion(.similar))]
    UnknownSetting {
        /// The recipe.
        recipe: &'static str,
        /// As given.
        key: String,
        /// The nearest that there is.
        similar: Option<&'static str>,
    },
    /// The setting is not a whole number, or out of its range.
    #[error("{recipe}: {key} must be a whole number from {least} to {most}, not {value:?}")]
    BadValue {
        /// The recipe.
        recipe: &'static str,
        /// The setting.
        key: &'static str,
        /// The least that it can be.
        least: u64,
        /// The greatest that it can be.
        most: u64,
        /// As given.
        value: String,
    },
    /// The workload needs another primitive.
    #[error("the workload {workload} cannot drive {recipe}")]
    Workload {
        /// The recipe.
        recipe: &'static str,
        /// The workload.
        workload: &'static str,
    },
    /// Nothing to talk to.
    #[error("{recipe} needs at least one server")]
    NoEndpoint {
        /// The recipe.
        recipe: &'static str,
    },
}

fn suggestion(similar: &Option<&'static str>) -> String {
    similar.map(|name| format!("; did you mean {name:?}?")).unwrap_or_default()
}

/// Every recipe.
pub fn all() -> impl Iterator<Item = &'static RecipeInfo> {
    TABLES.into_iter().flatten()
}

/// The recipe of that name.
///
/// # Errors
/// There is none; a name that it once had is refused with the name that it has now.
pub fn find(name: &str) -> Result<&'static RecipeInfo, BadRecipe> {
    let unknown = || match renamed::name_now(name) {
        Some(now) => BadRecipe::Renamed { name: name.into(), now },
        None => BadRecipe::Unknown { name: name.into(), similar: closest(name, all().map(|info| info.name)) },
    };
    all().find(|info| info.name == name).ok_or_else(unknown)
}

/// Makes an instance of a recipe; its settings are `given`, or their defaults. It connects when it is first used.
pub fn open(
    info: &'static RecipeInfo,
    given: &BTreeMap<String, String>,
    mut context: Context,
) -> Result<Instance, BadRecipe> {
    if context.endpoints.is_empty() {
        return Err(BadRecipe::NoEndpoint { recipe: info.name });
    }
    context.settings = info.settings(given)?;
    context.aware = info.aware;
    Ok((info.build)(context))
}

impl RecipeInfo {
    /// What it means that a lock is granted to a client which still holds it: every recipe here takes a new value, key
    /// or node for each grant, and its clients never ask for what they hold.
    pub fn reacquire(&self) -> Reacquire {
        Reacquire::Defect
    }

    /// The twin of a recipe as it is used: its client looks at its own clock before each write, and stops at the deadline.
    pub(super) const fn aware(self, name: &'static str, summary: &'static str) -> RecipeInfo {
        RecipeInfo { name, summary, aware: true, ..self }
    }

    /// Checks the settings given and fills in the defaults.
    pub fn settings(&self, given: &BTreeMap<String, String>) -> Result<BTreeMap<String, u64>, BadRecipe> {
        let mut settings: BTreeMap<_, _> =
            self.settings.iter().map(|setting| (setting.name.to_string(), setting.default)).collect();
        for (key, value) in given {
            let Some(setting) = self.settings.iter().find(|setting| setting.name == key) else {
                let similar = closest(key, self.settings.iter().map(|setting| setting.name));
                return Err(BadRecipe::UnknownSetting { recipe: self.name, key: key.clone(), similar });
            };
            settings.insert(key.clone(), setting.number(self.name, value)?);
        }
        Ok(settings)
    }
}

impl SettingInfo {
    fn number(&self, recipe: &'static str, value: &str) -> Result<u64, BadRecipe> {
        let SettingInfo { name: key, least, most, .. } = *self;
        let number = value.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| BadRecipe::BadValue { recipe, key, least, most, value: value.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_nearest_name() {
        let error = find("redis/setnx").unwrap_err();
        assert_eq!(error.to_string(), r#"there is no recipe "redis/setnx"; did you mean "redis/set-nx"?"#);
        assert!(!find(&"redis/set-nx".repeat(100_000)).unwrap_err().to_string().contains("did you mean"));
        assert_eq!(find("qqq").unwrap_err().to_string(), r#"there is no recipe "qqq""#);
    }

    #[test]
    fn checks_settings() {
        let info = find("redis/set-nx").unwrap();
        let given = |key: &str, value: &str| BTreeMap::from([(key.to_string(), value.to_string())]);
        assert_eq!(info.settings(&given("retry_ms", "7")).unwrap()["retry_ms"], 7);
        assert_eq!(
            info.settings(&given("retry-ms", "7")).unwrap_err().to_string(),
            r#"redis/set-nx has no setting "retry-ms"; did you mean "retry_ms"?"#
        );
        assert_eq!(
            info.settings(&given("retry_ms", "fast")).unwrap_err().to_string(),
            r#"redis/set-nx: retry_ms must be a whole number from 1 to 60000, not "fast""#
        );
        assert_eq!(info.settings(&given("retry_ms", "60000")).unwrap()["retry_ms"], 60_000);
        for outside in ["0", "60001", "4294967297", "-1"] {
            let error = info.settings(&given("retry_ms", outside)).unwrap_err().to_string();
            assert!(error.contains("from 1 to 60000, not"), "{error}");
        }
    }

    #[test]
    fn defaults_are_within_their_range() {
        for (recipe, setting) in
            all().flat_map(|info| info.settings.iter().map(|setting| (info.name, setting)))
        {
            let SettingInfo { name, default, least, most, .. } = setting;
            assert!((least..=most).contains(&default), "{recipe}: {name}");
        }
    }

    #[test]
    fn names_are_unique_and_begin_with_their_system() {
        let names: Vec<_> = all().map(|info| info.name).collect();
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
        for info in all() {
            let family = info.name.split('/').next().unwrap_or_default();
            assert!(info.system.starts_with(family), "{}", info.name);
        }
    }
}
