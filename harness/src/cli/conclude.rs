//! What comes after a run in any world: its files, its verdict, its reports, its exit code.
//!
//! What was recorded is judged and printed whatever cannot be written any more.

use std::{rc::Rc, time::Instant};

use history::{
    exit::ExitCode,
    record::{Facts, RunRecord},
};
use sha2::{Digest, Sha256};

use super::{args::Results, junit, output};
use crate::{
    engine::hex,
    error::{Error, Result},
    experiment::{Experiment, older},
    recorder::Recorder,
    run::{self, Files, Outcome, judge_history, write_history},
    store::{EXPERIMENT, RUN, RunFolder, VERDICT},
};

/// A run that is over, and not yet judged.
pub struct Ended {
    /// Where its files are, and where the others go.
    pub folder: RunFolder,
    /// What was run.
    pub experiment: Rc<Experiment>,
    /// What it recorded.
    pub recorder: Rc<Recorder>,
    /// How it went.
    pub outcome: Outcome,
    /// What a reader needs to trust or repeat it.
    pub facts: Facts,
    /// `docker` or `sim`.
    pub world: &'static str,
    /// What could not be written of it.
    pub losses: Losses,
}

/// What could not be written. Each is told once, on stderr, and the rest goes on.
#[derive(Default)]
pub struct Losses(Vec<String>);

impl Losses {
    /// Tells and notes a failure.
    pub fn note<T>(&mut self, done: Result<T>) -> Option<T> {
        let noted = done.map_err(|error| {
            tell!("error: {error}");
            self.0.push(error.to_string());
        });
        noted.ok()
    }
}

/// Judges, writes the reports, prints the result, and chooses the exit code.
pub fn finish(asked: &str, results: &Results, ended: Ended) -> Result<ExitCode> {
    let Ended { folder, experiment, recorder, mut outcome, facts, world, mut losses } = ended;
    let record = record(asked, &experiment, &folder, &outcome, &facts, world);
    losses.note(record.and_then(|text| folder.write(RUN, text)));
    let begun = Instant::now();
    let Files { history, notes, .. } = Files::read(folder.path(), &recorder.unwritten())?;
    notes.iter().for_each(|note| tell!("note: {note}"));
    let in_order = write_history(&folder, &history);
    if recorder.failure().is_none() {
        // Else there is no room for it, as is told.
        losses.note(in_order);
    }
    let judged = judge_history(history, &experiment, &outcome, world, facts.version());
    outcome.phases_ms.insert("check".into(), begun.elapsed().as_secs_f64() * 1000.0);
    let repeat = run::repeat(&experiment, &folder);
    let mut run = run::run_data(&experiment, &folder, judged, &outcome.nodes, &facts, &repeat);
    run.judgement.phases_ms = outcome.phases_ms.clone();
    let begun = Instant::now();
    if losses.note(output::write_reports(&folder, &run)).is_none() {
        run.paths.retain(|(name, _)| name != "report");
    }
    run.judgement.phases_ms.insert("report".into(), begun.elapsed().as_secs_f64() * 1000.0);
    let verdict = reports::json::render(&run.judgement).map_err(|error| Error::Harness(error.to_string()))?;
    losses.note(folder.write(VERDICT, &verdict));
    if results.json {
        output::print(&verdict);
    } else if !outcome.nodes.clients.is_empty() {
        // Before there are clients there is nothing to show but what went wrong.
        output::print(&output::table(&run));
    }
    // Told when the process ends.
    losses.0.extend(output::all_printed().err().map(|error| error.to_string()));
    if let Some(path) = &results.junit {
        let written = junit::write(path, &run, &losses.0);
        losses.note(written);
    }
    if let Some(failure) = &outcome.failure {
        tell!("error: {}", failure.of_a_run());
    }
    Ok(match &outcome.failure {
        // Whoever wanted it to stop is told so, whatever else went wrong by then.
        _ if outcome.interrupted => ExitCode::Interrupted,
        Some(failure) => failure.exit_code(),
        None if !losses.0.is_empty() => ExitCode::Harness,
        None => ExitCode::of(&run.judgement),
    })
}

/// What `run.json` says.
fn record(
    asked: &str,
    experiment: &Experiment,
    folder: &RunFolder,
    outcome: &Outcome,
    facts: &Facts,
    world: &str,
) -> Result<String> {
    let failed = |error: serde_json::Error| Error::Harness(error.to_string());
    let schedule = experiment.schedule.faults.iter().map(serde_json::to_value);
    let record = RunRecord {
        format: older::FORMAT,
        fencepost: env!("CARGO_PKG_VERSION").into(),
        world: world.into(),
        asked: asked.into(),
        repeat: run::repeat(experiment, folder),
        experiment: experiment.name.clone(),
        recipe: experiment.recipe.name.into(),
        system: experiment.system().name.into(),
        seed: experiment.seed,
        experiment_sha256: sha256(&folder.read(EXPERIMENT)?),
        ended: jiff::Timestamp::now().to_string(),
        nodes: outcome.nodes.clone(),
        schedule: schedule.collect::<Result<_, _>>().map_err(failed)?,
        scheduled: experiment.scheduled,
        stopped: outcome.stopped(),
        phases_ms: outcome.phases_ms.clone(),
        facts: facts.clone(),
    };
    record.to_json().map_err(failed)
}

/// In hexadecimal.
pub fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text))
}
