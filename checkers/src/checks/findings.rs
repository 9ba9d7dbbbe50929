use serde_json::Map;

use crate::verdict::{CheckResult, Verdict, Violation};

/// How many violations a result lists; all are counted.
pub(super) const LISTED: usize = 100;

/// What a check found, before it is put into words: the first violations by start, and how many there are.
pub(super) struct Findings<T> {
    pub count: u64,
    pub found: Vec<T>,
}

impl<T> Findings<T> {
    pub(super) fn new() -> Self {
        Findings { count: 0, found: Vec::new() }
    }

    pub(super) fn push(&mut self, violation: T) {
        self.count += 1;
        self.found.push(violation);
    }

    /// `Invalid` if anything was found, and why.
    pub(super) fn judge(
        mut self,
        blame: Option<&str>,
        reason: &str,
        start_ns: impl Fn(&T) -> u64,
        tell: impl Fn(&T) -> Violation,
    ) -> CheckResult {
        if self.count == 0 {
            return valid();
        }
        self.found.sort_by_key(start_ns);
        CheckResult {
            verdict: Verdict::Invalid,
            count: self.count,
            blame: blame.map(str::to_owned),
            reason: Some(reason.to_owned()),
            violations: self.found.iter().take(LISTED).map(tell).collect(),
            figures: Map::new(),
        }
    }
}

/// The promise held.
pub(super) fn valid() -> CheckResult {
    CheckResult {
        verdict: Verdict::Valid,
        count: 0,
        blame: None,
        reason: None,
        violations: Vec::new(),
        figures: Map::new(),
    }
}

/// Nothing certain can be said.
pub(super) fn unknown(reason: impl Into<String>) -> CheckResult {
    CheckResult { verdict: Verdict::Unknown, reason: Some(reason.into()), ..valid() }
}

/// The figures of a violation or of a check.
pub(super) fn figures<const N: usize>(
    pairs: [(&str, serde_json::Value); N],
) -> Map<String, serde_json::Value> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
