//! What an experiment says of its servers.

use std::{collections::BTreeMap, time::Duration};

use super::System;

/// How the servers of a run are set up, whether they are real or modelled.
pub struct Setup<'e> {
    /// What they are.
    pub system: &'static System,
    /// Settings that were given, among those of the recipe.
    pub given: &'e BTreeMap<String, String>,
    /// The version asked for.
    pub version: Option<&'e str>,
    /// Time to live of a grant.
    pub ttl: Duration,
}

impl Setup<'_> {
    /// A setting of the system, or its default.
    pub(super) fn value(&self, name: &str) -> &str {
        let known = self.system.settings.iter().find(|setting| setting.name == name);
        let known = known.unwrap_or_else(|| panic!("{} has no setting {name}", self.system.name));
        self.given.get(name).map_or(known.default, String::as_str)
    }

    /// A setting that is a whole number.
    pub(super) fn number(&self, name: &str) -> u64 {
        self.value(name).parse().unwrap_or(1).max(1)
    }

    /// The version whose contract is modelled.
    pub fn modelled_version(&self) -> &str {
        self.version.unwrap_or(self.system.modelled)
    }
}
