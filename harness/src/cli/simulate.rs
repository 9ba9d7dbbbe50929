//! `fencepost run --on sim`, and what campaigns and replays share with it.

use std::{path::Path, rc::Rc};

use super::{RunArgs, interrupt, output, run};
use crate::{
    error::{Error, Result},
    experiment::{Experiment, On},
    recorder::Recorder,
    run::{Progress, Silent, Stop, judge, progress::Shown},
    sim::run::{Simulated, WORLD, simulate},
    store::RunFolder,
    stored::version,
};

/// What was sent, beside the history.
pub const MESSAGES: &str = "messages.jsonl";

/// Runs the experiment in the simulation and returns the exit code that its verdict asks for.
pub fn main(args: &RunArgs, experiment: Experiment) -> Result<u8> {
    let experiment = Experiment { on: On::Sim, ..without_image(experiment)? };
    if !args.json {
        output::announce_simulated(&experiment);
    }
    let progress: Rc<dyn Progress> = if args.json { Rc::new(Silent) } else { Rc::new(Shown::new()) };
    let stop = Stop::by(interrupt::listen("stopping: judging what there is; once more to force"));
    let stored = store(&args.store, experiment, progress, stop)?;
    finish(args, stored)
}

/// Fails for an experiment that names an image.
pub fn without_image(experiment: Experiment) -> Result<Experiment> {
    match &experiment.image {
        None => Ok(experiment),
        Some(image) => Err(Error::Usage(format!(
            "--image: {image} cannot be simulated: --version says which version's contract is modelled"
        ))),
    }
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

/// Runs an experiment and leaves its history, its log and its messages in the store.
pub fn store(store: &Path, experiment: Experiment, progress: Rc<dyn Progress>, stop: Stop) -> Result<Stored> {
    let folder = RunFolder::create(store, &experiment.name)?;
    let experiment = Rc::new(experiment);
    folder.write("experiment.toml", experiment.to_toml()?)?;
    let recorder = Rc::new(Recorder::create(folder.path())?);
    let simulated = simulate(&experiment, recorder, progress, stop, true);
    folder.write(MESSAGES, lines(&simulated)?)?;
    Ok(Stored { folder, experiment, simulated })
}

/// Judges, reports, and chooses the exit code.
pub fn finish(args: &RunArgs, stored: Stored) -> Result<u8> {
    let Stored { folder, experiment, simulated } = stored;
    let Simulated { mut outcome, facts, .. } = simulated;
    folder.write("run.json", run::run_json(args, &experiment, &folder, &outcome, &facts, WORLD)?)?;
    let begun = std::time::Instant::now();
    let version = version(&serde_json::Value::Object(facts.clone()));
    let judged = judge(folder.path(), &experiment, &outcome, WORLD, version)?;
    outcome.phases_ms.insert("check".into(), begun.elapsed().as_secs_f64() * 1000.0);
    run::finish(args, &experiment, &folder, judged, outcome, &facts)
}

/// One line of JSON a message, in order of sending.
fn lines(simulated: &Simulated) -> Result<String> {
    let mut text = String::new();
    for message in &simulated.messages {
        text += &serde_json::to_string(message).map_err(|error| Error::Harness(error.to_string()))?;
        text.push('\n');
    }
    Ok(text)
}
