//! Clients whose server stops, dies, or comes back.

use std::{collections::BTreeMap, slice::from_ref, time::Duration};

use history::{Event, EventKind, Process};
use workloads::workload::Workload;

use crate::workload::{CLIENTS, assert_well_formed, count, run_with};

/// Process numbers: of client `i` they are `i`, `i + CLIENTS`, …; none is used after its info, and a new one only then.
fn assert_processes_retire(events: &[Event]) {
    let mut now: BTreeMap<String, u32> = BTreeMap::new();
    for event in events {
        let (node, Process::Client(process)) = (event.node.clone().unwrap(), event.process) else {
            panic!("{event:?}")
        };
        let current = now.entry(node.clone()).or_insert_with(|| node[1..].parse::<u32>().unwrap() - 1);
        assert_eq!(process, *current, "{event:?}");
        if event.kind == EventKind::Info {
            *current += CLIENTS;
        }
    }
}

#[test]
fn a_server_that_stops_for_a_while() {
    let Some(server) = crate::redis::server() else { return };
    let endpoints = from_ref(&server.endpoint);
    let (events, _) = run_with("redis/set-nx-fenced", Workload::Lock, endpoints, 2000, async |running| {
        running.until("grants", |events| count(events, "acquire", EventKind::Ok) > 5).await;
        server.stop();
        let all_met_it = |events: &[Event]| infos(events) >= CLIENTS as usize;
        running.until("each client met the stopped server", all_met_it).await;
        server.go_on();
        running.until("work goes on", |events| grants_since_last_info(events) > 5).await;
    });
    assert_well_formed(&events);
    assert_processes_retire(&events);
}

fn infos(events: &[Event]) -> usize {
    events.iter().filter(|event| event.kind == EventKind::Info).count()
}

fn grants_since_last_info(events: &[Event]) -> usize {
    let last = events.iter().rposition(|event| event.kind == EventKind::Info).unwrap_or(0);
    count(&events[last..], "acquire", EventKind::Ok)
}

#[test]
fn a_server_that_dies_and_clients_that_go_on_with_the_next() {
    let (Some(first), Some(second)) = (crate::redis::server(), crate::redis::server()) else { return };
    let endpoints = [first.endpoint.clone(), second.endpoint.clone()];
    let (events, _) = run_with("redis/set-nx", Workload::Lock, &endpoints, 2000, async |running| {
        running.until("grants", |events| count(events, "acquire", EventKind::Ok) > 5).await;
        first.kill();
        running.until("some client meets the death", |events| events.iter().any(lost_connection)).await;
        for client in 0..CLIENTS {
            let goes_on = |events: &[Event]| grants_after_the_death(events, client) > 0;
            running.until(&format!("client {client} goes on"), goes_on).await;
        }
    });
    assert_well_formed(&events);
    assert_processes_retire(&events);
}

fn grants_after_the_death(events: &[Event], client: u32) -> usize {
    let died = events.iter().position(lost_connection).expect("some client met it");
    let of_client =
        |event: &&Event| matches!(event.process, Process::Client(process) if process % CLIENTS == client);
    let rest: Vec<_> = events[died..].iter().filter(of_client).cloned().collect();
    count(&rest, "acquire", EventKind::Ok)
}

fn lost_connection(event: &Event) -> bool {
    let lost = |error: &str| ["broke", "closed", "cannot connect"].iter().any(|word| error.contains(word));
    event.error.as_deref().is_some_and(lost)
}

#[test]
fn clients_end_although_the_server_does_not_answer() {
    let Some(server) = crate::redis::server() else { return };
    let endpoints = from_ref(&server.endpoint);
    let started = std::time::Instant::now();
    let (events, _) =
        run_with("redis/set-nx-lease-aware", Workload::Lease, endpoints, 2000, async |running| {
            running.sleep(Duration::from_millis(1500)).await;
            server.stop();
            running.sleep(Duration::from_millis(300)).await;
        });
    assert_well_formed(&events);
    // 1.8 s as above, 2 s of the phase of liveness, then at most an acquire's wait and two calls; the rest is for a
    // busy machine.
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn a_lease_lapses_by_the_clients_own_clock() {
    let Some(server) = crate::redis::server() else { return };
    let endpoints = from_ref(&server.endpoint);
    let (events, _) =
        run_with("redis/set-nx-lease-aware", Workload::Lease, endpoints, 400, async |running| {
            for _ in 0..4 {
                running.sleep(Duration::from_millis(700)).await;
                // Stops the whole runtime, and so every client, longer than the TTL.
                std::thread::sleep(Duration::from_millis(600));
            }
        });
    assert_well_formed(&events);
    for lapse in events.iter().filter(|event| event.f == "lapse" && event.kind == EventKind::Ok) {
        assert!(
            ["deadline", "refused", "notified", "unclear"].contains(&lapse.value["cause"].as_str().unwrap()),
            "{lapse:?}"
        );
    }
    let mut deadline: BTreeMap<Option<String>, u64> = BTreeMap::new();
    for event in &events {
        if let Some(until) = event.value["deadline_ns"].as_u64() {
            deadline.insert(event.node.clone(), until);
        }
        if event.f == "write" && event.kind == EventKind::Invoke {
            assert!(event.time <= deadline[&event.node], "a write after the deadline: {event:?}");
        }
    }
    assert!(count(&events, "lapse", EventKind::Ok) > 0);
}

/// A renewal without answer changes nothing for a worker that is not told, and ends the belief of a client that looks.
#[test]
fn a_renewal_without_answer_is_nothing_to_a_client_as_leases_are_used() {
    for (recipe, gives_up) in [("redis/set-nx-lease", false), ("redis/set-nx-lease-aware", true)] {
        let Some(server) = crate::redis::server() else { return };
        let endpoints = from_ref(&server.endpoint);
        let (events, _) = run_with(recipe, Workload::Lease, endpoints, 2000, async |running| {
            for _ in 0..4 {
                // The first renewal, at 1340 ms, has its answer.
                running.sleep(Duration::from_millis(1800)).await;
                server.stop();
                // Longer than a call's limit of 1 s after the next one.
                running.sleep(Duration::from_millis(2500)).await;
                server.go_on();
            }
            running.sleep(Duration::from_secs(1)).await;
        });
        assert_well_formed(&events);
        assert_processes_retire(&events);
        assert_eq!(count(&events, "lapse", EventKind::Ok) > 0, gives_up, "{recipe}");
        assert!(count(&events, "renewed", EventKind::Ok) > 0, "{recipe}");
        if !gives_up {
            // While a server answers for no more than 1.8 s at a stretch, who holds for longer than that and a call's
            // limit, with renewals every 1340 ms, has outlived one without answer.
            assert!(longest_hold(&events) > Duration::from_millis(3000), "{:?}", longest_hold(&events));
        }
    }
}

/// From an acquire's ok to the same client's next release.
fn longest_hold(events: &[Event]) -> Duration {
    let mut since: BTreeMap<Option<String>, u64> = BTreeMap::new();
    let mut longest = 0;
    for event in events {
        match (event.f.as_str(), event.kind) {
            ("acquire", EventKind::Ok) => drop(since.insert(event.node.clone(), event.time)),
            ("release", EventKind::Invoke) => {
                let begun = since.remove(&event.node).expect("it was acquired");
                longest = longest.max(event.time - begun);
            }
            _ => {}
        }
    }
    Duration::from_nanos(longest)
}
