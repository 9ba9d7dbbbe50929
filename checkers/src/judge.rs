use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
};

use history::{
    History, Reacquire, ResourceEntry,
    verdict::{CheckResult, CheckResults, Verdict},
};
use serde::Serialize;

use super::{
    availability::availability,
    contention,
    context::{CheckContext, PlannedFaults, RecipeTraits},
    counts::{Grants, Outcomes},
    crash::crash,
    damage::damage,
    deadline::deadline,
    exclusion::exclusion,
    fencing::fencing,
    findings::unknown,
    liveness::liveness,
    promise::promise,
    table::{Exit, FaultRecord, LockTable, Promise},
    token,
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
    let not_applicable = not_applicable(&case.table, recipe);
    let missing = missing_faults(&case.table, &context.planned_faults);
    let ungiven = case.table.ungiven.map(|ungiven| case.table.tell_ungiven(&ungiven));
    let mut checks = CheckResults::new();
    for (name, check) in CHECKS {
        let happened = name != "crash" || !case.table.exits.is_empty();
        if happened && !not_applicable.contains_key(name) {
            let result = guarded(|| check(&case));
            let result = temper(name, result, grants, missing.as_deref());
            checks.insert(name.to_owned(), incomplete(name, result, ungiven.as_deref()));
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
            *result = CheckResult { figures: std::mem::take(&mut result.figures), ..unknown(reason) };
        }
    }
    refreshed
}

/// What a check looks at.
struct Case<'h> {
    table: LockTable<'h>,
    history: &'h History,
    log: Option<&'h [ResourceEntry]>,
    recipe: RecipeTraits,
    drift_ns: u64,
    reacquire: Reacquire,
}

type Check = fn(&Case<'_>) -> CheckResult;

const CHECKS: [(&str, Check); 9] = [
    ("exclusion", |case| exclusion(&case.table)),
    ("promise", |case| {
        let tokens_ordered = token::broken(&case.table).count == 0;
        promise(&case.table, case.drift_ns, tokens_ordered, case.reacquire)
    }),
    ("deadline", |case| deadline(&case.table)),
    ("token", |case| token::token(&case.table)),
    ("fencing", |case| fencing(&case.table, case.log)),
    ("damage", |case| damage(&case.table, case.history, case.log, case.recipe.token)),
    ("liveness", |case| liveness(&case.table)),
    ("crash", |case| crash(&case.table)),
    ("availability", |case| availability(&case.table)),
];

fn not_applicable(table: &LockTable<'_>, recipe: RecipeTraits) -> BTreeMap<String, String> {
    let writes = table.accesses.iter().any(|access| access.write);
    let stated = |promise: &Promise| promise.deadline_ns().is_some();
    let deadlines = table.promises.iter().any(stated);
    let stated_with_ttl = table.promises.iter().any(|promise| stated(promise) && promise.ttl_ns().is_some());
    let mut reasons = BTreeMap::new();
    let mut skip = |name: &str, reason: &str| _ = reasons.insert(name.to_owned(), reason.to_owned());
    if !recipe.ttl {
        skip("promise", "the recipe's grants have no time to live");
    }
    let without = table.accesses.iter().any(|access| access.write && access.is_without());
    if !recipe.ttl && !deadlines && !without {
        skip("deadline", "the recipe's grants have neither deadline nor time to live");
    }
    if !recipe.token {
        skip("token", "the recipe has no fencing token");
        skip("fencing", "the recipe has no fencing token");
    }
    if !writes {
        ["fencing", "damage"].into_iter().for_each(|name| skip(name, "nothing was written"));
    }
    if !writes && !stated_with_ttl {
        skip("deadline", "nothing was written");
    }
    if table.phases.is_empty() {
        skip("liveness", "the history has no phases: it does not tell when the last fault was healed");
    }
    reasons
}

fn guarded(check: impl FnOnce() -> CheckResult) -> CheckResult {
    catch_unwind(AssertUnwindSafe(check))
        .unwrap_or_else(|panic| unknown(format!("the check itself failed: {}", message(&*panic))))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked")
}

/// A run in which nothing was at stake proves nothing: its `valid` becomes `unknown`. Liveness needs no contention.
fn temper(name: &str, result: CheckResult, grants: Grants, missing: Option<&str>) -> CheckResult {
    let vacuous = match name {
        "availability" => None,
        _ if grants.total == 0 => Some("nothing was ever granted"),
        _ if grants.contended == 0 && name != "liveness" => {
            Some("no grant was contended: nobody else held or wanted the lock meanwhile")
        }
        _ => missing,
    };
    match vacuous {
        Some(reason) if result.verdict == Verdict::Valid => {
            CheckResult { verdict: Verdict::Unknown, reason: Some(reason.to_owned()), ..result }
        }
        _ => result,
    }
}

/// A history that does not tell of every grant shows no promise to be kept that depends on them.
fn incomplete(name: &str, result: CheckResult, ungiven: Option<&str>) -> CheckResult {
    let of_grants = ["exclusion", "promise", "deadline", "token", "fencing"].contains(&name);
    match ungiven.filter(|_| of_grants && result.verdict == Verdict::Valid) {
        Some(reason) => CheckResult { figures: result.figures, ..unknown(reason) },
        None => result,
    }
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
