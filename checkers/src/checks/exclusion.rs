use super::{
    findings::{Findings, figures},
    say::{Ms, ms},
    table::{Ending, Hold, LockTable},
};
use crate::{
    special::belief::{Belief, overlaps},
    verdict::{CheckResult, Violation},
};

/// Two holds of one lock overlap. Every hold that began while another process held the lock is one violation, shown
/// with the one among those that lasts longest.
///
/// A hold that begins at the very moment in which another ends does not overlap it: what happened at one time may
/// have happened in either order. A grant that came when its own deadline had passed begins none: whoever knows the
/// deadline knows that too.
pub(super) fn exclusion(table: &LockTable<'_>) -> CheckResult {
    let mut by_lock: Vec<Vec<Belief>> = vec![Vec::new(); table.locks.len()];
    for (place, hold) in table.holds.iter().enumerate().filter(|(_, hold)| !hold.late) {
        let (from, until) = (hold.start.time, hold.end.time);
        by_lock[hold.lock as usize].push(Belief { owner: hold.process, from, until, op: place as u32 });
    }
    let mut findings = Findings::new();
    for overlap in by_lock.iter().flat_map(|beliefs| overlaps(beliefs)) {
        let hold = |belief: Belief| &table.holds[belief.op as usize];
        findings.push((hold(overlap.first), hold(overlap.second)));
    }
    let reason = "two holds of one lock overlap";
    findings.judge(
        None,
        reason,
        |(_, later)| later.start.time,
        |(earlier, later)| tell(table, earlier, later),
    )
}

fn tell(table: &LockTable<'_>, earlier: &Hold, later: &Hold) -> Violation {
    let (start_ns, end_ns) = (later.start.time, earlier.end.time.min(later.end.time));
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    let held = if table.locks[later.lock as usize].election { "led" } else { "held it" };
    let token = earlier.token().map(|token| format!("{} {token}, ", table.token_word(earlier.lock)));
    let text = format!(
        "{} while {} still {held} ({}{}): both believed for {}; {clause}.",
        table.got(later),
        table.who(earlier.process),
        token.unwrap_or_default(),
        table.span(earlier),
        Ms(end_ns - start_ns),
    );
    let mut operations = vec![earlier.start.index(), later.start.index()];
    let first_end = if earlier.end <= later.end { earlier } else { later };
    if first_end.ending != Ending::Open && !operations.contains(&first_end.end.index()) {
        operations.push(first_end.end.index());
    }
    let figures = figures([("overlap_ms", ms(end_ns - start_ns).into())]);
    Violation { text, operations, start_ns, end_ns, faults, figures }
}
