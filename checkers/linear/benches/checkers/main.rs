//! Beside the published checkers, on their own kind of history, in one run:
//! `cargo bench -p fencepost-checkers --bench checkers`.

#[path = "../../tests/support/edn.rs"]
mod edn;
mod locks;
mod memory;
mod peers;
mod table;
#[path = "../../tests/support/vectors.rs"]
mod vectors;

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use linear::{engine, judge::judge, limits::Limits, models::lock::Lock};
use todc_utils::{linearizability::WGLChecker, specifications::etcd::EtcdSpecification};
use vectors::{index, registers};

criterion_main!(tables, groups);
criterion_group!(groups, etcd, lock);

fn tables() {
    if !std::env::args().any(|argument| argument == "--test") {
        table::print();
    }
}

/// All of Jepsen's etcd logs in one iteration.
fn etcd(criterion: &mut Criterion) {
    let vectors = index();
    let logs: Vec<_> =
        vectors.iter().filter(|vector| vector.path.starts_with("jepsen")).map(registers).collect();
    let mut group = criterion.benchmark_group("etcd logs, sum");
    group.sample_size(10);
    group.bench_function("fencepost", |bencher| {
        bencher.iter(|| {
            for (model, ops) in &logs {
                black_box(engine::check(model, ops, &Limits::default()));
            }
        });
    });
    let events: Vec<_> = logs.iter().map(|(_, ops)| peers::porcupine_register(ops)).collect();
    group.bench_function("porcupine-rs", |bencher| {
        bencher.iter(|| {
            for events in &events {
                black_box(porcupine_rs::check_events(events));
            }
        });
    });
    group.bench_function("todc-utils", |bencher| {
        let histories = || logs.iter().map(|(_, ops)| peers::todc_register(ops)).collect::<Vec<_>>();
        bencher.iter_batched(
            histories,
            |histories| {
                for history in histories {
                    black_box(WGLChecker::<EtcdSpecification>::is_linearizable(history));
                }
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

/// A million operations on a fenced lock, parsed already.
fn lock(criterion: &mut Criterion) {
    let ops = locks::history(1_000_000);
    let mut group = criterion.benchmark_group("fenced lock");
    group.sample_size(20);
    group.bench_function("1,000,000 operations", |bencher| {
        bencher.iter(|| black_box(judge(&Lock::FENCED, &ops, &Limits::default())));
    });
    group.finish();
}
