//! Runs that are over: loaded, or judged again from their files.

use std::path::Path;

use checkers::{
    checks::{self, CheckContext},
    history::History,
};
use reports::{judgement::Judgement, run::RunData};
use serde_json::{Map, Value};

use crate::{
    cli::output,
    error::{Error, Result},
    experiment::{Experiment, Flags},
    recorder::{HISTORY, RESOURCE},
    run::{Outcome, judge, read_history, read_resource},
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
        phases_ms: told.get("phases_ms").and_then(|phases| serde_json::from_value(phases.clone()).ok()).unwrap_or_default(),
        failure: None,
        interrupted: false,
    };
    let world = told.get("world").and_then(Value::as_str).unwrap_or("docker");
    let mut judged = judge(folder.path(), &experiment, &outcome, world, None)?;
    judged.judgement.stopped = match told.get("stopped") {
        Some(stopped) => stopped.as_str().map(str::to_string),
        None => Some("the harness ended before the run did".into()),
    };
    judged.judgement.version = told.get("facts").and_then(version);
    let facts = told.get("facts").and_then(Value::as_object).cloned().unwrap_or_default();
    let notes = std::mem::take(&mut judged.notes);
    let nodes = outcome.nodes;
    let run = output::run_data(&experiment, folder, judged, &nodes, &facts, &output::repeat(&experiment, folder));
    Ok(Rejudged { run, notes })
}

/// Judges a history of its own, with the resource's log if that lies beside it.
pub fn judge_file(path: &Path) -> Result<Rejudged> {
    let (mut history, notes) = read_history(path)?;
    if let (None, Some(note)) = (history.events().next(), notes.first()) {
        return Err(Error::Data(format!("{note}; nothing else is in it: this is no history")));
    }
    history.sort();
    history.check_form().map_err(|error| Error::Data(format!("{}: {error}", path.display())))?;
    let resource = read_resource(&path.with_file_name(RESOURCE))?;
    let beside = path.file_name().is_some_and(|name| name == HISTORY) && !resource.is_empty();
    if beside {
        history.resource = resource;
    }
    Ok(Rejudged { run: run_of(path, history), notes })
}

fn run_of(path: &Path, history: History) -> RunData {
    let judged = checks::judge(&history, &CheckContext::default());
    let name = path.display().to_string();
    RunData {
        judgement: Judgement {
            format: 1,
            verdict: judged.verdict(),
            as_expected: None,
            experiment: name.clone(),
            recipe: None,
            workload: None,
            world: "history".into(),
            version: None,
            seed: None,
            stopped: None,
            checks: judged.checks,
            not_applicable: judged.not_applicable,
            operations: judged.operations,
            grants: judged.grants,
            faults: judged.faults,
            phases_ms: Default::default(),
        },
        events: history.events().collect(),
        resource: (!history.resource.is_empty()).then_some(history.resource),
        servers: Vec::new(),
        metadata: Vec::new(),
        repeat: format!("fencepost check {name}"),
        paths: vec![("history".into(), name)],
    }
}

/// A stored run as it was judged; judged now if it never was.
pub fn load(folder: &RunFolder) -> Result<RunData> {
    let mut rejudged = judge_run(folder)?.run;
    if let Ok(text) = folder.read("verdict.json") {
        rejudged.judgement = serde_json::from_str(&text)
            .map_err(|error| Error::Data(format!("{}: {error}", folder.path().join("verdict.json").display())))?;
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

/// The servers' versions, each once.
pub fn version(facts: &Value) -> Option<String> {
    let versions = facts.get("versions")?.as_object()?;
    let mut distinct: Vec<&str> = versions.values().filter_map(Value::as_str).collect();
    distinct.sort_unstable();
    distinct.dedup();
    (!distinct.is_empty()).then(|| distinct.join(", "))
}
