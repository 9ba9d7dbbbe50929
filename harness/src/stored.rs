//! Runs that are over: loaded, or judged again from their files.

use checkers::history::History;
use reports::run::RunData;
use serde_json::{Map, Value};

use crate::{
    cli::output,
    error::{Error, Result},
    experiment::{Experiment, Flags, On},
    run::{Outcome, judge},
    sim,
    store::RunFolder,
    world::Nodes,
};

/// A run that was judged again.
pub struct Rejudged {
    /// What reports are made of.
    pub run: RunData,
    /// What a reader should know about the files.
    pub notes: Vec<String>,
}

/// Judges a stored run from its files, whatever became of its harness.
pub fn judge_run(folder: &RunFolder) -> Result<Rejudged> {
    let path = folder.path().join("experiment.toml");
    let experiment = Experiment::resolve(&path.display().to_string(), &Flags::default())?;
    let told = told(folder);
    let outcome = Outcome {
        nodes: nodes(&told),
        phases_ms: told
            .get("phases_ms")
            .and_then(|phases| serde_json::from_value(phases.clone()).ok())
            .unwrap_or_default(),
        failure: None,
        interrupted: false,
    };
    // Without `run.json` the experiment tells: what is stored says where it ran, never `auto`.
    let planned = if experiment.on == On::Sim { sim::run::WORLD } else { "docker" };
    let world = told.get("world").and_then(Value::as_str).unwrap_or(planned);
    let mut judged = judge(folder.path(), &experiment, &outcome, world, None)?;
    judged.judgement.stopped = match told.get("stopped") {
        Some(stopped) => stopped.as_str().map(str::to_string),
        None => Some("the harness ended before the run did".into()),
    };
    judged.judgement.version = told.get("facts").and_then(version);
    let facts = told.get("facts").and_then(Value::as_object).cloned().unwrap_or_default();
    let notes = std::mem::take(&mut judged.notes);
    let nodes = outcome.nodes;
    let run =
        output::run_data(&experiment, folder, judged, &nodes, &facts, &output::repeat(&experiment, folder));
    Ok(Rejudged { run, notes })
}

/// A stored run as it was judged; judged now if it never was.
pub fn load(folder: &RunFolder) -> Result<RunData> {
    let mut rejudged = judge_run(folder)?.run;
    if let Ok(text) = folder.read("verdict.json") {
        rejudged.judgement = serde_json::from_str(&text).map_err(|error| {
            Error::Data(format!("{}: {error}", folder.path().join("verdict.json").display()))
        })?;
    }
    Ok(rejudged)
}

/// A run's history as Jepsen's EDN.
pub fn edn(run: &RunData) -> Result<String> {
    let mut text = Vec::new();
    checkers::history::edn::write(&mut text, &History::from_events(&run.events))
        .map_err(|error| Error::Harness(format!("failed to write EDN: {error}")))?;
    String::from_utf8(text).map_err(|error| Error::Harness(error.to_string()))
}

/// `run.json`; empty when the harness never came to write it.
fn told(folder: &RunFolder) -> Map<String, Value> {
    let text = folder.read("run.json").unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn nodes(told: &Map<String, Value>) -> Nodes {
    told.get("nodes").and_then(|nodes| serde_json::from_value(nodes.clone()).ok()).unwrap_or_default()
}

/// The servers' versions, each once; of simulated ones the version that they are modelled on.
pub fn version(facts: &Value) -> Option<String> {
    if let Some(version) = facts.get("version").and_then(Value::as_str) {
        return Some(version.to_owned());
    }
    let versions = facts.get("versions")?.as_object()?;
    let mut distinct: Vec<&str> = versions.values().filter_map(Value::as_str).collect();
    distinct.sort_unstable();
    distinct.dedup();
    (!distinct.is_empty()).then(|| distinct.join(", "))
}
