//! `verdict.json`: the run's outcome as other programs read it. Fields may be added, none renamed.
//!
//! Every field with its unit stands in `VERDICT.md` beside this crate's manifest.

use std::collections::BTreeMap;

pub use checkers::checks::{FaultRecord, Grants, Outcomes};
use checkers::verdict::{CheckResults, Verdict};
use serde::{Deserialize, Serialize};

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
