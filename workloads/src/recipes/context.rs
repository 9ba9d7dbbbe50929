use std::{collections::BTreeMap, rc::Rc, time::Duration};

use crate::{
    api::{Endpoint, Stores},
    env::Env,
    primitive::Grant,
};

/// What a recipe is given: its world, its servers, its settings.
#[derive(Clone)]
pub struct Context {
    /// Time, chance and tasks.
    pub env: Env,
    /// Opens connections.
    pub stores: Rc<dyn Stores>,
    /// The servers, the one to talk to first. Recipes on independent servers use them all.
    pub endpoints: Vec<Endpoint>,
    /// Time to live of a grant.
    pub ttl: Duration,
    /// Limit of one call.
    pub limit: Duration,
    /// The client's name for itself, unique in the run: the node it runs on.
    pub owner: String,
    /// Whether the client looks at its clock and stops at its deadline: the recipe's table says so.
    pub aware: bool,
    /// The recipe's own settings, checked, with every default filled in.
    pub settings: BTreeMap<String, u64>,
}

impl Context {
    /// A setting in milliseconds.
    pub(crate) fn millis(&self, name: &str) -> Duration {
        Duration::from_millis(self.number(name))
    }

    /// A setting's number.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.settings.get(name).copied().unwrap_or_default()
    }

    /// A value that nobody else writes, beginning with the owner's name and a colon.
    pub(crate) fn unique(&self) -> String {
        format!("{}:{:016x}", self.owner, self.env.random())
    }

    /// The grant of a promise for `ttl` that counts from `asked`; with a deadline if the client looks at its clock.
    pub(crate) fn grant(&self, asked: u64, ttl: Duration) -> Grant {
        let deadline = self.aware.then(|| asked + ttl.as_nanos() as u64);
        Grant { ttl: Some(ttl), asked: Some(asked), deadline, ..Grant::default() }
    }
}

/// The owner's name in a value made by [`Context::unique`].
pub(crate) fn owner_of(value: &str) -> &str {
    value.split_once(':').map_or(value, |(owner, _)| owner)
}
