//! `verdict.json`: the run's outcome as other programs read it. Fields may be added, none renamed.
//!
//! Every field with its unit stands in `reports/VERDICT.md`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{
    stalls::Stalls,
    verdict::{CheckResults, Verdict},
};

/// The whole of `verdict.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Judgement {
    /// Version of this format: 1.
    pub format: u32,
    /// All checks together.
    pub verdict: Verdict,
    /// Whether the experiment's expectations were met; `null` when it has none.
    pub as_expected: Option<bool>,
    /// What was expected, by check, or `verdict` for all together; empty when nothing was.
    #[serde(default)]
    pub expectations: BTreeMap<String, Expected>,
    /// The experiment's name, or the recipe's.
    pub experiment: String,
    /// The recipe; `null` for a history from elsewhere.
    #[serde(default)]
    pub recipe: Option<String>,
    /// The workload that named the checks.
    #[serde(default)]
    pub workload: Option<String>,
    /// `docker`, `sim`, or `history` for a file from elsewhere.
    pub world: String,
    /// The system's version as the servers report it.
    pub version: Option<String>,
    /// The seed of the run.
    pub seed: Option<u64>,
    /// Whether the run still went on when it was judged.
    #[serde(default)]
    pub running: bool,
    /// What ended the run early, if anything: `interrupted`, or the harness' own failure.
    #[serde(default)]
    pub stopped: Option<String>,
    /// By check.
    pub checks: CheckResults,
    /// Checks that do not apply to this recipe, with the reason.
    #[serde(default)]
    pub not_applicable: BTreeMap<String, String>,
    /// Of a run that is invalid: what helps. Empty for any other.
    #[serde(default)]
    pub help: Vec<Help>,
    /// By operation.
    pub operations: BTreeMap<String, Outcomes>,
    /// Grants of locks or leaderships.
    pub grants: Grants,
    /// Every fault of the run, in order of start.
    pub faults: Vec<FaultRecord>,
    /// Every server whose process ended by itself, in order of time.
    #[serde(default)]
    pub exits: Vec<Exit>,
    /// What stood still though no fault did that.
    #[serde(default)]
    pub stalls: Stalls,
    /// Milliseconds by phase: provision, run, heal, collect, check, report, teardown.
    pub phases_ms: BTreeMap<String, f64>,
}

/// What an experiment expected, and whether that came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// `valid`, `invalid` or `any`.
    pub expected: String,
    /// Whether that came.
    pub met: bool,
}

/// What helps against violations of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Help {
    /// The checks that were violated.
    pub checks: Vec<String>,
    /// Ends the sentence "The recipe never promised that …"; `null` where it did promise it, or nobody knows the recipe.
    pub never_promised: Option<String>,
    /// Whole sentences: what would have prevented it.
    pub prevented_by: String,
}

/// How often an operation ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// It happened.
    pub ok: u64,
    /// It certainly did not.
    pub fail: u64,
    /// Nobody knows.
    pub info: u64,
}

/// Grants of locks or leaderships.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    /// All of them.
    pub total: u64,
    /// Those for which another client was holding or waiting at the same time.
    pub contended: u64,
}

/// One fault as it went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FaultRecord {
    /// Number within the run, from 1.
    pub id: u32,
    /// `pause`, `kill`, `partition`, `clock`, …
    pub kind: String,
    /// Nodes it hit.
    pub targets: Vec<String>,
    /// Nanoseconds since the run began.
    pub start_ns: u64,
    /// Nanoseconds since the run began; `null` while it was never ended.
    pub end_ns: Option<u64>,
    /// `installed`, `no-effect` or `failed`.
    pub result: String,
    /// Whether its removal was verified.
    pub healed: bool,
    /// What shows that it took effect.
    pub evidence: Json,
    /// What was the matter, as a clause: `c3 was paused`. Empty of a kind that nobody knows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub phrase: String,
    /// By node: the evidence in a few words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shown: BTreeMap<String, String>,
}

/// A server whose process ended though no fault of the run ended it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// The server's node.
    pub node: String,
    /// How it ended, as the agent tells it: `exit status: 3`, `signal: 11 (SIGSEGV)`.
    pub status: String,
    /// When the harness heard of it, in nanoseconds since the run began.
    pub at_ns: u64,
    /// Index of the event that tells of it.
    pub event: u64,
}
