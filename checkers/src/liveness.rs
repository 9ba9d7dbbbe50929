use super::{
    check::{Check, Stake},
    crash::may_be_from_outside,
    findings::{Findings, figures, unknown},
    stalls::Whose,
    table::{Attempt, Hold, LockTable},
    words::{Ms, ms},
};
use history::{
    Outcome,
    verdict::{CheckResult, Verdict, Violation},
};

pub(super) const CHECK: Check = Check {
    name: "liveness",
    about: "after the last heal the lock was not granted within TTL + bound, or a waiter waits for ever",
    promise: "After the last fault has healed the lock can be had again, and nobody waits for ever.",
    prevented_by: "A lock that ends by time, a watch that is set before what it waits for is read, and a client that \
        gives up waiting and asks again, keep a lock usable.",
    rank: 8,
    informs: false,
    on_occasion: false,
    kept_only_at_end: true,
    stalls_excuse: true,
    stake: Stake::Grant,
    needs_every_grant: false,
    not_applicable: |case| {
        let untold = "the history has no phases: it does not tell when the last fault was healed";
        case.table.phases.is_empty().then_some(untold)
    },
    run: |case| liveness(&case.table),
};

/// After the last heal each lock must be granted within TTL + bound of being wanted and free, again and again.
///
/// A lock counts as free from the end of its last hold: from the completion of a successful release, otherwise a TTL
/// after its client gave up. What happened before the heal has to be over by TTL + bound, whatever it was, so there
/// the clock starts at the heal unless a certain hold goes on. Somebody must have wanted the lock when the time was
/// up, or asked later and in vain; short attempts with nobody asking between prove nothing.
fn liveness(table: &LockTable<'_>) -> CheckResult {
    let Some(phase) = table.phase("liveness") else {
        return unknown("the run has no liveness phase: it ended before the last fault was healed");
    };
    let Some(bound_ns) = phase.bound_ns else { return unknown("the liveness phase states no bound") };
    let end_ns = table.phase("end").map_or(table.end, |end| end.at).time;
    let ttl_ns = phase.ttl_ns.unwrap_or(0);
    let span =
        Span { table, heal_ns: phase.at.time, end_ns, ttl_ns, limit_ns: ttl_ns.saturating_add(bound_ns) };

    let mut findings = Findings::new();
    let mut undecided = None;
    for (lock, attempts, holds) in by_lock(table) {
        let stuck = span.stuck(&attempts, &holds);
        if stuck.is_empty() {
            undecided = undecided.or_else(|| span.undecided(lock, &attempts, &holds));
        }
        stuck.into_iter().for_each(|stuck| findings.push(stuck));
    }
    let reason = "a free lock was not granted within TTL + bound after the last heal";
    findings.set_aside(|stuck| {
        let beyond_ns = (stuck.end_ns - stuck.start_ns).saturating_sub(span.limit_ns);
        table.stalled_ns(Whose::Any, stuck.start_ns, stuck.end_ns) >= beyond_ns
    });
    let blame = if table.exits.is_empty() { "recipe or service" } else { "service" };
    let result =
        findings.judge_rest(table, Some(blame), reason, |stuck| stuck.start_ns, |stuck| span.tell(stuck));
    let outside = table.exits.iter().find(|exit| may_be_from_outside(exit));
    match (result.verdict, undecided, outside) {
        (Verdict::Invalid, _, Some(exit)) => {
            unknown(format!("{reason}, but {}", table.ended_from_outside(exit)))
        }
        (Verdict::Valid, Some(why), _) => unknown(why),
        _ => result,
    }
}

/// Attempts in order of invocation and holds in order of grant of each lock.
fn by_lock<'t>(table: &'t LockTable<'_>) -> Vec<(u32, Vec<&'t Attempt>, Vec<&'t Hold>)> {
    let mut locks: Vec<_> =
        (0..table.locks.len() as u32).map(|lock| (lock, Vec::new(), Vec::new())).collect();
    table.attempts.iter().for_each(|attempt| locks[attempt.lock as usize].1.push(attempt));
    table.holds.iter().for_each(|hold| locks[table.grant_of(hold).lock as usize].2.push(hold));
    locks.retain(|(_, attempts, _)| !attempts.is_empty());
    locks
}

/// The liveness phase and what it allows.
struct Span<'t, 'h> {
    table: &'t LockTable<'h>,
    heal_ns: u64,
    end_ns: u64,
    ttl_ns: u64,
    limit_ns: u64,
}

/// A time in which a lock was wanted and free, and not granted.
struct Stuck<'t> {
    witness: &'t Attempt,
    start_ns: u64,
    end_ns: u64,
    granted: bool,
}

impl<'t> Span<'t, '_> {
    fn stuck(&self, attempts: &[&'t Attempt], holds: &[&Hold]) -> Vec<Stuck<'t>> {
        let mut stuck = Vec::new();
        let mut free_ns = self.heal_ns;
        for hold in holds {
            if hold.start.time > self.heal_ns {
                stuck.extend(self.stretch(attempts, free_ns, hold.start.time.min(self.end_ns), true));
            }
            if hold.until_ns() > self.heal_ns {
                free_ns = free_ns.max(self.free_after(hold));
            }
        }
        stuck.extend(self.stretch(attempts, free_ns, self.end_ns, false));
        stuck
    }

    fn free_after(&self, hold: &Hold) -> u64 {
        let released =
            self.table.releases_of(hold.grant).iter().find(|release| release.outcome == Outcome::Ok);
        released.map_or(hold.end.time.saturating_add(self.ttl_ns), |release| release.end.time)
    }

    /// Whether a lock that was free between two moments was wanted for too long.
    fn stretch(
        &self,
        attempts: &[&'t Attempt],
        free_ns: u64,
        end_ns: u64,
        granted: bool,
    ) -> Option<Stuck<'t>> {
        if end_ns.saturating_sub(free_ns) <= self.limit_ns {
            return None;
        }
        let within = |attempt: &&&Attempt| attempt.end.time > free_ns && attempt.invoke.time < end_ns;
        let wanted = attempts.iter().filter(within).map(|attempt| attempt.invoke.time.max(free_ns));
        let start_ns = wanted.min()?;
        let late_ns = start_ns.saturating_add(self.limit_ns);
        let proves = |attempt: &&&Attempt| {
            attempt.end.time > late_ns && (attempt.invoke.time <= late_ns || attempt.outcome != Outcome::Ok)
        };
        let witness = attempts.iter().filter(within).find(proves)?;
        (end_ns > late_ns).then_some(Stuck { witness, start_ns, end_ns, granted })
    }

    /// Why a lock without violation is not known to be usable either.
    fn undecided(&self, lock: u32, attempts: &[&Attempt], holds: &[&Hold]) -> Option<String> {
        if holds.iter().any(|hold| hold.start.time >= self.heal_ns) {
            return None;
        }
        let what = self.table.what(lock);
        Some(match attempts.iter().any(|attempt| attempt.end.time > self.heal_ns) {
            false => format!("nobody asked for {what} after the last heal"),
            true => format!(
                "{what} was not granted after the last heal, but the run ended before its time was up"
            ),
        })
    }

    fn tell(&self, stuck: &Stuck<'_>) -> Violation {
        let Stuck { witness, start_ns, end_ns, granted } = *stuck;
        let (faults, clause) = self.table.faults_within(start_ns, end_ns);
        let got = if granted { "was granted only at" } else { "was not granted before the end at" };
        let text = format!(
            "After the last heal at {}, {} was wanted and free from {} on but {got} {}, {} later, where {} are \
             allowed; {} asked at {} and waited until {}; {clause}.",
            Ms(self.heal_ns),
            self.table.what(witness.lock),
            Ms(start_ns),
            Ms(end_ns),
            Ms(end_ns - start_ns),
            Ms(self.limit_ns),
            self.table.who(witness.process),
            Ms(witness.invoke.time),
            Ms(witness.end.time),
        );
        let operations = vec![witness.invoke.index(), witness.end.index()];
        let figures = figures([("waited_ms", ms(end_ns - start_ns).into())]);
        Violation { text, operations, start_ns, end_ns, faults, figures }
    }
}
