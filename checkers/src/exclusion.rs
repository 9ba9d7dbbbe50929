use super::{
    check::{Check, Stake},
    findings::{Findings, figures},
    stalls::Whose,
    table::{Hold, LockTable},
    words::{Ms, ms},
};
use history::{
    holds::Ending,
    verdict::{CheckResult, Violation},
};
use linear::special::belief::{Belief, Overlap, overlaps};

pub(super) const CHECK: Check = Check {
    name: "exclusion",
    about: "two clients were entitled to believe at once that they hold one lock, or lead",
    promise: "Never do two clients believe at once that they hold the same lock.",
    prevented_by: "A lock that ends by time is over for a client that stands still, and the client does not know: one \
        that looks at its clock before it acts, and a resource that refuses a lower token than the highest \
        it has seen, keep this from doing harm.",
    rank: 1,
    informs: false,
    on_occasion: false,
    kept_only_at_end: false,
    stalls_excuse: true,
    stake: Stake::Contention,
    needs_every_grant: true,
    not_applicable: |_| None,
    run: |case| exclusion(&case.table),
};

/// Two holds of one lock overlap. Every hold that began while another client held the lock is one violation, shown
/// with the one among those that lasts longest.
///
/// A hold that begins at the very moment in which another ends does not overlap it: what happened at one time may
/// have happened in either order. One that nothing ends up to the last event lasts beyond that. A grant that came when
/// its own deadline had passed begins no hold: whoever knows the deadline knows that too.
///
/// What is judged is what clients were entitled to believe. Noticing late that a deadline has passed is no violation,
/// acting late is one of `deadline`.
fn exclusion(table: &LockTable<'_>) -> CheckResult {
    let mut locks: Vec<Lock> = table.locks.iter().map(|_| Lock::default()).collect();
    for (place, hold) in (0..).zip(&table.holds) {
        let grant = table.grant_of(hold);
        let (from, until) = (hold.start.time, hold.until_ns());
        locks[grant.lock as usize].take(Belief { owner: grant.client, from, until, op: place });
    }
    let mut findings = Findings::new();
    for overlap in locks.into_iter().flat_map(Lock::finish) {
        let hold = |belief: Belief| &table.holds[belief.op as usize];
        findings.push((hold(overlap.first), hold(overlap.second)));
    }
    findings.set_aside(|(earlier, later)| {
        let (start_ns, end_ns) = overlap_ns(earlier, later);
        let clients =
            [earlier, later].map(|hold| table.node(table.grant_of(hold).process).unwrap_or_default());
        table.stalled_ns(Whose::Nodes(&clients), earlier.start.time, end_ns) >= (end_ns - start_ns).max(1)
    });
    let reason = "two holds of one lock overlap";
    findings.judge_rest(
        table,
        None,
        reason,
        |(_, later)| later.start.time,
        |(earlier, later)| tell(table, earlier, later),
    )
}

/// The holds of a lock, as they begin.
#[derive(Default)]
struct Lock {
    /// Since the last moment at which nobody held it: none of those before overlaps one of these. Mostly a single one.
    beliefs: Vec<Belief>,
    over_ns: u64,
    overlaps: Vec<Overlap>,
}

impl Lock {
    fn take(&mut self, belief: Belief) {
        if self.over_ns <= belief.from {
            self.look();
        }
        self.over_ns = self.over_ns.max(belief.until).max(belief.from);
        self.beliefs.push(belief);
    }

    fn look(&mut self) {
        if self.beliefs.len() > 1 {
            self.overlaps.extend(overlaps(&self.beliefs));
        }
        self.beliefs.clear();
    }

    fn finish(mut self) -> Vec<Overlap> {
        self.look();
        self.overlaps
    }
}

/// When both believed, as far as the history goes.
fn overlap_ns(earlier: &Hold, later: &Hold) -> (u64, u64) {
    (later.start.time, earlier.end.time.min(later.end.time))
}

fn tell(table: &LockTable<'_>, earlier: &Hold, later: &Hold) -> Violation {
    let (start_ns, end_ns) = overlap_ns(earlier, later);
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    let first = table.grant_of(earlier);
    let held = if table.locks[first.lock as usize].election { "led" } else { "held it" };
    let token = table.given(first).token().map(|token| format!("{} {token}, ", table.token_word(first.lock)));
    let text = format!(
        "{} while {} still {held} ({}{}): both believed for {}; {clause}.",
        table.began(later),
        table.who(first.process),
        token.unwrap_or_default(),
        table.span(earlier),
        Ms(end_ns - start_ns),
    );
    let mut operations = vec![earlier.start.index(), later.start.index()];
    let first_end = if earlier.until_ns() <= later.until_ns() { earlier } else { later };
    if first_end.ending != Ending::Open && !operations.contains(&first_end.end.index()) {
        operations.push(first_end.end.index());
    }
    let figures = figures([("overlap_ms", ms(end_ns - start_ns).into())]);
    Violation { text, operations, start_ns, end_ns, faults, figures }
}
