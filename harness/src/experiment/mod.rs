//! Experiments: what is run, resolved from a file, flags and defaults.

mod file;
mod flags;
mod given;
pub mod older;
mod resolve;
mod simulation;
mod snippet;
mod wording;

use std::{collections::BTreeMap, time::Duration};

use history::verdict::Verdict;
use nemesis::{plan::Plan, schedule::Schedule};
use serde::{Deserialize, Serialize};
use workloads::{
    recipes::RecipeInfo,
    workload::{Rates, Workload},
};

pub use self::{
    file::ExperimentFile,
    flags::{Flags, workload},
    resolve::system_of,
    simulation::SimTable,
};
use crate::systems::{Setup, System};

/// Which world to run in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum On {
    /// Docker where an engine answers, else the simulation.
    #[default]
    Auto,
    /// Real servers in containers.
    Docker,
    /// Store models in virtual time.
    Sim,
}

/// What a check is expected to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Expectation {
    /// The promise holds.
    Valid,
    /// The promise is broken.
    Invalid,
    /// Whatever comes.
    Any,
}

impl Expectation {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Expectation::Valid => "valid",
            Expectation::Invalid => "invalid",
            Expectation::Any => "any",
        }
    }

    /// Whether a verdict is what was expected; `unknown` never is, unless anything is.
    pub fn is_met_by(self, verdict: Verdict) -> bool {
        match self {
            Expectation::Valid => verdict == Verdict::Valid,
            Expectation::Invalid => verdict == Verdict::Invalid,
            Expectation::Any => true,
        }
    }
}

/// Everything a run is made of. Two equal experiments differ only in what the world does.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name; the recipe's when it was given none. Also its folder in the store.
    pub name: String,
    /// What its recipe was called in the file, where that is an older name.
    pub renamed: Option<older::Renamed>,
    /// Recipe by name.
    pub recipe: &'static RecipeInfo,
    /// How the recipe is driven.
    pub workload: Workload,
    /// Where.
    pub on: On,
    /// Length of the phase with faults.
    pub time: Duration,
    /// Number of clients.
    pub clients: u32,
    /// Number of servers.
    pub nodes: u32,
    /// Time to live of a grant.
    pub ttl: Duration,
    /// Decides everything that is left to chance on our side.
    pub seed: u64,
    /// The system's version; the catalog's default when absent.
    pub version: Option<String>,
    /// Any image instead of the catalog's.
    pub image: Option<String>,
    /// Settings of recipe and system.
    pub settings: BTreeMap<String, String>,
    /// Rates of the workload.
    pub rates: Rates,
    /// The simulated network and disks.
    pub sim: SimTable,
    /// The faults asked for.
    pub faults: Plan,
    /// The faults drawn or given.
    pub schedule: Schedule,
    /// Whether the schedule was given rather than drawn.
    pub scheduled: bool,
    /// Whether it was made of a recipe's name and flags alone, not of a file.
    pub by_flags: bool,
    /// By check, or `verdict` for all together.
    pub expect: BTreeMap<String, Expectation>,
}

impl Experiment {
    /// The system that the recipe needs.
    pub fn system(&self) -> &'static System {
        self::resolve::system_of(self.recipe)
    }

    /// How its servers are set up.
    pub fn setup(&self) -> Setup<'_> {
        let (system, version) = (self.system(), self.version.as_deref());
        Setup { system, given: &self.settings, version, ttl: self.ttl }
    }

    /// The settings that are the recipe's; the others are the system's.
    pub fn recipe_settings(&self) -> BTreeMap<String, String> {
        let own = |key: &str| self.recipe.settings.iter().any(|setting| setting.name == key);
        self.settings
            .iter()
            .filter(|(key, _)| own(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// Seed of one node's generator.
    pub fn node_seed(&self, node: &str) -> u64 {
        nemesis::draw::Draw::part(self.seed, node).next()
    }

    /// How long after the last heal the primitive may take beyond the TTL until it is usable again.
    pub fn liveness_bound(&self) -> Duration {
        Duration::from_secs(10)
    }
}
