//! `fencepost replay`: the same run again, or the same faults on real servers.

use std::rc::Rc;

use checkers::verdict::Verdict;
use reports::judgement::Judgement;
use serde_json::Value;

use super::{ReplayArgs, RunArgs, output, run, runtime, simulate};
use crate::{
    error::{Error, Result, exit},
    experiment::{Experiment, Flags, On},
    recorder::HISTORY,
    run::Silent,
    store::RunFolder,
};

/// How often real servers get a chance to show what the simulation showed.
const TRIES: u32 = 3;

/// 0 when the run repeats, or when reality agrees.
pub fn main(args: ReplayArgs) -> Result<u8> {
    let folder = RunFolder::open(&args.what)?;
    match args.on {
        Some(On::Docker) => on_docker(&args, &folder),
        _ => again(&args, &folder),
    }
}

/// The folder's experiment, in a world.
fn experiment(folder: &RunFolder, on: On) -> Result<Experiment> {
    let file = folder.path().join("experiment.toml").display().to_string();
    Experiment::resolve(&file, &Flags { on: Some(on), ..Flags::default() })
}

fn again(args: &ReplayArgs, folder: &RunFolder) -> Result<u8> {
    let told: Value = json(&folder.read("run.json")?)?;
    let Some(trace) = told.pointer("/facts/trace").and_then(Value::as_str) else {
        return Err(Error::Data(format!("{}: not a simulated run: only those repeat exactly", args.what)));
    };
    let run_args = RunArgs::of(&args.what, &args.store);
    let stored = simulate::store(&args.store, experiment(folder, On::Sim)?, Rc::new(Silent), false)?;
    let new_trace = format!("{:016x}", stored.simulated.trace);
    let new_folder = stored.folder.clone();
    simulate::finish(&run_args, stored)?;
    let same = new_trace == trace && new_folder.read(HISTORY)? == folder.read(HISTORY)?;
    output::print(&match same {
        true => format!("simulated: the same run again, trace {trace}\n"),
        false => format!(
            "simulated: another run: trace {new_trace}, not {trace}; was it made by another version?\n"
        ),
    });
    Ok(if same { exit::OK } else { exit::INVALID })
}

fn on_docker(args: &ReplayArgs, folder: &RunFolder) -> Result<u8> {
    let expected = violated(folder)?;
    for number in 1..=TRIES {
        let run_args = RunArgs::of(&args.what, &args.store);
        runtime::block_on(run::run(run_args, experiment(folder, On::Docker)?))?;
        let real = RunFolder::open(&args.store.join("latest").display().to_string())?;
        let agreed: Vec<String> =
            violated(&real)?.into_iter().filter(|check| expected.contains(check)).collect();
        if !agreed.is_empty() {
            output::print(&format!("reality agrees (try {number}): {}\n", agreed.join(", ")));
            return Ok(exit::OK);
        }
    }
    output::print(&format!("reality did not show it in {TRIES} tries: {}\n", expected.join(", ")));
    Ok(exit::INVALID)
}

/// The checks that a stored run violates.
fn violated(folder: &RunFolder) -> Result<Vec<String>> {
    let judgement: Judgement = json(&folder.read("verdict.json")?)?;
    let checks = judgement.checks.into_iter().filter(|(_, check)| check.verdict == Verdict::Invalid);
    Ok(checks.map(|(name, _)| name).collect())
}

fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|error| Error::Data(format!("a file of the run cannot be read: {error}")))
}
