//! Events a second of the readers, over a lock history of 100,000 operations; and from the text of a run's history to its
//! verdict, beside what only parsing it takes with `serde_json`.

use std::hint::black_box;

use checkers::{CheckContext, judge};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use history::{Event, EventKind, History, Process, ReadOptions, edn, jsonl, read};
use serde_json::{Value, json};

#[path = "../tests/support/lock_run.rs"]
mod lock_run;

/// Ten clients who take the lock in turn.
fn events(operations: u64) -> Vec<Event> {
    let event = |index: u64| {
        let (turn, step) = (index / 4, index % 4);
        let process = (turn % 10) as u32;
        let kind = if step.is_multiple_of(2) { EventKind::Invoke } else { EventKind::Ok };
        let value = match step {
            0 => json!({"lock": "a"}),
            1 => {
                json!({"lock": "a", "token": turn, "ttl_ms": 2000, "deadline_ns": index * 1000 + 2_000_000_000})
            }
            _ => json!({"lock": "a", "token": turn}),
        };
        let f = if step < 2 { "acquire" } else { "release" };
        let (time, node) = (index * 1000, Some(format!("c{}", process + 1)));
        Event {
            index,
            time,
            process: Process::Client(process),
            node,
            kind,
            f: f.to_owned(),
            value,
            error: None,
        }
    };
    (0..operations * 2).map(event).collect()
}

fn parse(criterion: &mut Criterion) {
    let events = events(100_000);
    let history = History::from_events(&events);
    let (mut json, mut clojure) = (Vec::new(), Vec::new());
    jsonl::write(&mut json, events.iter().cloned()).expect("a vector takes all");
    edn::write(&mut clojure, &history).expect("a vector takes all");
    let mut group = criterion.benchmark_group("parse");
    group.sample_size(10).throughput(Throughput::Elements(events.len() as u64));
    for threads in [1, 2] {
        let options = ReadOptions { memory_max: None, threads };
        group.bench_function(format!("json lines, {threads} threads"), |bencher| {
            bencher.iter(|| jsonl::read(&json[..], &options).expect("it is well formed"));
        });
    }
    let options = ReadOptions { memory_max: None, threads: 1 };
    group.bench_function("edn", |bencher| {
        bencher.iter(|| edn::read(&clojure[..], &options).expect("it is well formed"));
    });
    group.bench_function("check form", |bencher| bencher.iter(|| history.check_form()));
    group.bench_function("sort, two events out of order", |bencher| {
        let mut events = events.clone();
        events.swap(1000, 1001);
        let history = History::from_events(&events);
        bencher.iter_batched(|| history.clone(), |mut history| history.sort(), BatchSize::LargeInput);
    });
    group.finish();
}

/// All on one thread.
fn end_to_end(criterion: &mut Criterion) {
    let text = lock_run::history(200_000);
    let lines = text.lines().count();
    let options = ReadOptions { memory_max: None, threads: 1 };
    let history = || read(text.as_bytes(), &options).expect("it is well formed").1;
    let mut group = criterion.benchmark_group("end to end");
    group.sample_size(10).throughput(Throughput::Elements(lines as u64));
    group.bench_function("serde_json, into values", |bencher| {
        let value = |line| serde_json::from_str::<Value>(line).expect("it is JSON");
        bencher.iter(|| text.lines().map(value).map(black_box).count());
    });
    group.bench_function("serde_json, into events", |bencher| {
        let event = |line| serde_json::from_str::<Event>(line).expect("it is an event");
        bencher.iter(|| text.lines().map(event).map(black_box).count());
    });
    group.bench_function("read", |bencher| bencher.iter(history));
    group.bench_function("read and judge", |bencher| {
        bencher.iter(|| {
            let history = history();
            history.check_vocabulary().expect("it is in our vocabulary");
            judge(&history, &CheckContext::default())
        });
    });
    group.finish();
}

criterion_group!(benches, parse, end_to_end);
criterion_main!(benches);
