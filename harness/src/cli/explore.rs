//! `fencepost explore`: many seeds of one experiment in the simulation.

use std::{
    rc::Rc,
    time::{Duration, Instant},
};

use history::exit::ExitCode;

use super::{args::ExploreArgs, conclude::finish, interrupt, output, simulate};
use crate::{
    campaigns::{
        explore::{Campaign, Found, Reason, Tally, explore, with_seed},
        shrink::shrink,
    },
    error::{Error, Result},
    experiment::{Expectation, Experiment, Flags, On},
    run::{Silent, Stop},
    shell,
    store::RunFolder,
};

/// Runs that shrinking may take.
const SHRINK_RUNS_MAX: u32 = 2000;

/// Seeds of unknown runs that are printed for each reason.
const SEEDS_TOLD: usize = 10;

/// Explores, and leaves the first violation in the store; 1 when there was one.
pub fn main(args: ExploreArgs) -> Result<ExitCode> {
    let campaign = campaign(&args)?;
    RunFolder::can_be_made(&args.run.store.path)?;
    let (first, last) = (campaign.first, campaign.first + (campaign.seeds - 1));
    let (recipe, faults) = (campaign.base.recipe.name, &campaign.base.faults);
    let faults = if faults.faults.is_empty() { "no faults".to_owned() } else { faults.to_string() };
    tell!("simulated: {recipe} under {faults}, seeds {first} to {last}");
    let mut shown = Instant::now();
    let (tally, carried_through) = explore(&campaign, |tally| {
        // The longer it takes, the rarer.
        if shown.elapsed() >= (tally.elapsed / 20).max(Duration::from_secs(1)) {
            shown = Instant::now();
            tell!("{}", summary(tally));
        }
    });
    output::say(&format!("simulated: {}\n", summary(&tally)));
    if tally.runs < campaign.seeds && campaign.stop.is_requested() {
        output::say(&format!("interrupted after {} of {} seeds\n", tally.runs, campaign.seeds));
    }
    if tally.found.len() > 1 {
        let told = |(check, runs): (&str, usize)| format!("{check} in {runs}");
        let checks: Vec<String> = tally.by_check().into_iter().map(told).collect();
        output::say(&format!("violated: {} runs\n", checks.join(", ")));
    }
    tally.reasons().iter().for_each(|reason| output::say(&doubt(reason)));
    let code = match tally.found.first() {
        None if tally.unknown.len() as u64 == tally.runs => ExitCode::Unknown,
        None if expects_violation(&campaign.base) => {
            output::say("expected to be invalid, and no run was\n");
            ExitCode::Invalid
        }
        None => ExitCode::Ok,
        Some(found) => show(&args, &campaign, found)?,
    };
    carried_through?;
    Ok(if campaign.stop.is_requested() { ExitCode::Interrupted } else { code })
}

/// Whether a campaign that finds nothing is not as it should be.
fn expects_violation(experiment: &Experiment) -> bool {
    experiment.expect.values().any(|expectation| *expectation == Expectation::Invalid)
}

/// What to explore, or what is wrong with the flags.
fn campaign(args: &ExploreArgs) -> Result<Campaign> {
    let wrong = |why: &str| Err(Error::Usage(why.into()));
    match &args.run {
        run if run.flags.on == Some(On::Docker) => {
            return wrong(
                "--on: seeds are explored in the simulation only; `fencepost run` and `fencepost replay` know --on docker",
            );
        }
        run if run.results.json || run.results.junit.is_some() => {
            return wrong(
                "--json and --junit are of one run: leave them out here, then `fencepost report RUN --format json` or `junit`",
            );
        }
        _ => {}
    }
    let flags = Flags { on: Some(On::Sim), ..args.run.flags.clone() };
    let base = Experiment::resolve(&args.run.what, &flags)?;
    output::note_renamed(&base);
    let first = args.run.flags.seed.unwrap_or(1);
    if first.checked_add(args.seeds - 1).is_none() {
        return wrong(&format!("--seeds: there are not {} seeds from {first} on", args.seeds));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or(cores, usize::from);
    let stop = interrupt::listen("stopping: telling what was found; once more to force");
    Ok(Campaign { base, first, seeds: args.seeds, jobs, count: args.count, stop })
}

/// Why runs are unknown, and which.
fn doubt(reason: &Reason) -> String {
    let Reason { why, checks, seeds } = reason;
    let told: Vec<String> = seeds.iter().take(SEEDS_TOLD).map(u64::to_string).collect();
    let more = if seeds.len() > SEEDS_TOLD { ", …" } else { "" };
    format!(
        "unknown in {} runs: {why} ({}); seed {}{more}\n",
        seeds.len(),
        checks.join(", "),
        told.join(", ")
    )
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
fn show(args: &ExploreArgs, campaign: &Campaign, found: &Found) -> Result<ExitCode> {
    output::say(&format!("seed {} violates {}\n", found.seed, found.checks.join(", ")));
    let mut experiment = with_seed(&campaign.base, found.seed)?;
    if args.shrink
        && let Some(check) = found.checks.first()
    {
        let shrunk = shrink(&experiment, check, SHRINK_RUNS_MAX, &campaign.stop, |better| {
            tell!(
                "shrunk to {} fault(s), {} clients, {} operations, {} ms",
                better.size.faults,
                better.size.clients,
                better.size.operations,
                better.size.time_ms
            );
        })?;
        if let Some(smallest) = shrunk {
            output::say(&format!(
                "smallest run that violates {check}: {} fault(s), {} clients, {} operations until the violation at {} ms\n",
                smallest.size.faults, smallest.size.clients, smallest.size.operations, smallest.violated_ms
            ));
            experiment = smallest.experiment;
        }
    }
    let stored = simulate::store(&args.run.store.path, experiment, Rc::new(Silent), Stop::default())?;
    let path = shell::quoted(&stored.ended.folder.path().display().to_string());
    let code = finish(&args.run.what, &args.run.results, stored.ended)?;
    output::say(&format!(
        "again: fencepost replay {path}\non real servers: fencepost replay {path} --on docker\n"
    ));
    Ok(code)
}
