use std::{cmp::Reverse, collections::BinaryHeap};

use history::{holds::Ending, judgement::FaultRecord, verdict::CheckResult};
use serde_json::{Map, Value as Json, json};

use super::{
    check::{Check, Stake},
    findings::{LISTED, valid},
    table::{Hold, LockTable},
    words::ms,
};

pub(super) const CHECK: Check = Check {
    name: "availability",
    about: "never: it tells unavailable time, recovery times and latencies",
    promise: "How long nothing succeeded, and how long operations took. Informs, never fails.",
    prevented_by: "Nothing is broken.",
    rank: 9,
    informs: true,
    on_occasion: false,
    kept_only_at_end: false,
    stalls_excuse: false,
    stake: Stake::None,
    needs_every_grant: false,
    not_applicable: |_| None,
    run: |case| availability(&case.table),
};

/// Informs and never fails: how long a wanted lock was held by nobody, how fast it came back after each fault, how
/// long operations took, how long elections were without leader.
///
/// Figures: `share_without_success`, the part of the time in which somebody waited for a lock and nobody was certain
/// to hold it (0 to 1, over all locks); `recovery`, for each fault the milliseconds from its start and from its heal
/// to the next grant; `latency_ms` by operation; `failover_ms` and `failovers` where there are elections.
fn availability(table: &LockTable<'_>) -> CheckResult {
    let mut figures = Map::new();
    figures.insert("share_without_success".to_owned(), share_without_success(table).into());
    figures.insert("recovery".to_owned(), table.faults.iter().map(|fault| recovery(table, fault)).collect());
    let latencies = table.operations.iter().filter(|(_, counts)| counts.latencies.count() > 0);
    let latencies = latencies
        .map(|(f, counts)| (f.clone(), quantiles(counts.latencies.count(), |at| counts.latencies.at(at))));
    figures.insert("latency_ms".to_owned(), Json::Object(latencies.collect()));
    if table.locks.iter().any(|lock| lock.election) {
        let failovers = failovers(table);
        let mut times: Vec<u64> =
            failovers.iter().map(|failover| failover.to_ns - failover.from_ns).collect();
        times.sort_unstable();
        figures.insert("failover_ms".to_owned(), quantiles(times.len(), |at| times.get(at).copied()));
        figures
            .insert("failovers".to_owned(), failovers.iter().take(LISTED).map(|it| it.json(table)).collect());
    }
    CheckResult { figures, ..valid() }
}

/// How long somebody waited for a lock and nobody held it, as a part of the time from the first moment to the last,
/// over all locks. Attempts and holds come in order of their begins, so only the ends of those under way are kept.
fn share_without_success(table: &LockTable<'_>) -> f64 {
    let mut states = vec![State::default(); table.locks.len()];
    let waits = table.attempts.iter().map(|attempt| (attempt.invoke.time, attempt.end.time, attempt.lock));
    let holds = table.holds.iter().map(|hold| (hold.start.time, hold.end.time, table.grant_of(hold).lock));
    let (mut waits, mut holds) = (waits.peekable(), holds.peekable());
    loop {
        let waits_first = match (waits.peek(), holds.peek()) {
            (Some(wait), Some(hold)) => wait.0 <= hold.0,
            (wait, _) => wait.is_some(),
        };
        let Some((begin_ns, end_ns, lock)) = (if waits_first { waits.next() } else { holds.next() }) else {
            break;
        };
        states[lock as usize].begin(begin_ns, end_ns, if waits_first { WAITS } else { HOLDS });
    }
    states.iter_mut().for_each(|state| state.pass(u64::MAX));
    let (without_ns, all_ns) =
        states.iter().fold((0, 0), |(without, all), state| (without + state.without_ns, all + state.all_ns));
    if all_ns == 0 { 0.0 } else { without_ns as f64 / all_ns as f64 }
}

const WAITS: usize = 0;
const HOLDS: usize = 1;

/// Who waits for and who holds one lock at a moment, and what was seen up to it.
#[derive(Clone, Default)]
struct State {
    /// Ends of what is under way, the next first, with [`WAITS`] or [`HOLDS`].
    ends: BinaryHeap<Reverse<(u64, usize)>>,
    under_way: [u64; 2],
    now_ns: Option<u64>,
    without_ns: u64,
    all_ns: u64,
}

impl State {
    fn begin(&mut self, begin_ns: u64, end_ns: u64, what: usize) {
        self.pass(begin_ns);
        self.go_to(begin_ns);
        self.under_way[what] += 1;
        self.ends.push(Reverse((end_ns, what)));
    }

    /// Takes off what ends up to a moment.
    fn pass(&mut self, until_ns: u64) {
        while let Some(&Reverse((end_ns, what))) = self.ends.peek().filter(|end| end.0.0 <= until_ns) {
            self.go_to(end_ns);
            self.under_way[what] -= 1;
            self.ends.pop();
        }
    }

    fn go_to(&mut self, to_ns: u64) {
        let span_ns = to_ns.saturating_sub(self.now_ns.unwrap_or(to_ns));
        self.all_ns += span_ns;
        if self.under_way[WAITS] > 0 && self.under_way[HOLDS] == 0 {
            self.without_ns += span_ns;
        }
        self.now_ns = Some(to_ns);
    }
}

fn recovery(table: &LockTable<'_>, fault: &FaultRecord) -> Json {
    let until_grant = |from_ns: u64| {
        let next = table.grants.partition_point(|grant| table.given(grant).ok.time < from_ns);
        table.grants.get(next).map(|grant| ms(table.given(grant).ok.time - from_ns))
    };
    json!({
        "fault": fault.id,
        "kind": fault.kind,
        "after_start_ms": until_grant(fault.start_ns),
        "after_heal_ms": fault.end_ns.and_then(until_grant),
    })
}

/// Half, nine tenths, 99 hundredths and all of these times, of which `time_ns` gives the shortest at 0 and so on, were not
/// slower than this; null when there are none.
fn quantiles(count: usize, time_ns: impl Fn(usize) -> Option<u64>) -> Json {
    if count == 0 {
        return Json::Null;
    }
    let quantile = |hundredths: usize| time_ns((count * hundredths).div_ceil(100) - 1).map(ms);
    json!({ "p50": quantile(50), "p90": quantile(90), "p99": quantile(99), "max": quantile(100) })
}

/// A leadership that ended otherwise than by resigning, up to the next leader's election.
struct Failover {
    lock: u32,
    from_ns: u64,
    to_ns: u64,
    fault: Option<u32>,
}

/// From the first fault that hit the leader's node, otherwise from the end of its leadership.
fn failovers(table: &LockTable<'_>) -> Vec<Failover> {
    let mut failovers = Vec::new();
    for lock in (0..table.locks.len() as u32).filter(|&lock| table.locks[lock as usize].election) {
        let grants = table.grants.iter().filter(|grant| grant.lock == lock);
        let holds: Vec<&Hold> =
            grants.filter_map(|grant| Some(&table.holds[grant.hold()? as usize])).collect();
        failovers.extend(holds.windows(2).filter_map(|pair| failover(table, pair[0], pair[1])));
    }
    failovers.sort_by_key(|failover| failover.from_ns);
    failovers
}

fn failover(table: &LockTable<'_>, hold: &Hold, next: &Hold) -> Option<Failover> {
    let grant = table.grant_of(hold);
    let (node, ok_ns) = (table.node(grant.process), table.given(grant).ok.time);
    let next_ns = table.given(table.grant_of(next)).ok.time;
    let hit = table.faults.iter().find(|fault| {
        let during = ok_ns <= fault.start_ns && fault.start_ns <= hold.end.time.min(next_ns);
        let led_on = hold.ending == Ending::Crashed && fault.kind == "kill" && fault.start_ns <= next_ns;
        let targets = node.is_some_and(|node| fault.targets.iter().any(|target| target == node));
        targets && (during || led_on && fault.start_ns >= ok_ns)
    });
    if hit.is_none() && matches!(hold.ending, Ending::Released | Ending::Open | Ending::Reacquired) {
        return None;
    }
    let from_ns = hit.map_or(hold.end.time, |fault| fault.start_ns);
    let fault = hit.map(|fault| fault.id);
    (from_ns <= next_ns).then_some(Failover { lock: grant.lock, from_ns, to_ns: next_ns, fault })
}

impl Failover {
    fn json(&self, table: &LockTable<'_>) -> Json {
        json!({
            "election": table.locks[self.lock as usize].name,
            "start_ns": self.from_ns,
            "end_ns": self.to_ns,
            "ms": ms(self.to_ns - self.from_ns),
            "fault": self.fault,
        })
    }
}
