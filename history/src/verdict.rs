//! What a check says, and how verdicts compose.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Composed by the lattice `valid < unknown < invalid`: the greatest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The promise held.
    Valid,
    /// Nothing certain can be said.
    Unknown,
    /// The promise was broken, and the evidence is shown.
    Invalid,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Valid => "valid",
            Verdict::Unknown => "unknown",
            Verdict::Invalid => "invalid",
        })
    }
}

impl Verdict {
    /// The greatest of all; `Valid` when there are none.
    pub fn all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        verdicts.into_iter().max().unwrap_or(Verdict::Valid)
    }
}

/// One check's answer, as it stands in `verdict.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The check's verdict.
    pub verdict: Verdict,
    /// How many violations were found (all of them, also those not listed).
    pub count: u64,
    /// Who broke the promise, where that can be told: `service`, `client`, `recipe`, …
    pub blame: Option<String>,
    /// One sentence: what was broken, or why nothing can be said.
    pub reason: Option<String>,
    /// What reports must know of the check.
    #[serde(flatten)]
    pub about: About,
    /// The violations, earliest first; a check may list only the first hundred.
    pub violations: Vec<Violation>,
    /// Figures of this check alone, such as `unfenced_lost`.
    #[serde(flatten)]
    pub figures: Map<String, Value>,
}

/// What reports must know of a check beside its verdict. Verdicts of older builds do not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Its place among the checks, the lowest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// What it sees kept, or what it tells, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
    /// Whether it only tells figures: then it is neither kept nor broken.
    #[serde(default)]
    pub informs: bool,
    /// Whether a violation that is no longer than what stood still meanwhile is set aside.
    #[serde(default)]
    pub stalls_excuse: bool,
}

/// The smallest evidence of one broken promise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Violation {
    /// In words, with client names, times in milliseconds and operation indexes.
    pub text: String,
    /// Indexes of the history events that prove it.
    pub operations: Vec<u64>,
    /// Nanoseconds since the run began.
    pub start_ns: u64,
    /// Nanoseconds since the run began.
    pub end_ns: u64,
    /// Ids of the faults under way between start and end.
    pub faults: Vec<u32>,
    /// Figures of this violation alone, such as `overlap_ms`.
    #[serde(flatten)]
    pub figures: Map<String, Value>,
}

/// Answers of all checks of a run, by name.
pub type CheckResults = BTreeMap<String, CheckResult>;
