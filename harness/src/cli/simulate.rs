//! `fencepost run --on sim`, and what campaigns and replays share with it.

use std::{path::Path, rc::Rc};

use super::{RunArgs, output, run};
use crate::{
    error::Result,
    experiment::{Experiment, On},
    recorder::Recorder,
    run::{Progress, Silent, judge, progress::Shown},
    sim::run::{Simulated, WORLD, simulate},
    store::RunFolder,
};

/// Runs the experiment in the simulation and returns the exit code that its verdict asks for.
pub fn main(args: &RunArgs, experiment: Experiment) -> Result<u8> {
    let experiment = Experiment { on: On::Sim, ..experiment };
    if !args.json {
        output::announce_simulated(&experiment);
    }
    let progress: Rc<dyn Progress> = if args.json { Rc::new(Silent) } else { Rc::new(Shown::new()) };
    let stored = store(&args.store, experiment, progress, false)?;
    finish(args, stored)
}

/// A simulated run with its files.
pub struct Stored {
    /// Where they are.
    pub folder: RunFolder,
    /// What was run.
    pub experiment: Rc<Experiment>,
    /// How it went.
    pub simulated: Simulated,
}

/// Runs an experiment and leaves its history, its log and its messages, where they were asked for, in the store.
pub fn store(
    store: &Path,
    experiment: Experiment,
    progress: Rc<dyn Progress>,
    messages: bool,
) -> Result<Stored> {
    let folder = RunFolder::create(store, &experiment.name)?;
    let experiment = Rc::new(experiment);
    folder.write("experiment.toml", experiment.to_toml()?)?;
    let recorder = Rc::new(Recorder::create(folder.path())?);
    let simulated = simulate(&experiment, recorder, progress, messages);
    if messages {
        folder.write("messages.txt", diagram(&simulated))?;
    }
    Ok(Stored { folder, experiment, simulated })
}

/// Judges, reports, and chooses the exit code.
pub fn finish(args: &RunArgs, stored: Stored) -> Result<u8> {
    let Stored { folder, experiment, simulated } = stored;
    let Simulated { mut outcome, facts, .. } = simulated;
    folder.write("run.json", run::run_json(args, &experiment, &folder, &outcome, &facts, WORLD)?)?;
    let begun = std::time::Instant::now();
    let version = facts.get("version").and_then(|version| version.as_str()).map(str::to_owned);
    let judged = judge(folder.path(), &experiment, &outcome, WORLD, version)?;
    outcome.phases_ms.insert("check".into(), begun.elapsed().as_secs_f64() * 1000.0);
    run::finish(args, &experiment, &folder, judged, outcome, &facts)
}

/// One line a message: when it was sent, how long it took, from whom to whom, what it said.
fn diagram(simulated: &Simulated) -> String {
    let line = |(from, to, arrow): &(String, String, crate::sim::net::Arrow)| {
        let took = match arrow.arrived {
            Some(arrived) => format!("{:>9.3} ms", (arrived - arrow.sent) as f64 / 1e6),
            None => "        lost".to_owned(),
        };
        format!("{:>12.3} ms  {took}  {from} -> {to}  {}\n", arrow.sent as f64 / 1e6, arrow.label)
    };
    simulated.messages.iter().map(line).collect()
}
