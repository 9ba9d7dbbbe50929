//! What came of applying or healing a fault, node by node and all in all.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    evidence::{Evidence, FaultResult},
    verbs::{Answer, Shown},
};

/// What one node showed, as histories have it.
#[derive(Clone, Debug)]
pub struct Report {
    shown: Value,
    touched: bool,
    ended: bool,
}

impl<T: Shown> From<T> for Report {
    fn from(shown: T) -> Report {
        Report { touched: shown.touched(), ended: shown.ended(), shown: json!(shown) }
    }
}

/// A verb's answer as a report.
pub fn reported<T: Shown>(answer: Answer<T>) -> Answer<Report> {
    Ok(answer?.map(Report::from))
}

/// What came of applying a fault.
#[derive(Clone, Debug)]
pub struct Applied {
    /// When the last of it was done, in nanoseconds since the run began; none where nothing was.
    pub at: Option<u64>,
    /// Whether it took effect, as far as can be told now.
    pub result: FaultResult,
    /// What shows it.
    pub evidence: Evidence,
    /// The nodes whose processes it ended, also where the whole of it failed.
    pub ended: Vec<String>,
}

/// What came of a heal.
#[derive(Clone, Debug)]
pub struct Healed {
    /// When the last of it was done, in nanoseconds since the run began; none where nothing was.
    pub at: Option<u64>,
    /// What became of the fault.
    pub result: FaultResult,
    /// What shows it.
    pub evidence: Evidence,
    /// Whether the removal was verified.
    pub healed: bool,
}

/// By node, what came of its verbs.
pub(super) type Outcomes = Vec<(String, Answer<Report>)>;

/// All nodes together.
#[derive(Default)]
pub(super) struct Sum {
    pub at: Option<u64>,
    pub evidence: Evidence,
    pub touched: BTreeSet<String>,
    /// In the order of the outcomes.
    pub ended: Vec<String>,
    has_failed: bool,
}

impl Sum {
    pub fn of(outcomes: Outcomes) -> Sum {
        let mut sum = Sum::default();
        for (node, outcome) in outcomes {
            match outcome {
                Ok(done) => {
                    sum.at = sum.at.max(Some(done.at));
                    if done.shown.touched {
                        sum.touched.insert(node.clone());
                    }
                    if done.shown.ended {
                        sum.ended.push(node.clone());
                    }
                    sum.evidence.insert(node, done.shown.shown);
                }
                Err(not_done) => {
                    sum.has_failed = true;
                    sum.evidence.insert(node, json!(not_done));
                }
            }
        }
        sum
    }

    /// Tells of each node also what this shows.
    pub fn add_to(&self, evidence: &mut Evidence) {
        for (node, shown) in &self.evidence {
            let told = evidence.entry(node).or_insert_with(|| json!({}));
            if let (Some(told), Some(shown)) = (told.as_object_mut(), shown.as_object()) {
                told.extend(shown.clone());
            }
        }
    }

    /// Failed if it failed anywhere; without effect if it touched nothing anywhere.
    pub fn result(&self) -> FaultResult {
        match (self.has_failed, self.touched.is_empty()) {
            (true, _) => FaultResult::Failed,
            (false, true) => FaultResult::NoEffect,
            (false, false) => FaultResult::Installed,
        }
    }
}
