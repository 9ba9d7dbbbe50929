use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
};

use history::{
    History, Reacquire,
    judgement::{Exit, FaultRecord, Grants, Outcomes},
    verdict::{CheckResult, CheckResults, Verdict},
};
use serde::Serialize;

use super::{
    check::{Case, Stake},
    checks::CHECKS,
    contention,
    context::{CheckContext, PlannedFaults, RecipeTraits},
    findings::unknown,
    table::LockTable,
};

/// All that the checks say about one run.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The answer of each check that applies, by name.
    pub checks: CheckResults,
    /// Checks that do not apply, with the reason.
    pub not_applicable: BTreeMap<String, String>,
    /// How often each operation ended how.
    pub operations: BTreeMap<String, Outcomes>,
    /// Grants, and how many were contended.
    pub grants: Grants,
    /// Every fault, in order of start.
    pub faults: Vec<FaultRecord>,
    /// Every server that ended by itself, in order of time.
    pub exits: Vec<Exit>,
}

impl Judged {
    /// All checks together.
    pub fn verdict(&self) -> Verdict {
        Verdict::all(self.checks.values().map(|result| result.verdict))
    }
}

/// Runs every check on a history in time order. A check that panics says `unknown`.
///
/// Where a client was granted a lock which it still held, and the context does not say what that means, the history is
/// judged with each meaning: what all agree on stands, anything else is `unknown`.
pub fn judge(history: &History, context: &CheckContext) -> Judged {
    if let Some(meaning) = context.reacquire {
        return judge_as(history, context, meaning).0;
    }
    let (judged, again) = judge_as(history, context, Reacquire::Defect);
    let Some(again) = again else { return judged };
    let [refreshed, nested] =
        [Reacquire::Refresh, Reacquire::Nested].map(|meaning| judge_as(history, context, meaning).0);
    agreed(refreshed, &nested, &judged, &again)
}

/// Also tells the first grant to a client that still held the lock.
fn judge_as(history: &History, context: &CheckContext, meaning: Reacquire) -> (Judged, Option<String>) {
    let table = LockTable::new(history, meaning);
    let recipe = context.recipe.unwrap_or_else(|| RecipeTraits::told_by(&table));
    let log = (!history.resource.is_empty()).then_some(history.resource.as_slice());
    let again = table.reacquired.map(|again| table.again(&again));
    let case = Case { table, history, log, recipe, drift_ns: context.drift_ns, reacquire: meaning };

    let grants = contention::grants(&case.table);
    let missing = missing_faults(&case.table, &context.planned_faults);
    let ungiven = case.table.ungiven.map(|ungiven| case.table.tell_ungiven(&ungiven));
    let mut checks = CheckResults::new();
    let mut not_applicable = BTreeMap::new();
    for check in CHECKS {
        match (check.not_applicable)(&case) {
            Some(_) if check.on_occasion => {}
            Some(why) => _ = not_applicable.insert(check.name.to_owned(), why.to_owned()),
            None => {
                let result = CheckResult { about: check.told(), ..guarded(|| (check.run)(&case)) };
                let result = unless_nothing_at_stake(check.stake, result, grants, missing.as_deref());
                let ungiven = ungiven.as_deref().filter(|_| check.needs_every_grant);
                checks.insert(check.name.to_owned(), unless_grants_missing(result, ungiven));
            }
        }
    }
    let operations = case.table.operations.iter().map(|(f, counts)| (f.clone(), counts.outcomes)).collect();
    let LockTable { faults, exits, .. } = case.table;
    (Judged { checks, not_applicable, operations, grants, faults, exits }, again)
}

/// What is said whatever it means that a client was granted a lock again.
fn agreed(mut refreshed: Judged, nested: &Judged, defect: &Judged, again: &str) -> Judged {
    for (name, result) in &mut refreshed.checks {
        let of = |judged: &Judged| judged.checks.get(name).map(|result| result.verdict);
        let (Some(nested), Some(defect)) = (of(nested), of(defect)) else { continue };
        if nested != result.verdict || defect != result.verdict {
            let reason = format!(
                "{again}; that makes this check {} if it refreshed the grant, {} if the lock is reentrant, {} if it is a \
                 defect of the lock, and the history does not tell which (--reacquire refresh, nested or defect says it)",
                result.verdict, nested, defect
            );
            *result = doubted(result.clone(), &reason);
        }
    }
    refreshed
}

fn guarded(check: impl FnOnce() -> CheckResult) -> CheckResult {
    catch_unwind(AssertUnwindSafe(check))
        .unwrap_or_else(|panic| unknown(format!("the check itself failed: {}", message(&*panic))))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked")
}

/// A run in which nothing was at stake proves nothing: its `valid` becomes `unknown`.
fn unless_nothing_at_stake(
    stake: Stake,
    result: CheckResult,
    grants: Grants,
    missing: Option<&str>,
) -> CheckResult {
    let vacuous = match stake {
        Stake::None => None,
        _ if grants.total == 0 => Some("nothing was ever granted"),
        Stake::Contention if grants.contended == 0 => {
            Some("no grant was contended: nobody else held or wanted the lock meanwhile")
        }
        Stake::Grant | Stake::Contention => missing,
    };
    match vacuous.filter(|_| result.verdict == Verdict::Valid) {
        Some(reason) => doubted(result, reason),
        None => result,
    }
}

/// A history that does not tell of every grant shows no promise to be kept that depends on them.
fn unless_grants_missing(result: CheckResult, ungiven: Option<&str>) -> CheckResult {
    match ungiven.filter(|_| result.verdict == Verdict::Valid) {
        Some(reason) => doubted(result, reason),
        None => result,
    }
}

/// The check with its figures, and with nothing certain to say.
fn doubted(result: CheckResult, reason: &str) -> CheckResult {
    CheckResult { figures: result.figures, about: result.about, ..unknown(reason) }
}

/// What was planned and of which not one fault took effect: another of the same kind on another target is no stand-in.
fn missing_faults(table: &LockTable<'_>, planned: &[PlannedFaults]) -> Option<String> {
    let installed = |planned: &&PlannedFaults| table.faults.iter().any(|fault| planned.took_effect(fault));
    // Without a plan the history tells what was tried.
    let tried: BTreeSet<&String> = table.faults.iter().map(|fault| &fault.kind).collect();
    let tried: Vec<PlannedFaults> =
        tried.into_iter().map(|kind| PlannedFaults { kind: kind.clone(), aim: None }).collect();
    let (word, planned) = if planned.is_empty() { ("", tried.as_slice()) } else { ("planned ", planned) };
    let missing: Vec<_> =
        planned.iter().filter(|planned| !installed(planned)).map(ToString::to_string).collect();
    (!missing.is_empty()).then(|| format!("no {word}{} is known to have taken effect", missing.join(", no ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_panics_says_unknown() {
        let result = guarded(|| panic!("no row {}", 7));
        assert_eq!(result.verdict, Verdict::Unknown);
        assert_eq!(result.reason.as_deref(), Some("the check itself failed: no row 7"));
    }
}
