//! Violations of a whole run in the order in which every report numbers them.

use std::cmp::Reverse;

use history::{
    judgement::Judgement,
    verdict::{CheckResult, Verdict, Violation},
};

/// One violation under its number.
#[derive(Clone, Copy, Debug)]
pub struct Numbered<'a> {
    /// From 1; `#v1` in the page.
    pub number: usize,
    /// The check that found it.
    pub check: &'a str,
    /// The evidence.
    pub violation: &'a Violation,
}

impl Numbered<'_> {
    /// How long two holds overlapped in milliseconds, where the violation is such an overlap.
    pub fn overlap_ms(&self) -> Option<f64> {
        self.violation.figures.get("overlap_ms").and_then(serde_json::Value::as_f64)
    }

    /// Whether it is that a register of the resource lost a write, the first of its operations.
    pub fn is_lost_write(&self) -> bool {
        self.violation.figures.contains_key("register")
    }
}

/// All listed violations: what others follow from first; within a check as the check lists them.
pub fn numbered(judgement: &Judgement) -> Vec<Numbered<'_>> {
    let mut checks: Vec<_> = judgement.checks.iter().collect();
    checks.sort_by_key(|(name, result)| (Reverse(result.verdict == Verdict::Invalid), rank(result), *name));
    checks
        .into_iter()
        .flat_map(|(name, result)| result.violations.iter().map(move |violation| (name, violation)))
        .enumerate()
        .map(|(i, (check, violation))| Numbered { number: i + 1, check, violation })
        .collect()
}

/// Position of a check in every list of checks: as its result says, and behind all others where that says nothing.
pub fn rank(result: &CheckResult) -> u32 {
    result.about.rank.unwrap_or(u32::MAX)
}
