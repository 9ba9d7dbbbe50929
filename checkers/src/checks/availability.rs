use serde_json::{Map, Value as Json, json};

use super::{
    findings::{LISTED, valid},
    say::ms,
    table::{Ending, FaultRecord, Hold, LockTable},
};
use crate::verdict::CheckResult;

/// Informs and never fails: how long a wanted lock was held by nobody, how fast it came back after each fault, how
/// long operations took, how long elections were without leader.
///
/// Figures: `share_without_success`, the part of the time in which somebody waited for a lock and nobody was certain
/// to hold it (0 to 1, over all locks); `recovery`, for each fault the milliseconds from its start and from its heal
/// to the next grant; `latency_ms` by operation; `failover_ms` and `failovers` where there are elections.
pub(super) fn availability(table: &LockTable<'_>) -> CheckResult {
    let mut figures = Map::new();
    figures.insert("share_without_success".to_owned(), share_without_success(table).into());
    figures.insert("recovery".to_owned(), table.faults.iter().map(|fault| recovery(table, fault)).collect());
    let latencies = table.operations.iter().filter(|(_, counts)| !counts.latencies_ns.is_empty());
    let latencies = latencies.map(|(f, counts)| (f.clone(), quantiles(counts.latencies_ns.clone())));
    figures.insert("latency_ms".to_owned(), Json::Object(latencies.collect()));
    if table.locks.iter().any(|lock| lock.election) {
        let failovers = failovers(table);
        let times = failovers.iter().map(|failover| failover.to_ns - failover.from_ns).collect();
        figures.insert("failover_ms".to_owned(), quantiles(times));
        figures
            .insert("failovers".to_owned(), failovers.iter().take(LISTED).map(|it| it.json(table)).collect());
    }
    CheckResult { figures, ..valid() }
}

/// When waits and holds of one lock begin and end.
#[derive(Clone, Default)]
struct Moments {
    waits: [Vec<u64>; 2],
    holds: [Vec<u64>; 2],
}

/// Counts who waits for and who holds each lock, moment by moment.
fn share_without_success(table: &LockTable<'_>) -> f64 {
    let mut by_lock = vec![Moments::default(); table.locks.len()];
    for attempt in &table.attempts {
        let [begins, ends] = &mut by_lock[attempt.lock as usize].waits;
        begins.push(attempt.invoke.time);
        ends.push(attempt.end.time);
    }
    for hold in &table.holds {
        let [begins, ends] = &mut by_lock[hold.lock as usize].holds;
        begins.push(hold.start.time);
        ends.push(hold.end.time);
    }
    let spans = by_lock.into_iter().map(Moments::spans_ns);
    let (without_ns, all_ns) = spans.fold((0, 0), |sum, (without, all)| (sum.0 + without, sum.1 + all));
    if all_ns == 0 { 0.0 } else { without_ns as f64 / all_ns as f64 }
}

impl Moments {
    /// How long somebody waited and nobody held, and how long it was from the first moment to the last.
    fn spans_ns(mut self) -> (u64, u64) {
        let lists = self.waits.iter_mut().chain(&mut self.holds);
        lists.for_each(|moments| moments.sort_unstable());
        let [mut waits, mut waits_over] = self.waits.map(|moments| moments.into_iter().peekable());
        let [mut holds, mut holds_over] = self.holds.map(|moments| moments.into_iter().peekable());
        let (mut without_ns, mut all_ns) = (0, 0);
        let (mut waiting, mut holding, mut last) = (0_i64, 0_i64, None);
        loop {
            let heads = [waits.peek(), waits_over.peek(), holds.peek(), holds_over.peek()];
            let Some(&now) = heads.into_iter().flatten().min() else { return (without_ns, all_ns) };
            let span_ns = now - last.unwrap_or(now);
            all_ns += span_ns;
            without_ns += if waiting > 0 && holding == 0 { span_ns } else { 0 };
            last = Some(now);
            waiting += i64::from(waits.next_if_eq(&now).is_some());
            waiting -= i64::from(waits_over.next_if_eq(&now).is_some());
            holding += i64::from(holds.next_if_eq(&now).is_some());
            holding -= i64::from(holds_over.next_if_eq(&now).is_some());
        }
    }
}

fn recovery(table: &LockTable<'_>, fault: &FaultRecord) -> Json {
    let until_grant = |from_ns: u64| {
        let next = table.holds.partition_point(|hold| hold.start.time < from_ns);
        table.holds.get(next).map(|hold| ms(hold.start.time - from_ns))
    };
    json!({
        "fault": fault.id,
        "kind": fault.kind,
        "after_start_ms": until_grant(fault.start_ns),
        "after_heal_ms": fault.end_ns.and_then(until_grant),
    })
}

/// Half, nine tenths, 99 hundredths and all were not slower than this; null when there are none.
fn quantiles(mut times_ns: Vec<u64>) -> Json {
    times_ns.sort_unstable();
    let Some(&max) = times_ns.last() else { return Json::Null };
    let quantile = |hundredths: usize| ms(times_ns[(times_ns.len() * hundredths).div_ceil(100) - 1]);
    json!({ "p50": quantile(50), "p90": quantile(90), "p99": quantile(99), "max": ms(max) })
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
        let holds: Vec<&Hold> = table.holds.iter().filter(|hold| hold.lock == lock).collect();
        failovers.extend(holds.windows(2).filter_map(|pair| failover(table, pair[0], pair[1])));
    }
    failovers.sort_by_key(|failover| failover.from_ns);
    failovers
}

fn failover(table: &LockTable<'_>, hold: &Hold, next: &Hold) -> Option<Failover> {
    let node = table.node(hold.process);
    let hit = table.faults.iter().find(|fault| {
        let during =
            hold.start.time <= fault.start_ns && fault.start_ns <= hold.end.time.min(next.start.time);
        let led_on =
            hold.ending == Ending::Crashed && fault.kind == "kill" && fault.start_ns <= next.start.time;
        let targets = node.is_some_and(|node| fault.targets.iter().any(|target| target == node));
        targets && (during || led_on && fault.start_ns >= hold.start.time)
    });
    if hit.is_none() && matches!(hold.ending, Ending::Released | Ending::Open | Ending::Reacquired) {
        return None;
    }
    let from_ns = hit.map_or(hold.end.time, |fault| fault.start_ns);
    let fault = hit.map(|fault| fault.id);
    (from_ns <= next.start.time).then_some(Failover {
        lock: hold.lock,
        from_ns,
        to_ns: next.start.time,
        fault,
    })
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
