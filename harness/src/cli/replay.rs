//! `fencepost replay`: the same run again, or the same faults on real servers.

use std::{path::Path, rc::Rc};

use checkers::verdict::Verdict;
use reports::judgement::Judgement;
use serde_json::Value;

use super::{
    ReplayArgs, RunArgs, interrupt, output,
    run::{self, sha256},
    runtime, simulate,
};
use crate::{
    error::{Error, Result, exit},
    experiment::{Expectation, Experiment, Flags, On},
    recorder::HISTORY,
    run::{Silent, Stop},
    store::RunFolder,
};

/// An experiment and a verdict in a run's folder.
const FILE: &str = "experiment.toml";
const VERDICT: &str = "verdict.json";
/// How often real servers get a chance to show what the simulation showed.
const TRIES: u32 = 3;

/// 0 when the run repeats, or when reality agrees.
pub fn main(args: ReplayArgs) -> Result<u8> {
    let path = Path::new(&args.what);
    let is_experiment = path.is_file() && path.extension().is_some_and(|extension| extension == "toml");
    let file = if is_experiment { path.to_owned() } else { RunFolder::open(&args.what)?.path().join(FILE) };
    let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
    match args.on {
        Some(On::Docker) => on_docker(&args, &file, &folder),
        _ => again(&args, &file, &folder),
    }
}

/// The file's experiment, in a world.
fn experiment(file: &Path, on: On) -> Result<Experiment> {
    Experiment::resolve(&file.display().to_string(), &Flags { on: Some(on), ..Flags::default() })
}

/// In the simulation: the same trace and the same history.
fn again(args: &ReplayArgs, file: &Path, folder: &Path) -> Result<u8> {
    let of_run = |why: String| Err(Error::Data(format!("{}: {why}", args.what)));
    if !folder.join("run.json").exists() {
        return of_run(
            "no run that came to its end lies beside it; `fencepost run FILE.toml` runs an experiment, and --on docker plays its faults to real servers"
                .into(),
        );
    }
    let told: Value = json(&read(folder, "run.json")?)?;
    let text = |pointer: &str| told.pointer(pointer).and_then(Value::as_str);
    let Some(trace) = text("/facts/trace") else {
        return of_run(
            "not a simulated run: only those repeat exactly; --on docker plays its faults to real servers"
                .into(),
        );
    };
    if let Some(why) = text("/stopped") {
        return of_run(format!(
            "that run was not carried to its end ({why}): only whole runs repeat exactly"
        ));
    }
    if text("/experiment_sha256").is_some_and(|sha| sha != sha256(&read(folder, FILE).unwrap_or_default())) {
        let file = file.display();
        return of_run(format!(
            "{file} was changed since that run; `fencepost run {file}` runs it as it is now"
        ));
    }
    let history = read(folder, HISTORY)?;
    let run_args = RunArgs::of(&args.what, &args.store);
    let stop = Stop::by(interrupt::listen("stopping: judging what there is; once more to force"));
    let stored = simulate::store(&args.store, experiment(file, On::Sim)?, Rc::new(Silent), stop)?;
    let interrupted = stored.simulated.outcome.interrupted;
    let new_trace = format!("{:016x}", stored.simulated.trace);
    let new_folder = stored.folder.clone();
    let code = simulate::finish(&run_args, stored)?;
    if interrupted {
        return Ok(code);
    }
    if new_trace != trace {
        let (then, now) = (text("/fencepost").unwrap_or("?"), env!("CARGO_PKG_VERSION"));
        output::print(&format!(
            "simulated: another run: trace {new_trace}, not {trace}; it was made by another build (fencepost {then}; this is {now})\n"
        ));
        return Ok(exit::INVALID);
    }
    if let Some(line) = first_difference(&new_folder.read(HISTORY)?, &history) {
        let path = folder.join(HISTORY);
        return of_run(format!(
            "the run repeats (trace {trace}), but {} is not what it wrote: it differs from line {line} on; what it wrote is in {}",
            path.display(),
            new_folder.path().display()
        ));
    }
    output::print(&format!("simulated: the same run again, trace {trace}\n"));
    Ok(exit::OK)
}

/// The first line, from 1, that is not the same in both.
fn first_difference(one: &str, other: &str) -> Option<usize> {
    let (mut one, mut other) = (one.split_inclusive('\n'), other.split_inclusive('\n'));
    (1..).find_map(|line| match (one.next(), other.next()) {
        (None, None) => Some(None),
        (left, right) => (left != right).then_some(Some(line)),
    })?
}

/// What counts is the first of the checks that the simulation violated: others follow from it, or do not.
fn on_docker(args: &ReplayArgs, file: &Path, folder: &Path) -> Result<u8> {
    let experiment = experiment(file, On::Docker)?;
    let expected = expected(&experiment, folder)?;
    let Some(first) = expected.first() else {
        return Err(Error::Data(format!(
            "{}: that run violated nothing that could be looked for",
            args.what
        )));
    };
    for number in 1..=TRIES {
        let run_args = RunArgs::of(&args.what, &args.store);
        let real = runtime::block_on(run::run(run_args, experiment.clone()))?;
        if matches!(real.code, exit::INTERRUPTED | exit::HARNESS | exit::UNAVAILABLE) {
            // Half a try says nothing of real servers.
            return Ok(real.code);
        }
        let mut agreed = violated(&real.folder.read(VERDICT)?)?;
        agreed.retain(|check| expected.contains(check));
        if agreed.contains(first) {
            output::print(&format!("reality agrees (try {number}): {}\n", agreed.join(", ")));
            return Ok(exit::OK);
        }
    }
    output::print(&format!("reality did not show it in {TRIES} tries: {first}\n"));
    Ok(exit::INVALID)
}

/// The checks that the run beside the file violated; without a run, those that the file expects to be violated.
fn expected(experiment: &Experiment, folder: &Path) -> Result<Vec<String>> {
    if let Ok(verdict) = read(folder, VERDICT) {
        return violated(&verdict);
    }
    let invalid = experiment.expect.iter().filter(|(_, what)| **what == Expectation::Invalid);
    Ok(invalid.map(|(check, _)| check.clone()).collect())
}

/// The checks that a stored run violates, in the order of reports.
fn violated(verdict: &str) -> Result<Vec<String>> {
    let judgement: Judgement = json(verdict)?;
    let checks = judgement.checks.into_iter().filter(|(_, check)| check.verdict == Verdict::Invalid);
    let mut names: Vec<String> = checks.map(|(name, _)| name).collect();
    names.sort_by_key(|name| reports::violations::rank(name));
    Ok(names)
}

fn read(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(name);
    std::fs::read_to_string(&path).map_err(|error| Error::Data(format!("{}: {error}", path.display())))
}

fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|error| Error::Data(format!("a file of the run cannot be read: {error}")))
}
