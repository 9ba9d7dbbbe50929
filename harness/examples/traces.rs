//! Prints one line for each simulated run: recipe, seed, hash of the trace, SHA-256 of the history.
//!
//! `cargo run [--release] -p fencepost --example traces -- [SEEDS] [JOBS] [TIME] [RECIPE]…`
//! (default: 200 seeds, one job, 3s, every recipe)
//!
//! Every kind of fault is on. A seed is a run: whatever the number of jobs, the profile or the machine, the output
//! is the same, byte for byte. Compare two with `cmp`.

use std::{
    collections::BTreeMap,
    rc::Rc,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use harness::{
    campaigns::{explore::with_seed, simulate::try_out},
    experiment::{Experiment, Flags, On},
};
use history::jsonl;
use sha2::{Digest, Sha256};
use workloads::recipes;

const FAULTS: &str = "pause:any,kill:any,partition:server,clock:any";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let word = |place: usize, default: &str| arguments.get(place).cloned().unwrap_or_else(|| default.into());
    let number = |place: usize, default: &str| word(place, default).parse().expect("a number");
    let (seeds, jobs): (usize, usize) = (number(0, "200"), number(1, "1"));
    let flags = Flags {
        on: Some(On::Sim),
        faults: Some(FAULTS.into()),
        time: Some(word(2, "3s")),
        ..Flags::default()
    };
    let chosen: Vec<&str> = match arguments.get(3..) {
        Some(names) if !names.is_empty() => names.iter().map(String::as_str).collect(),
        _ => recipes::all().map(|recipe| recipe.name).collect(),
    };
    let (next, lines) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(recipe) = chosen.get(place / seeds.max(1)) else { return };
                    let line = line(recipe, (place % seeds) as u64 + 1, &flags);
                    lines.lock().expect("no run panics").insert(place, line);
                }
            });
        }
    });
    lines.into_inner().expect("no run panics").values().for_each(|line| println!("{line}"));
}

fn line(recipe: &str, seed: u64, flags: &Flags) -> String {
    let base = Experiment::resolve(recipe, flags).expect("the recipe and the flags make sense");
    let tried = try_out(&Rc::new(with_seed(&base, seed).expect("the faults fit"))).expect("the run ends");
    let mut text = Vec::new();
    jsonl::write(&mut text, tried.judged.history.events()).expect("memory takes it");
    let history: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{recipe} {seed} {:016x} {history}", tried.trace)
}
