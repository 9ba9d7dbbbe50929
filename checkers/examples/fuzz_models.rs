//! Holds the engine against the referee and brute force, and the special checkers against the engine, on random small
//! histories over all models: `fuzz_models --histories N --seed S`.

#[path = "../tests/support/all.rs"]
mod all;
#[path = "../tests/support/random.rs"]
mod random;
#[path = "../tests/support/subjects.rs"]
mod subjects;

use std::{process::ExitCode, time::Instant};

use all::Visit;
use checkers::{model::Model, verdict::Verdict};
use random::{Random, Subject, brute, history, others};

fn main() -> ExitCode {
    let (histories, seed) = match arguments() {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}\nusage: fuzz_models [--histories N] [--seed S]");
            return ExitCode::from(64);
        }
    };
    let started = Instant::now();
    let mut table = Table { share: histories.div_ceil(all::COUNT), seed, disagreements: 0 };
    all::for_each(&mut table);
    println!("{} disagreements, {:.1} s", table.disagreements, started.elapsed().as_secs_f64());
    if table.disagreements == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn arguments() -> Result<(u64, u64), String> {
    let (mut histories, mut seed) = (100_000, 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse().ok());
        match (name.as_str(), value) {
            ("--histories", Some(value)) => histories = value,
            ("--seed", Some(value)) => seed = value,
            _ => return Err(format!("what is {name}?")),
        }
    }
    Ok((histories, seed))
}

struct Table {
    share: u64,
    seed: u64,
    disagreements: u64,
}

impl Visit for Table {
    fn visit<S: Subject>(&mut self, name: &str, subject: &S) {
        let model = subject.model();
        let (mut valid, mut special) = (0, 0);
        for number in 0..self.share {
            let mut random = Random(self.seed.wrapping_mul(1_000_003).wrapping_add(number));
            random.next();
            let ops = history(subject, 7, &mut random);
            let brute = brute::<S>(&model, &ops);
            let others = others::<S>(&model, &ops);
            valid += u64::from(brute == Verdict::Valid);
            special += u64::from(others[2].is_some());
            if others.into_iter().flatten().any(|verdict| verdict != brute) {
                self.disagreements += 1;
                println!(
                    "{name}, history {number}: {brute:?}, but engine, referee, special checker, judge: {others:?}"
                );
                for op in &ops {
                    println!(
                        "    {} {}..{} {}",
                        op.process,
                        op.call,
                        op.deadline(),
                        model.describe(&op.input, op.output())
                    );
                }
            }
        }
        println!("{name:32} {:9} histories, {valid:9} valid, {special:9} by a special checker", self.share);
    }
}
