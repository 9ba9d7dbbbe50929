use serde_json::Map;

use super::table::LockTable;
use history::verdict::{CheckResult, Verdict, Violation};

/// How many violations a result lists; all are counted.
pub(super) const LISTED: usize = 100;

/// What a check found, before it is put into words: the first violations by start, and how many there are.
pub(super) struct Findings<T> {
    pub count: u64,
    pub found: Vec<T>,
    set_aside: u64,
}

impl<T> Findings<T> {
    pub(super) fn new() -> Self {
        Findings { count: 0, found: Vec::new(), set_aside: 0 }
    }

    pub(super) fn push(&mut self, violation: T) {
        self.count += 1;
        self.found.push(violation);
    }

    /// Takes out those that a machine which stood still explains: they accuse nobody.
    pub(super) fn set_aside(&mut self, explained: impl Fn(&T) -> bool) {
        let before = self.found.len();
        self.found.retain(|violation| !explained(violation));
        self.set_aside += (before - self.found.len()) as u64;
        self.count = self.found.len() as u64;
    }

    /// As [`judge`](Self::judge), with what was set aside: `Unknown` if nothing else was found.
    pub(super) fn judge_rest(
        self,
        table: &LockTable<'_>,
        blame: Option<&str>,
        reason: &str,
        start_ns: impl Fn(&T) -> u64,
        tell: impl Fn(&T) -> Violation,
    ) -> CheckResult {
        let set_aside = self.set_aside;
        let mut result = self.judge(blame, reason, start_ns, tell);
        if set_aside == 0 {
            return result;
        }
        if result.verdict == Verdict::Valid {
            let stalls = table.stalls_told();
            result = unknown(format!("{set_aside} possible violation(s) set aside, for {stalls}"));
        }
        result.figures.insert("set_aside".to_owned(), set_aside.into());
        result
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
            about: Default::default(),
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
        about: Default::default(),
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
