//! Requests to a fenced register that answers at random.

use history::{Event, EventKind, History, Process, ResourceEntry, ResourceOp};
use proptest::prelude::*;
use serde_json::json;

/// One request of a process of its own.
#[derive(Clone, Debug)]
pub struct Request {
    write: bool,
    token: u64,
    invoke: u64,
    end: u64,
    outcome: EventKind,
    refused: bool,
}

pub fn requests() -> impl Strategy<Value = Vec<Request>> {
    let outcome =
        prop_oneof![6 => Just(EventKind::Ok), 1 => Just(EventKind::Info), 1 => Just(EventKind::Fail)];
    let request = (any::<bool>(), 0_u64..5, 0_u64..20, 0_u64..6, outcome, prop::bool::weighted(0.3));
    let request = request.prop_map(|(write, token, invoke, took, outcome, refused)| Request {
        write,
        token,
        invoke,
        end: invoke + took,
        outcome,
        refused: refused && outcome == EventKind::Ok,
    });
    prop::collection::vec(request, 0..12)
}

pub fn history(requests: &[Request]) -> History {
    let mut events = Vec::new();
    for (process, request) in requests.iter().enumerate() {
        let f = if request.write { "write" } else { "read" };
        let id = format!("{process}-0");
        let mut event = |time, kind| {
            events.push(Event {
                index: 0,
                time,
                process: Process::Client(process as u32),
                node: None,
                kind,
                f: f.to_owned(),
                value: json!({ "lock": "a", "token": request.token, "id": id, "fenced_refused": request.refused }),
                error: None,
            });
        };
        event(request.invoke, EventKind::Invoke);
        event(request.end, request.outcome);
    }
    let mut history = History::from_events(&events);
    history.sort();
    history
}

/// The requests in the order given as the resource's own log.
pub fn log(requests: &[Request]) -> Vec<ResourceEntry> {
    let entry = |(seq, request): (usize, &Request)| ResourceEntry {
        seq: seq as u64,
        time: seq as u64,
        lock: "a".to_owned(),
        op: if request.write { ResourceOp::Write } else { ResourceOp::Read },
        process: seq as u32,
        id: request.write.then(|| format!("{seq}-0")),
        token: Some(request.token),
        unfenced_base: None,
        unfenced: request.write,
        fenced_base: None,
        fenced: Some(!request.refused),
    };
    requests.iter().enumerate().map(entry).collect()
}

/// Counted by one of the two below; the check does not apply where nothing was written.
pub fn breaches(requests: &[Request], count: fn(&[Request]) -> u64) -> u64 {
    if requests.iter().any(|request| request.write) { count(requests) } else { 0 }
}

/// What the intervals alone prove.
pub fn breaches_by_intervals(requests: &[Request]) -> u64 {
    let taken = |a: &&Request| a.outcome == EventKind::Ok && !a.refused;
    let stale = |b: &&Request| {
        b.write && requests.iter().filter(taken).any(|a| a.token > b.token && a.end < b.invoke)
    };
    let perhaps_taken = |a: &&Request| a.outcome != EventKind::Fail && !a.refused;
    let refused_first = |b: &&Request| {
        let higher = requests.iter().filter(perhaps_taken).filter(|a| a.token > b.token);
        b.refused && higher.map(|a| earliest(requests, a)).all(|earliest| earliest > b.end)
    };
    (requests.iter().filter(taken).filter(stale).count() + requests.iter().filter(refused_first).count())
        as u64
}

/// When a request can have been taken at the earliest: all with lower tokens were taken before.
fn earliest(requests: &[Request], request: &Request) -> u64 {
    let taken = |a: &&Request| a.outcome == EventKind::Ok && !a.refused && a.token < request.token;
    requests.iter().filter(taken).map(|a| a.invoke).fold(request.invoke, u64::max)
}

/// What the register's own order proves.
pub fn breaches_by_log(requests: &[Request]) -> u64 {
    let breach = |(place, b): &(usize, &Request)| {
        let higher = requests[..*place].iter().any(|a| !a.refused && a.token > b.token);
        if b.refused { !higher } else { b.write && higher }
    };
    requests.iter().enumerate().filter(breach).count() as u64
}
