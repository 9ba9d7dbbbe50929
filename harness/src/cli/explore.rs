//! `fencepost explore`: many seeds of one experiment in the simulation.

use std::{rc::Rc, time::Instant};

use super::{ExploreArgs, output, run, simulate};
use crate::{
    error::{Result, exit},
    experiment::{Experiment, On},
    run::Silent,
    sim::{
        explore::{Campaign, Found, Tally, explore, with_seed},
        shrink::shrink,
    },
};

/// Runs that shrinking may take.
const SHRINK_RUNS_MAX: u32 = 2000;

/// Seeds of unknown runs that are printed.
const UNKNOWN_TOLD: usize = 10;

/// Explores, and leaves the first violation in the store; 1 when there was one.
pub fn main(args: ExploreArgs) -> Result<u8> {
    let resolved = Experiment::resolve(&args.run.what, &run::flags(&args.run))?;
    let base = Experiment { on: On::Sim, ..resolved };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let first = args.run.seed.unwrap_or(1);
    let (seeds, jobs, count) = (args.seeds, args.jobs.unwrap_or(cores), args.count);
    eprintln!(
        "simulated: {} under {}, seeds {first} to {}",
        base.recipe.name,
        base.faults,
        first + seeds.max(1) - 1
    );
    let campaign = Campaign { base, first, seeds, jobs, count };
    let mut shown = Instant::now();
    let tally = explore(&campaign, |tally| {
        if shown.elapsed().as_secs() >= 1 {
            shown = Instant::now();
            eprintln!("{}", summary(tally));
        }
    })?;
    output::print(&format!("simulated: {}\n", summary(&tally)));
    if tally.found.len() > 1 {
        let told = |(check, runs): (&str, usize)| format!("{check} in {runs}");
        let checks: Vec<String> = tally.by_check().into_iter().map(told).collect();
        output::print(&format!("violated: {} runs\n", checks.join(", ")));
    }
    if !tally.unknown.is_empty() {
        let seeds: Vec<String> = tally.unknown.iter().take(UNKNOWN_TOLD).map(u64::to_string).collect();
        output::print(&format!("nothing certain with seed {}\n", seeds.join(", ")));
    }
    match tally.found.first() {
        None => Ok(if tally.unknown.len() as u64 == tally.runs { exit::UNKNOWN } else { exit::OK }),
        Some(found) => show(&args, &campaign, found),
    }
}

fn summary(tally: &Tally) -> String {
    let (share, low, high) = tally.rate();
    let percent = |share: f64| share * 100.0;
    format!(
        "{} runs, {:.0} a second ({:.0} virtual seconds a second); {} broke a promise: {:.2} % (95 %: {:.2} to {:.2} %); {} unknown",
        tally.runs,
        tally.speed(),
        tally.virtual_ns as f64 / 1e9 / tally.elapsed.as_secs_f64().max(1e-9),
        tally.found.len(),
        percent(share),
        percent(low),
        percent(high),
        tally.unknown.len()
    )
}

/// Repeats the first violation, shrunk if asked for, with its files.
fn show(args: &ExploreArgs, campaign: &Campaign, found: &Found) -> Result<u8> {
    output::print(&format!("seed {} violates {}\n", found.seed, found.checks.join(", ")));
    let mut experiment = with_seed(&campaign.base, found.seed)?;
    if args.shrink
        && let Some(check) = found.checks.first()
    {
        let shrunk = shrink(&experiment, check, SHRINK_RUNS_MAX, |better| {
            eprintln!(
                "shrunk to {} fault(s), {} clients, {} operations, {} ms",
                better.size.faults, better.size.clients, better.size.operations, better.size.time_ms
            );
        })?;
        if let Some(smallest) = shrunk {
            output::print(&format!(
                "smallest run that violates {check}: {} fault(s), {} clients, {} operations until the violation at {} ms\n",
                smallest.size.faults, smallest.size.clients, smallest.size.operations, smallest.violated_ms
            ));
            experiment = smallest.experiment;
        }
    }
    let stored = simulate::store(&args.run.store, experiment, Rc::new(Silent))?;
    let path = stored.folder.path().display().to_string();
    let code = simulate::finish(&args.run, stored)?;
    output::print(&format!(
        "again: fencepost replay {path}\non real servers: fencepost replay {path} --on docker\n"
    ));
    Ok(code)
}
