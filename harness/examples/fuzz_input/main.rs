//! Feeds broken experiments, flags, histories and runs to the readers of all of them, for as long as you like.
//!
//! Inputs are good ones (suites, golden histories, a run that is made first, `../shared/field` where it is) after random
//! changes. Nothing may panic, take longer than [`guard::TIME_MAX`] or more memory than [`guard::MEMORY_MAX`], end in a
//! code that is not one of a reader's, or show a line that floods or moves a terminal. Some go through the binary itself.
//! The first failure is kept in `fuzz-failure` and ends the run.

mod change;
mod guard;
mod seeds;
mod targets;

use std::{path::PathBuf, time::Duration};

use clap::Parser;

#[derive(Parser)]
struct Args {
    /// How long, for each target
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Decides the changes
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only these: experiment, flags, history, run
    targets: Vec<String>,
}

fn main() {
    let args = Args::parse();
    let failed = |why: String| {
        eprintln!("{why}");
        std::process::exit(1);
    };
    let Some(binary) = binary() else { return failed("build the binary first: cargo build".into()) };
    let mut random = change::Random::new(args.seed);
    for (name, target) in targets::ALL {
        if args.targets.is_empty() || args.targets.iter().any(|wanted| wanted == name) {
            match targets::fuzz(target, Duration::from_secs(args.seconds), &binary, &mut random) {
                Ok(told) => println!("{name}: {told}"),
                Err(why) => return failed(format!("{name}: {why}")),
            }
        }
    }
}

/// Beside the folder of the examples.
fn binary() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    Some(own.parent()?.parent()?.join("fencepost")).filter(|binary| binary.is_file())
}
