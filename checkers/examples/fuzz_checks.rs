//! Holds the checks of a run against their definitions, on random small histories of locks:
//! `fuzz_checks [HISTORIES [SEED [JOBS]]]`.
//!
//! The definition of `promise` tries every order of instants. Prints how many histories each check found broken, and
//! ends with 1 and the history if a check and its definition differ.

#[path = "../tests/support/locks/mod.rs"]
mod locks;
#[path = "../linear/tests/support/random.rs"]
#[expect(dead_code, reason = "only its generator is needed")]
mod random;

use std::{
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use history::jsonl;

fn main() -> ExitCode {
    let numbers: Vec<u64> =
        std::env::args().skip(1).map(|word| word.parse().expect("a whole number")).collect();
    let number = |place: usize, default: u64| numbers.get(place).copied().unwrap_or(default);
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let (histories, seed, jobs) = (number(0, 100_000), number(1, 1), number(2, cores));
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let broken = Mutex::new([0_u64; 4]);
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                let mut counts = [0; 4];
                loop {
                    let place = next.fetch_add(1, Relaxed);
                    if place >= histories || stop.load(Relaxed) {
                        break;
                    }
                    match one(seed.wrapping_mul(1 << 40).wrapping_add(place)) {
                        Ok(found) => {
                            counts.iter_mut().zip(found).for_each(|(count, it)| *count += u64::from(it))
                        }
                        Err(why) => {
                            if !stop.swap(true, Relaxed) {
                                println!("{why}");
                            }
                        }
                    }
                }
                broken
                    .lock()
                    .expect("no thread panics")
                    .iter_mut()
                    .zip(counts)
                    .for_each(|(all, it)| *all += it);
            });
        }
    });
    if stop.load(Relaxed) {
        return ExitCode::FAILURE;
    }
    let counts = broken.into_inner().expect("no thread panics");
    let told: Vec<String> =
        locks::CHECKS.iter().zip(counts).map(|(check, count)| format!("{check} {count}")).collect();
    println!("{histories} histories, no difference; broken: {}", told.join(", "));
    ExitCode::SUCCESS
}

fn one(seed: u64) -> Result<[bool; 4], String> {
    let history = locks::story::history(seed);
    let drift_ns = seed % 3 * locks::story::TICK;
    let (found, wanted) = (locks::judged(&history, drift_ns), locks::defined(&history, drift_ns));
    if found == wanted {
        return Ok(found);
    }
    let mut text = Vec::new();
    jsonl::write(&mut text, history.events()).expect("memory takes it");
    let checks = locks::results(&history, drift_ns);
    let texts: Vec<&str> = checks
        .values()
        .flat_map(|check| &check.violations)
        .map(|violation| violation.text.as_str())
        .collect();
    Err(format!(
        "{}{}\nseed {seed}, drift {drift_ns} ns\nchecks {:?}\nfound  {found:?}\nwanted {wanted:?}",
        String::from_utf8_lossy(&text),
        texts.join("\n"),
        locks::CHECKS
    ))
}
