use super::{
    findings::{Findings, figures},
    say::{Ms, ms},
    table::{Access, LockTable, Promise},
};
use crate::verdict::{CheckResult, Violation};

/// A client invoked a write after its own lease's deadline: sending is what the client controls.
///
/// The deadline is the one that the client itself stated with its last acquire or renew. Where it states none, it is
/// TTL after the request was sent that succeeded, which the client knew. Where that is not told either, TTL after the
/// ok: from the invoke on would be too early, for an acquire may wait long before the lease begins.
pub(super) fn deadline(table: &LockTable<'_>) -> CheckResult {
    let mut findings = Findings::new();
    for write in table.accesses.iter().filter(|access| access.write) {
        let Some(promise) = write.promise.map(|promise| &table.promises[promise as usize]) else { continue };
        if deadline_ns(promise).is_some_and(|deadline| write.invoke.time > deadline) {
            findings.push((write, promise));
        }
    }
    let reason = "a client wrote after the deadline of its own lease";
    findings.judge(
        Some("client"),
        reason,
        |(write, _)| write.invoke.time,
        |(write, promise)| tell(table, write, promise),
    )
}

fn deadline_ns(promise: &Promise) -> Option<u64> {
    let lease_end = || Some(promise.asked_ns().unwrap_or(promise.ok.time).saturating_add(promise.ttl_ns()?));
    promise.deadline_ns().or_else(lease_end)
}

fn tell(table: &LockTable<'_>, write: &Access<'_>, promise: &Promise) -> Violation {
    let (start_ns, end_ns) = (deadline_ns(promise).unwrap_or(0), write.invoke.time);
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    let hold = &table.holds[promise.hold as usize];
    let asked = if promise.ok == hold.start { "granted" } else { "renewed" };
    let text = format!(
        "{} sent write {:?} under {} at {}, {} after its own lease ({asked} at {}) had ended at {}; {clause}.",
        table.who(write.process),
        write.name(),
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
