//! Runs that are over: loaded, or judged again from their files.

use std::{io::ErrorKind, path::Path};

use history::{History, judgement::Judgement};
use reports::run::RunData;
use serde_json::{Map, Value};

use crate::{
    about, campaigns,
    error::{Error, Result},
    experiment::{
        Experiment, On,
        older::{self, Renamed},
    },
    help,
    input::{self, Unread},
    recorder::Unwritten,
    run::{self, Files, Outcome, expectations, judge_history, judge_unfinished, run_data},
    store::{EXPERIMENT, RunFolder},
};

/// What a run tells of how it went.
pub const RUN: &str = "run.json";
/// What was said about it.
pub const VERDICT: &str = "verdict.json";

/// A run that was judged again.
pub struct Rejudged {
    /// What reports are made of.
    pub run: RunData,
    /// What a reader should know about the files.
    pub notes: Vec<String>,
    /// What was run.
    pub experiment: Experiment,
}

/// Judges a stored run from its files, whatever became of its harness. Nothing is written: the run may go on.
pub fn judge_run(folder: &RunFolder) -> Result<Rejudged> {
    judged_and_told(folder).map(|(rejudged, _)| rejudged)
}

/// What the run told is read once it is known whether it goes on: a run that ends meanwhile has told all.
fn judged_and_told(folder: &RunFolder) -> Result<(Rejudged, Told)> {
    let is_running = folder.is_running();
    let path = folder.path().join(EXPERIMENT);
    let experiment = Experiment::of_run(&path.display().to_string())?;
    let told = Told::of(folder);
    let outcome = Outcome {
        nodes: told.part("nodes"),
        phases_ms: told.part("phases_ms"),
        failure: None,
        interrupted: false,
    };
    // Without `run.json` the experiment tells: what is stored says where it ran, never `auto`.
    let planned = if experiment.on == On::Sim { campaigns::simulate::WORLD } else { "docker" };
    let world = told.text("world").unwrap_or(planned);
    let version = told.value.get("facts").and_then(version);
    let Files { history, is_final, mut notes } = Files::read(folder.path(), &Unwritten::default())?;
    // What the run itself has put in order is all that it recorded, whenever it did so.
    let judge = if is_final && !is_running { judge_history } else { judge_unfinished };
    let mut judged = judge(history, &experiment, &outcome, world, version);
    judged.judgement.running = is_running;
    judged.judgement.stopped = if is_running { None } else { told.stopped(folder) };
    notes.extend(is_running.then(|| "running: judged so far".into()));
    notes.extend(told.broken.clone());
    notes.extend(experiment.renamed.as_ref().map(Renamed::to_string));
    let facts = told.value.get("facts").and_then(Value::as_object).cloned().unwrap_or_default();
    let repeat = repeat(&experiment, folder, &told);
    let run = run_data(&experiment, folder, judged, &outcome.nodes, &facts, &repeat);
    Ok((Rejudged { run, notes, experiment }, told))
}

/// A stored run as it was judged; judged now if it never was, or if an older build judged it by the rules of then.
pub fn load(folder: &RunFolder) -> Result<Rejudged> {
    let (mut rejudged, told) = judged_and_told(folder)?;
    if rejudged.run.judgement.running {
        return Ok(rejudged);
    }
    let mut judgement = match verdict(folder) {
        Ok(Some(judgement)) => judgement,
        Ok(None) => return Ok(rejudged),
        Err(broken) => {
            rejudged.notes.push(format!("{broken}: judged anew"));
            return Ok(rejudged);
        }
    };
    if told.is_older(&rejudged.experiment) {
        rejudged.notes.push("judged anew: its verdict is of an older build, which judged otherwise".into());
        return Ok(rejudged);
    }
    about::of_checks(&mut judgement.checks);
    about::of_faults(&mut judgement.faults);
    if judgement.help.is_empty() {
        judgement.help = help::of_run(&rejudged.experiment, &judgement);
    }
    if judgement.expectations.is_empty() {
        judgement.expectations = expectations(&rejudged.experiment, judgement.verdict, &judgement.checks);
    }
    rejudged.run.judgement = judgement;
    Ok(rejudged)
}

/// What `verdict.json` says, or what is wrong with it and where.
fn verdict(folder: &RunFolder) -> Result<Option<Judgement>, String> {
    read_json(&folder.path().join(VERDICT))
}

/// What the run itself told of how it went.
struct Told {
    /// `run.json`; empty where its harness never came to write it.
    value: Map<String, Value>,
    /// What is wrong with it, and where.
    broken: Option<String>,
}

impl Told {
    fn of(folder: &RunFolder) -> Told {
        match read_json(&folder.path().join(RUN)) {
            Ok(value) => Told { value: value.unwrap_or_default(), broken: None },
            Err(broken) => Told { value: Map::new(), broken: Some(format!("{broken}: judged without it")) },
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.value.get(name).and_then(Value::as_str)
    }

    fn part<T: serde::de::DeserializeOwned + Default>(&self, name: &str) -> T {
        self.value.get(name).and_then(|part| serde_json::from_value(part.clone()).ok()).unwrap_or_default()
    }

    /// What ended the run early, if anything did. Where `run.json` cannot be read, the verdict says so too.
    fn stopped(&self, folder: &RunFolder) -> Option<String> {
        match (self.value.get("stopped"), &self.broken) {
            (Some(stopped), _) => stopped.as_str().map(str::to_string),
            (None, None) => Some("the harness ended before the run did".into()),
            (None, Some(_)) => match verdict(folder) {
                Ok(Some(judgement)) => judgement.stopped,
                _ => Some("nobody knows how: what it told of its end cannot be read".into()),
            },
        }
    }

    /// A broken file tells no format; then the names tell.
    fn is_older(&self, experiment: &Experiment) -> bool {
        match &self.broken {
            Some(_) => experiment.renamed.is_some(),
            None => older::is_older_run(&Value::Object(self.value.clone())),
        }
    }
}

/// `None` where there is no such file; else its content, or what is wrong with it: `file:line:column: …`.
pub fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    let text = match input::text_of_run(path) {
        Ok(text) => text,
        Err(Unread::Io(error)) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{} cannot be read ({error})", path.display())),
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        let (line, column) = (error.line().max(1), error.column().max(1));
        let words = error.to_string();
        // Its own words end with the place.
        let words = words.split(" at line ").next().unwrap_or_default();
        format!("{}:{line}:{column} cannot be read ({words})", path.display())
    })
}

/// As the run itself said it, where its recipe has another name now.
fn repeat(experiment: &Experiment, folder: &RunFolder, told: &Told) -> String {
    let said = told.text("repeat");
    let now = experiment.renamed.as_ref().zip(said).and_then(|(renamed, said)| renamed.in_command(said));
    now.unwrap_or_else(|| run::repeat(experiment, folder))
}

/// A run's history as Jepsen's EDN.
pub fn edn(run: &RunData) -> Result<String> {
    let mut text = Vec::new();
    history::edn::write(&mut text, &History::from_events(&run.events))
        .map_err(|error| Error::Harness(format!("failed to write EDN: {error}")))?;
    String::from_utf8(text).map_err(|error| Error::Harness(error.to_string()))
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
