//! From a run's files to its verdict.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use checkers::{
    checks::{self, CheckContext, PlannedFaults, RecipeTraits},
    history::{self, History, ReadOptions, ResourceEntry},
    verdict::{CheckResults, Verdict},
};
use reports::judgement::Judgement;

use super::Outcome;
use crate::{
    error::{Error, Result},
    experiment::{Expectation, Experiment},
    recorder::{HISTORY, RESOURCE},
};

/// A run's history and what was said about it.
pub struct Judged {
    /// What `verdict.json` says.
    pub judgement: Judgement,
    /// In time order, with dense indexes.
    pub history: History,
    /// What a reader should know about the files, such as a torn last line.
    pub notes: Vec<String>,
}

/// Reads the files of a run, puts the history in time order and writes it back, and judges it.
pub fn judge(
    folder: &Path,
    experiment: &Experiment,
    outcome: &Outcome,
    world: &str,
    version: Option<String>,
) -> Result<Judged> {
    let (mut history, notes) = read_history(&folder.join(HISTORY))?;
    history.sort();
    history
        .check_form()
        .map_err(|error| Error::Data(format!("{}: {error}", folder.join(HISTORY).display())))?;
    write_history(&folder.join(HISTORY), &history)?;
    history.resource = read_resource(&folder.join(RESOURCE))?;
    Ok(Judged { notes, ..judge_history(history, experiment, outcome, world, version) })
}

/// Judges a history that is in order and has the resource's log with it.
pub fn judge_history(
    history: History,
    experiment: &Experiment,
    outcome: &Outcome,
    world: &str,
    version: Option<String>,
) -> Judged {
    let context = CheckContext {
        recipe: Some(RecipeTraits { token: experiment.recipe.has_token, ttl: experiment.recipe.has_ttl }),
        planned_faults: planned_faults(experiment),
        drift_ns: 0,
    };
    let judged = checks::judge(&history, &context);
    let verdict = judged.verdict();
    let judgement = Judgement {
        format: 1,
        verdict,
        as_expected: as_expected(&experiment.expect, verdict, &judged.checks),
        experiment: experiment.name.clone(),
        recipe: Some(experiment.recipe.name.to_string()),
        workload: Some(workload_name(experiment)),
        world: world.to_string(),
        version,
        seed: Some(experiment.seed),
        stopped: outcome.stopped(),
        checks: judged.checks,
        not_applicable: judged.not_applicable,
        operations: judged.operations,
        grants: judged.grants,
        faults: judged.faults,
        phases_ms: outcome.phases_ms.clone(),
    };
    Judged { judgement, history, notes: Vec::new() }
}

/// The schedule's faults by kind and target.
fn planned_faults(experiment: &Experiment) -> Vec<PlannedFaults> {
    let mut planned: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
    for fault in &experiment.schedule.faults {
        planned.entry((fault.kind, fault.target.to_string())).or_default().insert(fault.id);
    }
    let planned = planned.into_iter();
    planned
        .map(|((kind, target), ids)| PlannedFaults { kind: kind.to_string(), aim: Some((target, ids)) })
        .collect()
}

impl Outcome {
    /// What ended the run early, in words.
    pub fn stopped(&self) -> Option<String> {
        if self.interrupted {
            return Some("interrupted".into());
        }
        self.failure.as_ref().map(Error::of_a_run)
    }
}

/// Reads a history of our own format.
pub fn read_history(path: &Path) -> Result<(History, Vec<String>)> {
    let wrong = |error: history::ReadError| Error::Data(format!("{}: {error}", path.display()));
    let file = File::open(path)
        .map_err(|error| Error::Data(format!("failed to read the history {}: {error}", path.display())))?;
    let history = history::jsonl::read(file, &ReadOptions::default()).map_err(wrong)?;
    let notes = history.notes.iter().map(|note| format!("{}: {note}", path.display())).collect();
    Ok((history, notes))
}

/// Reads the resource's log; a missing one is an empty one.
pub fn read_resource(path: &Path) -> Result<Vec<ResourceEntry>> {
    match File::open(path) {
        Ok(file) => history::jsonl::read_resource(file)
            .map_err(|error| Error::Data(format!("{}: {error}", path.display()))),
        Err(_) => Ok(Vec::new()),
    }
}

/// Beside the old file first, then in its place: a history is never half written.
fn write_history(path: &Path, history: &History) -> Result<()> {
    let failed =
        |error: std::io::Error| Error::Harness(format!("failed to write {}: {error}", path.display()));
    let fresh = path.with_extension("jsonl.new");
    let mut file = BufWriter::new(File::create(&fresh).map_err(failed)?);
    history::jsonl::write(&mut file, history.events()).and_then(|()| file.flush()).map_err(failed)?;
    std::fs::rename(&fresh, path).map_err(failed)
}

/// Whether everything expected came; `None` when nothing was.
fn as_expected(
    expect: &BTreeMap<String, Expectation>,
    verdict: Verdict,
    checks: &CheckResults,
) -> Option<bool> {
    if expect.is_empty() {
        return None;
    }
    Some(expect.iter().all(|(name, what)| match name.as_str() {
        "verdict" => what.is_met_by(verdict),
        // A check that does not apply says nothing, so it meets no expectation but `any`.
        name => checks.get(name).map_or(*what == Expectation::Any, |check| what.is_met_by(check.verdict)),
    }))
}

fn workload_name(experiment: &Experiment) -> String {
    serde_json::to_value(experiment.workload)
        .ok()
        .and_then(|name| name.as_str().map(str::to_string))
        .unwrap_or_default()
}
