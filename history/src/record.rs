//! `run.json`: what a run tells of how it was made and how it went. Fields may be added, none renamed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::node::Nodes;

/// The whole of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of this format; 0 where the file does not tell.
    #[serde(default)]
    pub format: u32,
    /// The build that made the run.
    pub fencepost: String,
    /// `docker` or `sim`.
    pub world: String,
    /// What the command line named: a recipe or a file.
    pub asked: String,
    /// The exact command that repeats the run.
    pub repeat: String,
    /// The experiment's name.
    pub experiment: String,
    /// The recipe.
    pub recipe: String,
    /// The system under test.
    pub system: String,
    /// The seed of the run.
    pub seed: u64,
    /// Of `experiment.toml` as it was when the run ended, in hexadecimal.
    pub experiment_sha256: String,
    /// When the run ended, in UTC.
    pub ended: String,
    /// Names of its nodes.
    pub nodes: Nodes,
    /// The faults drawn or given. What they say beside kind, target and times is their kinds' concern.
    pub schedule: Vec<Json>,
    /// Whether the schedule was given rather than drawn.
    pub scheduled: bool,
    /// What ended the run early, if anything: `interrupted`, or the harness' own failure.
    pub stopped: Option<String>,
    /// Milliseconds by phase: provision, run, heal, collect, teardown.
    pub phases_ms: BTreeMap<String, f64>,
    /// What a reader needs to trust or repeat it.
    pub facts: Facts,
}

/// What a reader needs to trust or repeat a run. Each world tells what it has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Whether it was simulated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// The version that the simulated servers are modelled on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Hash of every decision and message of a simulation, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Virtual milliseconds of a simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_ms: Option<u64>,
    /// How many of a simulation's last messages were not kept, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages_left_out: Option<u64>,
    /// The engine that ran the containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineFacts>,
    /// The servers' image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageFacts>,
    /// The containers' network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// What each server tells as its version.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// How hard the machine was pressed: percentages of the time and load averages, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pressure: BTreeMap<String, f64>,
}

/// What a reader of a run needs to know about the engine. What it does not tell, or tells in a way of its own, is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineFacts {
    /// The engine's version.
    pub engine: String,
    /// Where it listens, and who says so. Older builds did not tell.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub at: String,
    /// The API version in use.
    pub api: String,
    /// Kernel of the machine that the nodes run on.
    pub kernel: String,
    /// Storage driver.
    pub storage: String,
    /// Processor architecture as the engine names it.
    pub architecture: String,
    /// Processors of that machine.
    pub processors: i64,
}

/// An image, as its engine knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImageFacts {
    /// As it was asked for.
    pub reference: String,
    /// The digest of its configuration.
    pub id: String,
    /// As registries know it; empty where it came from none.
    pub digests: Vec<String>,
}

impl RunRecord {
    /// The file's text, with its keys in alphabetical order.
    ///
    /// # Errors
    /// A figure is no number of JSON's.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&serde_json::to_value(self)?)
    }
}

impl Facts {
    /// The servers' versions, each once; of simulated ones the version that they are modelled on.
    pub fn version(&self) -> Option<String> {
        let distinct: BTreeSet<&str> = self.versions.values().map(String::as_str).collect();
        let told = (!distinct.is_empty()).then(|| Vec::from_iter(distinct).join(", "));
        self.version.clone().or(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_once() {
        let versions = [("s1", "7.0.15"), ("s2", "6.2"), ("s3", "7.0.15")];
        let versions = versions.map(|(node, version)| (node.to_owned(), version.to_owned())).into();
        assert_eq!(Facts { versions, ..Facts::default() }.version().as_deref(), Some("6.2, 7.0.15"));
        assert_eq!(Facts::default().version(), None);
        let modelled = Facts { version: Some("7.0".into()), ..Facts::default() };
        assert_eq!(modelled.version().as_deref(), Some("7.0"));
    }

    #[test]
    fn facts_of_newer_builds_are_left() {
        let newer = r#"{"simulated":true,"trace":"0f","weather":{"wind":3}}"#;
        let facts: Facts = serde_json::from_str(newer).expect("what is known is read");
        assert_eq!(serde_json::to_string(&facts).expect("JSON"), r#"{"simulated":true,"trace":"0f"}"#);
    }
}
