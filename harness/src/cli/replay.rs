//! `fencepost replay`: the same run again, or the same faults on real servers.

use std::{path::Path, rc::Rc};

use history::{exit::ExitCode, judgement::Judgement, record::RunRecord, verdict::Verdict};

use super::{
    args::{ReplayArgs, Results, RunArgs},
    conclude::{finish, sha256},
    interrupt, output, run, runtime, simulate,
};
use crate::{
    error::{Error, Result},
    experiment::{Expectation, Experiment, Flags, On, older},
    input,
    run::{Silent, Stop},
    store::{EXPERIMENT, HISTORY, RUN, RunFolder, VERDICT},
    stored,
};

/// How often real servers get a chance to show what the simulation showed.
const TRIES: u32 = 3;

/// 0 when the run repeats, or when reality agrees.
pub fn main(args: ReplayArgs) -> Result<ExitCode> {
    let path = Path::new(&args.what);
    let is_experiment = path.is_file() && path.extension().is_some_and(|extension| extension == "toml");
    let file =
        if is_experiment { path.to_owned() } else { RunFolder::open(&args.what)?.path().join(EXPERIMENT) };
    let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
    match args.on {
        Some(On::Docker) => on_docker(&args, &file, &folder),
        _ => again(&args, &file, &folder),
    }
}

/// The file's experiment, in a world.
fn experiment(file: &Path, on: On) -> Result<Experiment> {
    let experiment =
        Experiment::resolve(&file.display().to_string(), &Flags { on: Some(on), ..Flags::default() })?;
    output::note_renamed(&experiment);
    Ok(experiment)
}

/// In the simulation: the same trace and the same history.
fn again(args: &ReplayArgs, file: &Path, folder: &Path) -> Result<ExitCode> {
    let of_run = |why: String| Err(Error::Data(format!("{}: {why}", args.what)));
    if !folder.join(RUN).exists() {
        return of_run(
            "no run that came to its end lies beside it; `fencepost run FILE.toml` runs an experiment, and --on docker plays its faults to real servers"
                .into(),
        );
    }
    let record: RunRecord = json(folder, RUN)?;
    let Some(trace) = &record.facts.trace else {
        return of_run(
            "not a simulated run: only those repeat exactly; --on docker plays its faults to real servers"
                .into(),
        );
    };
    if let Some(why) = &record.stopped {
        return of_run(format!(
            "that run was not carried to its end ({why}): only whole runs repeat exactly"
        ));
    }
    if record.experiment_sha256 != sha256(&read(folder, EXPERIMENT).unwrap_or_default()) {
        let file = file.display();
        return of_run(format!(
            "{file} was changed since that run; `fencepost run {file}` runs it as it is now"
        ));
    }
    let recorded = history(&folder.join(HISTORY))?;
    let stop = Stop::by(interrupt::listen("stopping: judging what there is; once more to force"));
    let stored = simulate::store(&args.store.path, experiment(file, On::Sim)?, Rc::new(Silent), stop)?;
    let interrupted = stored.ended.outcome.interrupted;
    let new_trace = format!("{:016x}", stored.trace);
    let new_folder = stored.ended.folder.clone();
    let code = finish(&args.what, &Results::default(), stored.ended)?;
    if interrupted || code == ExitCode::Harness {
        return Ok(code);
    }
    let difference = first_difference(&history(&new_folder.path().join(HISTORY))?, &recorded);
    let same = new_trace == *trace;
    match difference {
        None if same => {
            output::say(&format!("simulated: the same run again, trace {trace}\n"));
            Ok(ExitCode::Ok)
        }
        _ if older::is_older_run(&record) => {
            output::say(&format!(
                "simulated: not comparable: {}; an older build recorded that run, with clients that did otherwise than those \
                 of now. `fencepost check {}` judges what it recorded.\n",
                match same {
                    true => format!("the same trace {trace}, and another history"),
                    false => format!("trace {new_trace} now, {trace} then"),
                },
                args.what
            ));
            Ok(ExitCode::Unknown)
        }
        Some(line) if same => of_run(format!(
            "the run repeats (trace {trace}), but {} is not what it wrote: it differs from line {line} on; what it wrote is in {}",
            folder.join(HISTORY).display(),
            new_folder.path().display()
        )),
        _ => {
            let (then, now) = (&record.fencepost, env!("CARGO_PKG_VERSION"));
            output::say(&format!(
                "simulated: another run: trace {new_trace}, not {trace}; it was made by another build (fencepost {then}; this is {now})\n"
            ));
            Ok(ExitCode::Invalid)
        }
    }
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
fn on_docker(args: &ReplayArgs, file: &Path, folder: &Path) -> Result<ExitCode> {
    let experiment = experiment(file, On::Docker)?;
    let expected = expected(args, &experiment, folder)?;
    let Some(first) = expected.first() else {
        return Err(Error::Data(format!(
            "{}: that run violated nothing that could be looked for",
            args.what
        )));
    };
    for number in 1..=TRIES {
        let run_args = RunArgs {
            what: args.what.clone(),
            flags: Flags::default(),
            results: Results::default(),
            store: args.store.clone(),
        };
        let real = runtime::block_on(run::run(run_args, experiment.clone()))?;
        if matches!(real.code, ExitCode::Interrupted | ExitCode::Harness | ExitCode::Unavailable) {
            // Half a try says nothing of real servers.
            return Ok(real.code);
        }
        let mut agreed = violated(&json(real.folder.path(), VERDICT)?);
        agreed.retain(|check| expected.contains(check));
        if agreed.contains(first) {
            output::say(&format!("reality agrees (try {number}): {}\n", agreed.join(", ")));
            return Ok(ExitCode::Ok);
        }
    }
    output::say(&format!("reality did not show it in {TRIES} tries: {first}\n"));
    Ok(ExitCode::Invalid)
}

/// The checks that the run beside the file violated; without a run, those that the file expects to be violated. A run
/// that an older build judged is judged again: real servers are asked for what counts as a violation now.
fn expected(args: &ReplayArgs, experiment: &Experiment, folder: &Path) -> Result<Vec<String>> {
    if folder.join(RUN).exists()
        && older::is_older_run(&json(folder, RUN)?)
        && let Ok(run) = RunFolder::open(&args.what)
    {
        return Ok(violated(&stored::judge_run(&run)?.run.judgement));
    }
    if folder.join(VERDICT).exists() {
        return Ok(violated(&json(folder, VERDICT)?));
    }
    let invalid = experiment.expect.iter().filter(|(_, what)| **what == Expectation::Invalid);
    Ok(invalid.map(|(check, _)| check.clone()).collect())
}

/// The checks that a stored run violates, in the order of reports.
fn violated(judgement: &Judgement) -> Vec<String> {
    let checks = judgement.checks.iter().filter(|(_, check)| check.verdict == Verdict::Invalid);
    let mut names: Vec<String> = checks.map(|(name, _)| name.clone()).collect();
    names.sort_by_key(|name| checkers::rank(name));
    names
}

fn history(path: &Path) -> Result<String> {
    input::history(path).map_err(|error| Error::Data(format!("{}: {error}", path.display())))
}

fn read(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(name);
    input::text_of_run(&path).map_err(|error| Error::Data(format!("{}: {error}", path.display())))
}

/// A file of the run that must be there.
fn json<T: serde::de::DeserializeOwned>(folder: &Path, name: &str) -> Result<T> {
    let path = folder.join(name);
    let there = stored::read_json(&path).map_err(|broken| Error::Data(broken.to_string()))?;
    there.ok_or_else(|| Error::Data(format!("{} is not there", path.display())))
}
