use std::collections::BTreeMap;

use history::{
    Event, EventKind,
    holds::{Ending, Held, Holds},
    judgement::FaultRecord,
};

use super::MS;

/// Of histories in which a client has one lock at a time, and asks for another only when it is over.
pub fn of(events: &[Event], faults: &[FaultRecord]) -> Holds {
    let mut locks: Vec<String> = Vec::new();
    for event in events {
        let name = event.value["lock"].as_str().map(str::to_owned);
        locks.extend(name.filter(|name| !locks.contains(name)));
    }
    let mut by_node: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in events {
        by_node.entry(event.node.as_deref().unwrap_or_default()).or_default().push(event);
    }
    let end_ns = events.iter().map(|event| event.time).max().unwrap_or(0);
    let mut holds = Vec::new();
    for grant in events.iter().filter(|event| is(event, EventKind::Ok, &["acquire", "campaign"])) {
        let own = &by_node[grant.node.as_deref().unwrap_or_default()];
        let since = &own[own.partition_point(|event| event.index <= grant.index)..];
        let lock = locks.iter().position(|lock| grant.value["lock"] == lock.as_str());
        holds.push(held(grant, lock.expect("a known lock"), since, faults, end_ns));
    }
    Holds { locks, holds }
}

fn is(event: &Event, kind: EventKind, names: &[&str]) -> bool {
    event.kind == kind && names.contains(&event.f.as_str())
}

fn held(grant: &Event, lock: usize, since: &[&Event], faults: &[FaultRecord], end_ns: u64) -> Held {
    let renewed = |event: &&&Event| {
        is(event, EventKind::Ok, &["renew"]) && event.value["token"] == grant.value["token"]
    };
    let last = since.iter().rfind(renewed).copied().unwrap_or(grant);
    let deadline_ns = last.value["deadline_ns"].as_u64();
    let released = since.iter().find(|event| is(event, EventKind::Invoke, &["release", "resign"]));
    let is_hit = |fault: &&FaultRecord| {
        fault.kind == "kill" && fault.start_ns > grant.time && grant.node.as_ref() == fault.targets.first()
    };
    let killed = faults.iter().find(is_hit).and_then(|kill| {
        since.iter().filter(|event| event.time < kill.start_ns).map(|event| event.time).max()
    });
    let ends = [
        (released.map(|event| event.time), Ending::Released),
        (killed, Ending::Crashed),
        (deadline_ns, Ending::Deadline),
        (Some(end_ns), Ending::Open),
    ];
    let ends = ends.into_iter().filter_map(|(ns, ending)| Some((ns?, ending)));
    let (end_ns, ending) = ends.min_by_key(|(ns, _)| *ns).expect("a history ends");
    let ttl_ns = last.value["ttl_ms"].as_u64().map(|ms| ms * MS);
    Held {
        lock,
        token: grant.value["token"].as_i64().map(i128::from),
        event: grant.index,
        start_ns: grant.time,
        end_ns,
        promised_ns: deadline_ns.or(ttl_ns.map(|ttl| last.time + ttl)),
        ending,
    }
}
