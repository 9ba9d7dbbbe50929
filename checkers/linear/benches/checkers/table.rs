//! Least time and peak memory, file by file: of `judge`, which users get, and of Porcupine's `check_events`, each on
//! operations that are read already. Some files take a sweep only, where Porcupine searches: that is what is compared.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use history::verdict::Verdict;
use linear::{
    judge::judge,
    limits::Limits,
    model::{Model, OpOf},
    models::KeyValue,
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
    least_us: f64,
    peak_kib: f64,
}

/// How long Porcupine may take for a long history.
const PATIENCE: Duration = Duration::from_secs(2);
/// What is not at least so many times as fast as Porcupine's algorithm is told.
const RATIO_MIN: f64 = 5.0;

pub fn print() {
    let header = ["fencepost", "porcupine-rs", "todc-utils"].map(|name| format!("{name:>22}")).join(" ");
    println!("{:42} {header} {:>10}", "least µs, peak KiB", "times");
    let mut table = Table::default();
    let vectors = index();
    let etcd = vectors.iter().filter(|vector| vector.path.starts_with("jepsen"));
    let files: Vec<[Figures; 3]> = etcd
        .map(|vector| {
            let figures = register(vector);
            table.keep(&vector.path, figures);
            figures
        })
        .collect();
    row("all etcd logs (sum, highest peak)", files.into_iter().fold([Figures::default(); 3], add));
    for vector in vectors.iter().filter(|vector| !vector.path.starts_with("jepsen")) {
        table.print(&vector.path, other(vector));
    }
    for (name, ops) in locks() {
        let expected = name.ends_with("ok");
        table.print(&name, ours_and_porcupine::<peers::FencedMutex>(&ops, expected));
    }
    table.worst();
}

/// How many times as fast as Porcupine's algorithm each file is judged.
#[derive(Default)]
struct Table(Vec<(f64, String)>);

impl Table {
    fn keep(&mut self, name: &str, figures: [Figures; 3]) {
        self.0.push((times(figures), name.to_string()));
    }

    fn print(&mut self, name: &str, figures: [Figures; 3]) {
        row(name, figures);
        self.keep(name, figures);
    }

    fn worst(mut self) {
        self.0.sort_by(|a, b| a.0.total_cmp(&b.0));
        let below = self.0.iter().filter(|(times, _)| *times < RATIO_MIN).count();
        println!("\n{below} of {} files are not {RATIO_MIN} times as fast; the slowest:", self.0.len());
        self.0.iter().take(10.max(below)).for_each(|(times, name)| println!("{name:60} {times:8.1}"));
    }
}

fn times([ours, porcupine, _]: [Figures; 3]) -> f64 {
    porcupine.least_us / ours.least_us
}

fn other(vector: &Vector) -> [Figures; 3] {
    let expected = vector.expected == Verdict::Valid;
    match vector.model.as_str() {
        "mutex" => ours_and_porcupine::<peers::Mutex>(&mutexes(vector), expected),
        "multi-register" => ours_and_porcupine::<peers::TwoRegisters>(&multi_registers(vector).1, expected),
        model if model.starts_with("kv") => key_value(vector),
        _ => register(vector),
    }
}

fn ours_and_porcupine<P: peers::Provider>(ops: &[OpOf<P::M>], expected: bool) -> [Figures; 3] {
    let events = peers::porcupine::<P>(ops);
    let porcupine = match ops.len() > 500 {
        true => within_patience(&events),
        false => measure(|| (), |()| assert_eq!(porcupine_rs::check_events(&events), expected)),
    };
    [ours(&P::model(), ops), porcupine, Figures { least_us: f64::INFINITY, peak_kib: 0.0 }]
}

fn row(name: &str, figures: [Figures; 3]) {
    let cells = figures.map(|Figures { least_us, peak_kib }| format!("{least_us:11.1} {peak_kib:10.0}"));
    println!("{name:42} {} {:10.1}", cells.join(" "), times(figures));
}

fn add(sum: [Figures; 3], file: [Figures; 3]) -> [Figures; 3] {
    std::array::from_fn(|checker| Figures {
        least_us: sum[checker].least_us + file[checker].least_us,
        peak_kib: sum[checker].peak_kib.max(file[checker].peak_kib),
    })
}

fn register(vector: &Vector) -> [Figures; 3] {
    let (model, ops) = registers(vector);
    let expected = vector.expected == Verdict::Valid;
    let events = peers::porcupine_register(&ops);
    let figures = [
        ours(&model, &ops),
        match vector.path.starts_with("synthetic") {
            true => within_patience(&events),
            false => measure(|| (), |()| assert_eq!(porcupine_rs::check_events(&events), expected)),
        },
        match vector.path.starts_with("jepsen") {
            true => measure(
                || peers::todc_register(&ops),
                |history| assert_eq!(WGLChecker::<EtcdSpecification>::is_linearizable(history), expected),
            ),
            false => Figures { least_us: f64::INFINITY, peak_kib: 0.0 },
        },
    ];
    if figures[1..].iter().any(|peer| peer.least_us < figures[0].least_us) {
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
    measure(|| (), |()| drop(black_box(judge(model, ops, &Limits::default()))))
}

/// Porcupine's time on a history that it may not get through; then it is at least that much slower.
fn within_patience<P>(events: &[porcupine_rs::Event<P>]) -> Figures
where
    P: porcupine_rs::EventModel,
{
    measure(
        || (),
        |()| {
            black_box(porcupine_rs::check_events_timeout(events, PATIENCE));
        },
    )
}

/// What takes less is timed in batches: the clock is too coarse for a single run.
const SINGLE_US: f64 = 50.0;
const BATCH: u32 = 64;

/// The least of up to 21 batches or a fifth of a second, and the peak of another run.
fn measure<T>(prepare: impl Fn() -> T, run: impl Fn(T)) -> Figures {
    let started = Instant::now();
    let mut times = vec![batch(1, &prepare, &run)];
    let size = if times[0] < SINGLE_US { BATCH } else { 1 };
    while times.len() < 22 && started.elapsed().as_millis() < 200 {
        times.push(batch(size, &prepare, &run));
    }
    times.sort_by(f64::total_cmp);
    let prepared = prepare();
    let peak_kib = peak_bytes(|| run(prepared)) as f64 / 1024.0;
    Figures { least_us: times[0], peak_kib }
}

/// Microseconds a run.
fn batch<T>(size: u32, prepare: impl Fn() -> T, run: impl Fn(T)) -> f64 {
    let prepared: Vec<T> = (0..size).map(|_| prepare()).collect();
    let began = Instant::now();
    prepared.into_iter().for_each(run);
    began.elapsed().as_secs_f64() * 1e6 / f64::from(size)
}
