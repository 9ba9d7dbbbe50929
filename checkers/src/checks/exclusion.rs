use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    findings::{Findings, LISTED, figures},
    say::{Ms, ms},
    table::{Ending, Hold, LockTable},
};
use crate::verdict::{CheckResult, Violation};

/// Two holds of one lock overlap. Every overlapping pair counts as one violation.
///
/// A hold that begins at the very moment in which another ends does not overlap it: what happened at one time may
/// have happened in either order. O(n log n) beside the pairs that are listed.
pub(super) fn exclusion(table: &LockTable<'_>) -> CheckResult {
    let overlaps = overlaps(table);
    let reason = "two holds of one lock overlap";
    overlaps.judge(
        None,
        reason,
        |(_, later)| later.start.time,
        |(earlier, later)| tell(table, earlier, later),
    )
}

/// All overlapping pairs, the one that began first in front; of each lock at least the first hundred are listed.
fn overlaps<'t>(table: &'t LockTable<'_>) -> Findings<(&'t Hold, &'t Hold)> {
    let mut holds: Vec<&Hold> = table.holds.iter().collect();
    holds.sort_by_key(|hold| (hold.lock, hold.start.time, hold.end.time, hold.start.index));
    let mut findings = Findings::new();
    for of_lock in holds.chunk_by(|a, b| a.lock == b.lock) {
        sweep(of_lock, &mut findings);
    }
    findings
}

/// Holds come by start and then by end, so an earlier one overlaps exactly if it ends after the next one's start.
fn sweep<'t>(holds: &[&'t Hold], findings: &mut Findings<(&'t Hold, &'t Hold)>) {
    let mut active: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut listed = 0;
    for (i, later) in holds.iter().enumerate() {
        while active.peek().is_some_and(|Reverse((end, _))| *end <= later.start.time) {
            active.pop();
        }
        findings.count += active.len() as u64;
        if listed < LISTED {
            let mut earlier: Vec<usize> = active.iter().map(|Reverse((_, j))| *j).collect();
            earlier.sort_unstable();
            earlier.truncate(LISTED - listed);
            listed += earlier.len();
            findings.found.extend(earlier.into_iter().map(|j| (holds[j], *later)));
        }
        active.push(Reverse((later.end.time, i)));
    }
}

fn tell(table: &LockTable<'_>, earlier: &Hold, later: &Hold) -> Violation {
    let (start_ns, end_ns) = (later.start.time, earlier.end.time.min(later.end.time));
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    let held = if table.locks[later.lock as usize].election { "led" } else { "held it" };
    let token = earlier.token.map(|token| format!("{} {token}, ", table.token_word(earlier.lock)));
    let text = format!(
        "{} while {} still {held} ({}{}): both believed for {}; {clause}.",
        table.got(later),
        table.who(earlier.process),
        token.unwrap_or_default(),
        table.span(earlier),
        Ms(end_ns - start_ns),
    );
    let mut operations = vec![earlier.start.index, later.start.index];
    let first_end = if earlier.end <= later.end { earlier } else { later };
    if first_end.ending != Ending::Open && !operations.contains(&first_end.end.index) {
        operations.push(first_end.end.index);
    }
    let figures = figures([("overlap_ms", ms(end_ns - start_ns).into())]);
    Violation { text, operations, start_ns, end_ns, faults, figures }
}
