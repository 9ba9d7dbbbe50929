use std::collections::HashMap;

use checkers::history::{Event, EventKind, Process};
use serde_json::Value;

use super::operations::{Operation, Outcome};

/// What ended a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldEnd {
    /// The client began to give it back.
    Released,
    /// The client learned that it was lost, or passed its own deadline.
    Lapsed,
    /// Nothing before the run's end.
    RunEnded,
}

/// The time in which a client was entitled to believe that it had a lock or led.
#[derive(Clone, Debug)]
pub struct Hold {
    /// Position in the timeline's lanes.
    pub lane: usize,
    /// The acquire or campaign, as a position in the timeline's operations.
    pub operation: usize,
    /// Position in the timeline's locks.
    pub lock: usize,
    /// Fencing token or term, where there is one.
    pub token: Option<u64>,
    /// Nanoseconds since the run began.
    pub start_ns: u64,
    /// Nanoseconds since the run began.
    pub end_ns: u64,
    /// Nanoseconds since the run began: the last deadline or promised time to live that the history tells.
    pub promised_ns: Option<u64>,
    /// What ended it.
    pub end: HoldEnd,
}

/// Lock names in order of appearance, and all holds in order of start.
pub(super) fn of(events: &[Event], operations: &[Operation], end_ns: u64) -> (Vec<String>, Vec<Hold>) {
    let mut board =
        Board { operation_at: HashMap::new(), locks: Vec::new(), open: HashMap::new(), holds: Vec::new() };
    for (i, operation) in operations.iter().enumerate() {
        board.operation_at.extend(operation.complete.map(|event| (event, i)));
    }
    for (position, event) in events.iter().enumerate() {
        if let Process::Client(process) = event.process {
            board.take(position, event, process, operations);
        }
    }
    for hold in board.holds.iter_mut().filter(|hold| hold.end == HoldEnd::RunEnded) {
        hold.end_ns = end_ns.max(hold.start_ns);
    }
    board.holds.sort_by_key(|hold| (hold.start_ns, hold.operation));
    (board.locks, board.holds)
}

struct Board {
    operation_at: HashMap<usize, usize>,
    locks: Vec<String>,
    open: HashMap<(u32, usize), usize>,
    holds: Vec<Hold>,
}

impl Board {
    fn take(&mut self, position: usize, event: &Event, process: u32, operations: &[Operation]) {
        let Some(name) = event.value.get("lock").and_then(Value::as_str) else { return };
        let lock = self.lock(name);
        match (event.f.as_str(), event.kind) {
            ("acquire" | "campaign", EventKind::Ok) => {
                let Some(&operation) = self.operation_at.get(&position) else { return };
                let at = &operations[operation];
                self.open.insert((process, lock), self.holds.len());
                self.holds.push(Hold {
                    lane: at.lane,
                    operation,
                    lock,
                    token: event.value.get("token").and_then(Value::as_u64),
                    start_ns: event.time,
                    end_ns: event.time,
                    promised_ns: promised(event, at),
                    end: HoldEnd::RunEnded,
                });
            }
            ("renew", EventKind::Ok) => {
                let renewed = self.operation_at.get(&position).map(|&i| &operations[i]);
                if let (Some(&hold), Some(at)) = (self.open.get(&(process, lock)), renewed) {
                    self.holds[hold].promised_ns = self.holds[hold].promised_ns.max(promised(event, at));
                }
            }
            ("release" | "resign", EventKind::Invoke) => {
                self.close(process, lock, event.time, HoldEnd::Released)
            }
            ("lapse", _) => self.close(process, lock, event.time, HoldEnd::Lapsed),
            _ => {}
        }
    }

    fn close(&mut self, process: u32, lock: usize, time: u64, end: HoldEnd) {
        if let Some(hold) = self.open.remove(&(process, lock)) {
            self.holds[hold].end_ns = time;
            self.holds[hold].end = end;
        }
    }

    fn lock(&mut self, name: &str) -> usize {
        self.locks.iter().position(|known| known == name).unwrap_or_else(|| {
            self.locks.push(name.to_owned());
            self.locks.len() - 1
        })
    }
}

/// Counted from the request's invocation, as the service counts it at the earliest.
fn promised(event: &Event, operation: &Operation) -> Option<u64> {
    debug_assert_eq!(operation.outcome, Outcome::Ok);
    let deadline = event.value.get("deadline_ns").and_then(Value::as_u64);
    let ttl_ms = event.value.get("ttl_ms").and_then(Value::as_u64);
    deadline.or_else(|| ttl_ms.map(|ttl| operation.start_ns.saturating_add(ttl.saturating_mul(1_000_000))))
}
