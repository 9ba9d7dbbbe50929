//! From a run's history to its verdict.

use std::collections::{BTreeMap, BTreeSet};

use checkers::{Check, CheckContext, PlannedFaults, RecipeTraits};
use history::{
    History, Process,
    judgement::{Expected, Judgement},
    stalls::{Stall, Stalls},
    verdict::{CheckResults, Verdict},
};

use super::Outcome;
use crate::{
    about,
    error::Error,
    experiment::{Expectation, Experiment},
    help,
};

/// A run's history and what was said about it.
pub struct Judged {
    /// What `verdict.json` says.
    pub judgement: Judgement,
    /// In time order, with dense indexes.
    pub history: History,
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
        reacquire: Some(experiment.recipe.reacquire()),
        drift_ns: 0,
    };
    let judged = checkers::judge(&history, &context);
    let verdict = judged.verdict();
    let expectations = expectations(experiment, verdict, &judged.checks);
    let mut judgement = Judgement {
        format: 1,
        verdict,
        as_expected: as_expected(&expectations),
        expectations,
        experiment: experiment.name.clone(),
        recipe: Some(experiment.recipe.name.to_string()),
        workload: Some(workload_name(experiment)),
        world: world.to_string(),
        version,
        seed: Some(experiment.seed),
        running: false,
        stopped: outcome.stopped(),
        checks: judged.checks,
        not_applicable: judged.not_applicable,
        help: Vec::new(),
        operations: judged.operations,
        grants: judged.grants,
        faults: judged.faults,
        exits: judged.exits,
        stalls: stalls(&history),
        phases_ms: outcome.phases_ms.clone(),
    };
    judgement.help = help::of_run(experiment, &judgement);
    about::of_faults(&mut judgement.faults);
    Judged { judgement, history }
}

/// What stood still, as the history tells it.
pub fn stalls(history: &History) -> Stalls {
    let nemesis = history.rows().filter(|row| row.process() == Process::Nemesis);
    let told: Vec<Stall> = nemesis.filter_map(|row| Stall::told_by(&row.to_event())).collect();
    Stalls::new(&told)
}

/// The schedule's faults by kind and target.
fn planned_faults(experiment: &Experiment) -> Vec<PlannedFaults> {
    let mut planned: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
    for fault in &experiment.schedule.faults {
        planned.entry((fault.kind(), fault.target.to_string())).or_default().insert(fault.id);
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

/// What was expected, and whether it came. A check that does not apply says nothing, so it meets no expectation but
/// `any`.
pub fn expectations(
    experiment: &Experiment,
    verdict: Verdict,
    checks: &CheckResults,
) -> BTreeMap<String, Expected> {
    let is_kept =
        |name: &str| Check::named(name).is_some_and(|check| check.on_occasion).then_some(Verdict::Valid);
    let said = |name: &str| match name {
        "verdict" => Some(verdict),
        name => checks.get(name).map(|check| check.verdict).or_else(|| is_kept(name)),
    };
    let expected = experiment.expect.iter().map(|(name, what)| {
        let met = said(name).map_or(*what == Expectation::Any, |said| what.is_met_by(said));
        (name.clone(), Expected { expected: what.name().to_owned(), met })
    });
    expected.collect()
}

/// Whether everything expected came; `None` when nothing was.
pub(super) fn as_expected(expectations: &BTreeMap<String, Expected>) -> Option<bool> {
    (!expectations.is_empty()).then(|| expectations.values().all(|expected| expected.met))
}

fn workload_name(experiment: &Experiment) -> String {
    serde_json::to_value(experiment.workload)
        .ok()
        .and_then(|name| name.as_str().map(str::to_string))
        .unwrap_or_default()
}
