//! `fencepost run --on sim`, and what campaigns and replays share with it.

use std::{path::Path, rc::Rc};

use history::exit::ExitCode;
use reports::message::Message;

use super::{
    args::RunArgs,
    conclude::{Ended, Losses, finish},
    interrupt, output,
};
use crate::{
    campaigns::simulate::{Simulated, WORLD, simulate},
    error::{Error, Result},
    experiment::Experiment,
    recorder::Recorder,
    run::{Progress, Silent, Stop, progress::Shown},
    store::{MESSAGES, RunFolder},
};

/// Runs the experiment, which was resolved for it, in the simulation and returns the exit code that its verdict asks for.
pub fn main(args: &RunArgs, experiment: Experiment) -> Result<ExitCode> {
    if !args.results.json {
        output::announce_simulated(&experiment);
    }
    let progress: Rc<dyn Progress> = if args.results.json { Rc::new(Silent) } else { Rc::new(Shown::new()) };
    let stop = Stop::by(interrupt::listen("stopping: judging what there is; once more to force"));
    finish(&args.what, &args.results, store(&args.store.path, experiment, progress, stop)?.ended)
}

/// A simulated run with its files.
pub struct Stored {
    /// What it left, to be judged.
    pub ended: Ended,
    /// Hash of every decision and message.
    pub trace: u64,
}

/// Runs an experiment and leaves its history, its log and its messages in the store.
pub fn store(store: &Path, experiment: Experiment, progress: Rc<dyn Progress>, stop: Stop) -> Result<Stored> {
    let folder = RunFolder::create(store, &experiment.name, &experiment.to_toml()?)?;
    let experiment = Rc::new(experiment);
    let recorder = Rc::new(Recorder::create(folder.path())?);
    let Simulated { outcome, facts, trace, messages, .. } =
        simulate(&experiment, recorder.clone(), progress, stop, true);
    let mut losses = Losses::default();
    losses.note(lines(&messages).and_then(|text| folder.write(MESSAGES, text)));
    Ok(Stored { ended: Ended { folder, experiment, recorder, outcome, facts, world: WORLD, losses }, trace })
}

/// One line of JSON a message, in order of sending.
fn lines(messages: &[Message]) -> Result<String> {
    let mut text = String::new();
    for message in messages {
        text += &serde_json::to_string(message).map_err(|error| Error::Harness(error.to_string()))?;
        text.push('\n');
    }
    Ok(text)
}
