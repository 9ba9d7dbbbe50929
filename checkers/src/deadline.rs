use super::{
    check::{Case, Check, Stake},
    findings::{Findings, figures},
    stalls::Whose,
    table::{Access, LockTable, Promise, Without},
    words::{Ms, ms},
};
use history::{
    holds::Ending,
    verdict::{CheckResult, Violation},
};

/// What a clock's resolution may add to a stated deadline.
const RESOLUTION_NS: u64 = 1_000_000;

pub(super) const CHECK: Check = Check {
    name: "deadline",
    about: "a client wrote to the resource after its own deadline, or held nothing; or it stated a deadline \
        beyond what was promised",
    promise: "A client stops writing when its own lease has run out.",
    prevented_by: "A client that looks at its clock right before each write, and stops at the deadline of its own \
        lease, would have prevented it.",
    rank: 5,
    informs: false,
    on_occasion: false,
    kept_only_at_end: false,
    stalls_excuse: true,
    stake: Stake::Contention,
    needs_every_grant: true,
    not_applicable,
    run: |case| deadline(&case.table),
};

/// Without a write only a deadline that was stated can break it.
fn not_applicable(case: &Case<'_>) -> Option<&'static str> {
    let promises = &case.table.promises;
    let stated = |promise: &&Promise| promise.deadline_ns().is_some();
    let has_stated = promises.iter().any(|promise| stated(&promise));
    let has_stated_with_ttl = promises.iter().filter(stated).any(|promise| promise.ttl_ns().is_some());
    if !case.has_writes() && !has_stated_with_ttl {
        return Some("nothing was written");
    }
    let without = case.table.accesses.iter().any(|access| access.write && access.is_without());
    let has_end = case.recipe.ttl || has_stated || without;
    (!has_end).then_some("the recipe's grants have neither deadline nor time to live")
}

/// A client invoked a write after its own lease's deadline, or while it held nothing: sending is what the client
/// controls. Or it stated a deadline beyond what was promised.
///
/// The deadline is the one that the client itself stated with its last grant or renewal. Where it states none, it is
/// TTL after the request was sent that succeeded, which the client knew. Where that is not told either, TTL after the
/// ok: from the invoke on would be too early, for an acquire may wait long before the lease begins.
///
/// Noticing late that the deadline has passed breaks nothing; how often and how late is told in `noticed_late` and
/// `noticed_late_max_ms`.
fn deadline(table: &LockTable<'_>) -> CheckResult {
    let mut findings = Findings::new();
    table
        .promises
        .iter()
        .filter(|promise| is_overlong(promise))
        .for_each(|it| findings.push(Breach::Overlong(it)));
    // A history that has no acquire of a lock does not tell who held it.
    let mut told = vec![false; table.locks.len()];
    table.attempts.iter().for_each(|attempt| told[attempt.lock as usize] = true);
    for write in table.accesses.iter().filter(|access| access.write && told[access.lock as usize]) {
        if let Some(breach) = breach(table, write) {
            findings.push(breach);
        }
    }
    findings.set_aside(|breach| match breach {
        Breach::Late(write, promise) => {
            let late_ns = write.invoke.time - deadline_ns(promise).unwrap_or(0);
            let client = [table.node(write.process).unwrap_or_default()];
            table.stalled_ns(Whose::Nodes(&client), promise.ok.time, write.invoke.time) >= late_ns
        }
        Breach::Without(..) | Breach::Overlong(_) => false,
    });
    let reason = reason(&findings.found);
    let mut result =
        findings.judge_rest(table, Some("client"), reason, Breach::start_ns, |breach| match breach {
            Breach::Late(write, promise) => tell_late(table, write, promise),
            Breach::Without(write, why) => tell_without(table, write, *why),
            Breach::Overlong(promise) => tell_overlong(table, promise),
        });
    let late = table.noticed_late;
    if late.count > 0 {
        result.figures.insert("noticed_late".to_owned(), late.count.into());
        result.figures.insert("noticed_late_max_ms".to_owned(), ms(late.max_ns).into());
    }
    result
}

enum Breach<'t> {
    /// A write after the deadline of this promise.
    Late(&'t Access, &'t Promise),
    /// A write of a client that held nothing.
    Without(&'t Access, Without),
    /// The stated deadline lies beyond the promise.
    Overlong(&'t Promise),
}

impl Breach<'_> {
    fn start_ns(&self) -> u64 {
        match self {
            Breach::Late(write, _) | Breach::Without(write, _) => write.invoke.time,
            Breach::Overlong(promise) => promise.ok.time,
        }
    }
}

fn breach<'t>(table: &'t LockTable<'_>, write: &'t Access) -> Option<Breach<'t>> {
    let promise = write.promise().map(|promise| &table.promises[promise as usize]);
    if let Some(promise) = promise.filter(|it| deadline_ns(it).is_some_and(|end| write.invoke.time > end)) {
        return Some(Breach::Late(write, promise));
    }
    table.without(write).map(|without| Breach::Without(write, without))
}

fn reason(breaches: &[Breach<'_>]) -> &'static str {
    match breaches.first() {
        _ if breaches.iter().any(|it| matches!(it, Breach::Late(..))) => {
            "a client wrote after the deadline of its own lease"
        }
        Some(Breach::Overlong(_)) if breaches.iter().all(|it| matches!(it, Breach::Overlong(_))) => {
            "a client stated a deadline beyond what it was promised"
        }
        _ => "a client wrote while it held nothing",
    }
}

fn deadline_ns(promise: &Promise) -> Option<u64> {
    let lease_end = || Some(promise.asked_ns().unwrap_or(promise.ok.time).saturating_add(promise.ttl_ns()?));
    promise.deadline_ns().or_else(lease_end)
}

/// The latest moment up to which the client may rely on the promise: it counts from the request at the latest.
fn promised_ns(promise: &Promise) -> Option<u64> {
    let asked_ns = promise.asked_ns().map_or(promise.ok.time, |asked| asked.max(promise.invoke.time));
    Some(asked_ns.saturating_add(promise.ttl_ns()?))
}

fn is_overlong(promise: &Promise) -> bool {
    let limit_ns = promised_ns(promise).map(|end| end.saturating_add(RESOLUTION_NS));
    promise.deadline_ns().zip(limit_ns).is_some_and(|(stated, limit)| stated > limit)
}

fn tell_late(table: &LockTable<'_>, write: &Access, promise: &Promise) -> Violation {
    let (start_ns, end_ns) = (deadline_ns(promise).unwrap_or(0), write.invoke.time);
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    let asked = if table.is_renewal(promise) { "renewed" } else { "granted" };
    let text = format!(
        "{} sent write {:?} under {} at {}, {} after its own lease ({asked} at {}) had ended at {}; {clause}.",
        table.who(write.process),
        table.name_of(write),
        table.what(write.lock),
        Ms(end_ns),
        Ms(end_ns - start_ns),
        Ms(promise.ok.time),
        Ms(start_ns),
    );
    let operations = vec![promise.ok.index(), write.invoke.index()];
    let figures = figures([("late_ms", ms(end_ns - start_ns).into())]);
    Violation { text, operations, start_ns, end_ns, faults, figures }
}

fn tell_without(table: &LockTable<'_>, write: &Access, why: Without) -> Violation {
    let (since, said) = match why {
        Without::NeverGranted(None) => (None, "had never asked for the lock".to_owned()),
        Without::NeverGranted(Some(attempt)) => {
            let attempt = &table.attempts[attempt as usize];
            (
                Some(attempt.invoke),
                format!("had asked for it at {} and was not granted it", Ms(attempt.invoke.time)),
            )
        }
        Without::Ended(ending, at) => (Some(at), format!("{} at {}", how_it_ended(ending), Ms(at.time))),
    };
    let (start_ns, end_ns) = (since.map_or(write.invoke.time, |at| at.time), write.invoke.time);
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    let text = format!(
        "{} sent write {:?} under {} at {} and held nothing: it {said}; {clause}.",
        table.who(write.process),
        table.name_of(write),
        table.what(write.lock),
        Ms(end_ns),
    );
    let operations = since.map(|at| at.index()).into_iter().chain([write.invoke.index()]).collect();
    Violation { text, operations, start_ns, end_ns, faults, ..Violation::default() }
}

fn how_it_ended(ending: Ending) -> &'static str {
    match ending {
        Ending::Released => "had asked to release it",
        Ending::Lapsed => "had said that it held it no more",
        Ending::Refused => "was refused a renewal",
        Ending::Reacquired | Ending::Retired => "had given up",
        Ending::Crashed => "was killed",
        Ending::Deadline | Ending::Open => "lost it",
    }
}

fn tell_overlong(table: &LockTable<'_>, promise: &Promise) -> Violation {
    let (stated_ns, end_ns) = (promise.deadline_ns().unwrap_or(0), promised_ns(promise).unwrap_or(0));
    let (faults, clause) = table.faults_within(promise.invoke.time, promise.ok.time);
    let text = format!(
        "{}, and stated that it may rely on that until {}, {} beyond the promise ({} from {}); {clause}.",
        table.answered(promise),
        Ms(stated_ns),
        Ms(stated_ns - end_ns),
        Ms(promise.ttl_ns().unwrap_or(0)),
        Ms(promise.asked_ns().unwrap_or(promise.ok.time)),
    );
    let figures = figures([("beyond_ms", ms(stated_ns - end_ns).into())]);
    let operations = vec![promise.ok.index()];
    Violation { text, operations, start_ns: promise.ok.time, end_ns: promise.ok.time, faults, figures }
}
