//! Median time and peak memory, file by file.

use std::{hint::black_box, time::Instant};

use checkers::{
    engine,
    limits::Limits,
    model::{Model, OpOf},
    models::{KeyValue, lock::Lock},
    verdict::Verdict,
};
use todc_utils::{linearizability::WGLChecker, specifications::etcd::EtcdSpecification};

use crate::{
    memory::peak_bytes,
    peers,
    vectors::{Vector, index, key_values, locks, multi_registers, mutexes, registers},
};

/// A checker's figures on one file.
#[derive(Clone, Copy, Default)]
struct Figures {
    median_us: f64,
    peak_kib: f64,
}

pub fn print() {
    println!("{:42} {:>22} {:>22} {:>22}", "median µs, peak KiB", "fencepost", "porcupine-rs", "todc-utils");
    let vectors = index();
    let etcd = vectors.iter().filter(|vector| vector.path.starts_with("jepsen"));
    let sum = etcd.map(register).fold([Figures::default(); 3], add);
    row("all etcd logs (sum, highest peak)", sum);
    for vector in vectors.iter().filter(|vector| vector.path.starts_with("kv")) {
        row(&vector.path, key_value(vector));
    }
    println!("\n{:42} {:>22}", "other histories, by search", "fencepost");
    for vector in
        vectors.iter().filter(|vector| !vector.path.starts_with("jepsen") && !vector.path.starts_with("kv"))
    {
        alone(&vector.path, other(vector));
    }
    for (name, ops) in locks() {
        alone(&name, ours(&Lock::FENCED, &ops));
    }
}

fn alone(name: &str, Figures { median_us, peak_kib }: Figures) {
    println!("{name:42} {median_us:11.1} {peak_kib:10.0}");
}

fn other(vector: &Vector) -> Figures {
    match vector.model.as_str() {
        "mutex" => ours(&Lock::ANONYMOUS, &mutexes(vector)),
        "multi-register" => {
            let (model, ops) = multi_registers(vector);
            ours(&model, &ops)
        }
        _ => {
            let (model, ops) = registers(vector);
            ours(&model, &ops)
        }
    }
}

fn row(name: &str, figures: [Figures; 3]) {
    let cells = figures.map(|Figures { median_us, peak_kib }| format!("{median_us:11.1} {peak_kib:10.0}"));
    println!("{name:42} {}", cells.join(" "));
}

fn add(sum: [Figures; 3], file: [Figures; 3]) -> [Figures; 3] {
    std::array::from_fn(|checker| Figures {
        median_us: sum[checker].median_us + file[checker].median_us,
        peak_kib: sum[checker].peak_kib.max(file[checker].peak_kib),
    })
}

fn register(vector: &Vector) -> [Figures; 3] {
    let (model, ops) = registers(vector);
    let expected = vector.expected == Verdict::Valid;
    let events = peers::porcupine_register(&ops);
    let figures = [
        ours(&model, &ops),
        measure(|| (), |()| assert_eq!(porcupine_rs::check_events(&events), expected)),
        measure(
            || peers::todc_register(&ops),
            |history| assert_eq!(WGLChecker::<EtcdSpecification>::is_linearizable(history), expected),
        ),
    ];
    if figures[1..].iter().any(|peer| peer.median_us < figures[0].median_us) {
        row(&format!("SLOWER: {}", vector.path), figures);
    }
    figures
}

fn key_value(vector: &Vector) -> [Figures; 3] {
    let ops = key_values(vector);
    let expected = vector.expected == Verdict::Valid;
    let events = peers::porcupine_texts(&ops);
    let model = KeyValue::empty();
    let todc = |histories: Vec<_>| {
        // It knows no partitions; telling them apart is part of everyone's work.
        black_box(model.partition(&ops));
        let mut parts = histories.into_iter();
        assert_eq!(parts.all(WGLChecker::<peers::TodcText>::is_linearizable), expected);
    };
    [
        ours(&model, &ops),
        measure(|| (), |()| assert_eq!(porcupine_rs::check_events(&events), expected)),
        measure(|| peers::todc_texts(&ops), todc),
    ]
}

fn ours<M: Model>(model: &M, ops: &[OpOf<M>]) -> Figures {
    measure(|| (), |()| drop(black_box(engine::check(model, ops, &Limits::default()))))
}

/// The median of up to 21 runs or a fifth of a second, and the peak of another one.
fn measure<T>(prepare: impl Fn() -> T, run: impl Fn(T)) -> Figures {
    let started = Instant::now();
    let mut times = Vec::new();
    while times.len() < 21 && (times.is_empty() || started.elapsed().as_millis() < 200) {
        let prepared = prepare();
        let began = Instant::now();
        run(prepared);
        times.push(began.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let prepared = prepare();
    let peak_kib = peak_bytes(|| run(prepared)) as f64 / 1024.0;
    Figures { median_us: times[times.len() / 2], peak_kib }
}
