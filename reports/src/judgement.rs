//! `verdict.json`: the run's outcome as other programs read it. Fields may be added, none renamed.
//!
//! Every field with its unit stands in `VERDICT.md` beside this crate's manifest.

use std::collections::BTreeMap;

use checkers::verdict::{CheckResults, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The whole of `verdict.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Judgement {
    /// Version of this format: 1.
    pub format: u32,
    /// All checks together.
    pub verdict: Verdict,
    /// Whether the experiment's expectations were met; `null` when it has none.
    pub as_expected: Option<bool>,
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
    /// What ended the run early, if anything: `interrupted`, or the harness' own failure.
    #[serde(default)]
    pub stopped: Option<String>,
    /// By check.
    pub checks: CheckResults,
    /// Checks that do not apply to this recipe, with the reason.
    #[serde(default)]
    pub not_applicable: BTreeMap<String, String>,
    /// By operation.
    pub operations: BTreeMap<String, Outcomes>,
    /// Grants of locks or leaderships.
    pub grants: Grants,
    /// Every fault of the run, in order of start.
    pub faults: Vec<FaultRecord>,
    /// Milliseconds by phase: provision, run, heal, collect, check, report, teardown.
    pub phases_ms: BTreeMap<String, f64>,
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
    pub evidence: Value,
}
