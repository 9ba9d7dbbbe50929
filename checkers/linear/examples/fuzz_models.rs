//! Holds the engine against the referee and brute force, and the special checkers against all three, on random small
//! histories: `fuzz_models [--histories N] [--seed S] [--jobs J] [--only WORDS]`, of models with these words in
//! their name.
//!
//! Each model gets N histories, and as many more as it takes until its special checker, if it has one, has judged N.

#[path = "../tests/support/all.rs"]
mod all;
#[path = "../tests/support/guard.rs"]
mod guard;
#[path = "../tests/support/random.rs"]
mod random;
#[path = "../tests/support/subjects.rs"]
mod subjects;

use std::{
    num::NonZeroUsize,
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::Instant,
};

use all::Visit;
use history::verdict::Verdict;
use linear::{
    judge::judge,
    limits::Limits,
    model::{Model, OpOf},
};
use random::{Random, Subject, brute, history, is_evidence_enough, others};

/// Histories that a thread takes at a time.
const CHUNK: u64 = 1000;
/// A special checker that answers fewer than one in so many is none.
const ANSWERS_ONE_IN: u64 = 1000;
const OPS_MAX: u64 = 7;

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}\nusage: fuzz_models [--histories N] [--seed S] [--jobs J] [--only WORDS]");
            return ExitCode::from(64);
        }
    };
    let started = Instant::now();
    let mut table = Table { arguments, sum: Counts::default() };
    println!("{:32} {:>11} {:>11} {:>11} {:>11}", "", "histories", "valid", "by special", "of it valid");
    all::for_each(&mut table);
    table.sum.print("all");
    println!("{} disagreements, {:.1} s", table.sum.disagree.load(Relaxed), started.elapsed().as_secs_f64());
    if table.sum.disagree.load(Relaxed) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Clone)]
struct Arguments {
    only: String,
    histories: u64,
    seed: u64,
    jobs: u64,
}

fn arguments() -> Result<Arguments, String> {
    let jobs = thread::available_parallelism().map_or(1, NonZeroUsize::get) as u64;
    let mut read = Arguments { only: String::new(), histories: 10_000, seed: 1, jobs };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let text = arguments.next();
        let value = text.as_ref().and_then(|text| text.parse().ok());
        match (name.as_str(), value) {
            ("--only", _) => read.only = text.unwrap_or_default(),
            ("--histories", Some(value)) => read.histories = value,
            ("--seed", Some(value)) => read.seed = value,
            ("--jobs", Some(value)) => read.jobs = value,
            _ => return Err(format!("what is {name}?")),
        }
    }
    Ok(read)
}

/// What came of the histories of one model, or of all.
#[derive(Default)]
struct Counts {
    histories: AtomicU64,
    valid: AtomicU64,
    special: AtomicU64,
    special_valid: AtomicU64,
    disagree: AtomicU64,
}

impl Counts {
    fn each<'a>(&'a self, other: &'a Counts) -> [(&'a AtomicU64, &'a AtomicU64); 5] {
        [
            (&self.histories, &other.histories),
            (&self.valid, &other.valid),
            (&self.special, &other.special),
            (&self.special_valid, &other.special_valid),
            (&self.disagree, &other.disagree),
        ]
    }

    fn add(&self, other: &Counts) {
        for (sum, more) in self.each(other) {
            sum.fetch_add(more.load(Relaxed), Relaxed);
        }
    }

    fn print(&self, name: &str) {
        let [histories, valid, special, special_valid, _] =
            self.each(self).map(|(count, _)| count.load(Relaxed));
        println!("{name:32} {histories:11} {valid:11} {special:11} {special_valid:11}");
    }

    /// Whether no more histories are wanted.
    fn enough(&self, wanted: u64) -> bool {
        let (histories, special) = (self.histories.load(Relaxed), self.special.load(Relaxed));
        histories >= wanted && (special >= wanted || special < histories / ANSWERS_ONE_IN)
    }
}

struct Table {
    arguments: Arguments,
    sum: Counts,
}

impl Visit for Table {
    fn visit<S: Subject>(&mut self, name: &str, subject: &S) {
        let Arguments { only, histories, seed, jobs } = self.arguments.clone();
        if !name.contains(&only) {
            return;
        }
        let (counts, next) = (Counts::default(), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    while !counts.enough(histories) {
                        let first = next.fetch_add(CHUNK, Relaxed);
                        counts.add(&chunk(name, subject, seed, first));
                    }
                });
            }
        });
        counts.print(name);
        self.sum.add(&counts);
    }
}

fn chunk<S: Subject>(name: &str, subject: &S, seed: u64, first: u64) -> Counts {
    let model = subject.model();
    let mut counts = Counts::default();
    for number in first..first + CHUNK {
        let mut random = Random(seed << 40 | number);
        random.next();
        let ops = history(subject, OPS_MAX, &mut random);
        let brute = brute(subject, &model, &ops);
        let others = others::<S>(&model, &ops);
        let is_valid = u64::from(brute == Verdict::Valid);
        let is_special = u64::from(others[2].is_some());
        *counts.histories.get_mut() += 1;
        *counts.valid.get_mut() += is_valid;
        *counts.special.get_mut() += is_special;
        *counts.special_valid.get_mut() += is_valid * is_special;
        if !is_evidence_enough(subject, &model, &ops) {
            *counts.disagree.get_mut() += 1;
            println!(
                "{name}, history {number}: the evidence is not enough: {:?}",
                judge(&model, &ops, &Limits::default())
            );
            ops.iter().for_each(|op| print::<S>(&model, op));
        }
        if others.into_iter().flatten().any(|verdict| verdict != brute) {
            *counts.disagree.get_mut() += 1;
            println!(
                "{name}, history {number}: {brute:?}, but engine, referee, special checker, judge: {others:?}"
            );
            ops.iter().for_each(|op| print::<S>(&model, op));
        }
    }
    counts
}

fn print<S: Subject>(model: &S::M, op: &OpOf<S::M>) {
    let text = model.describe(&op.input, op.output());
    println!("    {} {}..{} {text}", op.process, op.call, op.deadline());
}
