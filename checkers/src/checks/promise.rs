use std::collections::BTreeSet;

use super::{
    findings::{Findings, figures},
    say::{Ms, ms},
    table::{Hold, LockTable, Promise},
};
use crate::verdict::{CheckResult, Violation};

/// The service granted a lock to B before what it had promised to A had passed, A not having released.
///
/// A's promise lasts from the ok of its last successful acquire or renew until that operation's *invoke* (or, where
/// the client tells it, the sending of the request that succeeded) + TTL − drift. It is void from A's first release on, whatever came of that: a release may act at its invoke. It is not
/// void by A's lapse, lost connections or crash, for none of these tells the service anything.
///
/// The service is blamed only if no order of events excuses it. B's grant acted somewhere between B's invoke and ok.
/// If that may have been before A's grant (B's answer was then late), B's own promise must have been open when A
/// learned of its grant, or the tokens must tell that A came first. So each violation is one grant given too early.
/// O(n log n) for any service that is not broken throughout.
pub(super) fn promise(table: &LockTable<'_>, drift_ns: u64, tokens_ordered: bool) -> CheckResult {
    let mut sweep = Sweep { table, drift_ns, tokens_ordered, current: vec![NONE; table.holds.len()] };
    let mut active = vec![Active::new(); table.locks.len()];
    let mut findings = Findings::new();
    for (place, promise) in (0..).zip(&table.promises) {
        let lock = table.holds[promise.hold as usize].lock as usize;
        if let Some(early) = sweep.step(&mut active[lock], place, promise) {
            findings.push(early);
        }
    }
    let reason = "the lock was granted to another before the promised time had passed";
    findings.judge(Some("service"), reason, |early| early.grant.start.time, |early| tell(table, early))
}

/// A grant given before the end of a promise.
struct Early<'t> {
    promise: &'t Promise,
    promise_end_ns: u64,
    grant: &'t Hold,
}

/// No position in a table: a history has fewer events.
const NONE: u32 = u32::MAX;

/// The holds of one lock whose promise has not passed, by its end.
type Active = BTreeSet<(u64, u32)>;

struct Sweep<'t, 'h> {
    table: &'t LockTable<'h>,
    drift_ns: u64,
    tokens_ordered: bool,
    /// By hold: its last promise so far, a position in the table; [`NONE`] before its first.
    current: Vec<u32>,
}

impl<'t> Sweep<'t, '_> {
    /// Takes up one promise; if it came with a grant, tells whether that was too early.
    fn step(&mut self, active: &mut Active, place: u32, promise: &'t Promise) -> Option<Early<'t>> {
        let now = promise.ok.time;
        while active.first().is_some_and(|&(end, _)| end <= now) {
            active.pop_first();
        }
        let grant = &self.table.holds[promise.hold as usize];
        let end = self.end(promise);
        let broken = (promise.ok == grant.start).then(|| self.broken(active, grant, end)).flatten();
        if let Some(last) = self.current(promise.hold) {
            active.remove(&(self.end(last), promise.hold));
        }
        self.current[promise.hold as usize] = place;
        if end > now {
            active.insert((end, promise.hold));
        }
        let promise = self.current(broken?)?;
        Some(Early { promise, promise_end_ns: self.end(promise), grant })
    }

    fn current(&self, hold: u32) -> Option<&'t Promise> {
        self.table.promises.get(self.current[hold as usize] as usize)
    }

    /// Zero without a time to live: such a promise is never open.
    fn end(&self, promise: &Promise) -> u64 {
        promise.end_ns().map_or(0, |end| end.saturating_sub(self.drift_ns))
    }

    /// The hold with the latest promise that the grant certainly broke. Released holds are forgotten on the way.
    fn broken(&self, active: &mut Active, grant: &Hold, grant_end_ns: u64) -> Option<u32> {
        let mut released = Vec::new();
        let mut broken = None;
        for &(end, hold) in active.iter().rev() {
            let first = &self.table.holds[hold as usize];
            if first.release.is_some_and(|release| release.invoke.time <= grant.start.time) {
                released.push((end, hold));
            } else if self.breaks(first, grant, grant_end_ns) {
                broken = Some(hold);
                break;
            }
        }
        released.iter().for_each(|entry| _ = active.remove(entry));
        broken
    }

    /// Whether the service broke a promise even if the later answer belongs to the earlier grant.
    fn breaks(&self, first: &Hold, grant: &Hold, grant_end_ns: u64) -> bool {
        let asked_after = grant.invoke.time >= first.start.time;
        let own_open = grant_end_ns > first.start.time;
        let tokens_tell = self.tokens_ordered && first.token().zip(grant.token()).is_some_and(|(a, b)| a < b);
        !self.table.same_client(first.process, grant.process) && (asked_after || own_open || tokens_tell)
    }
}

fn tell(table: &LockTable<'_>, early: &Early<'_>) -> Violation {
    let first = &table.holds[early.promise.hold as usize];
    let (start_ns, end_ns) = (early.grant.start.time, early.promise_end_ns);
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    let asked = if early.promise.ok == first.start { "asked for" } else { "renewed" };
    let text = format!(
        "{}, {} before the service's promise to {} ended at {} ({asked} at {} for {}, not released before); {clause}.",
        table.got(early.grant),
        Ms(end_ns - start_ns),
        table.who(first.process),
        Ms(end_ns),
        Ms(early.promise.asked_ns().unwrap_or(early.promise.invoke.time)),
        Ms(early.promise.ttl_ns().unwrap_or(0)),
    );
    let operations = vec![early.promise.invoke.index(), early.promise.ok.index(), early.grant.start.index()];
    let figures = figures([("early_ms", ms(end_ns - start_ns).into())]);
    Violation { text, operations, start_ns, end_ns, faults, figures }
}
