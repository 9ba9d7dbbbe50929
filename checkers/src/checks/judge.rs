use std::{
    any::Any,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
};

use serde::Serialize;

use super::{
    availability::availability,
    contention,
    context::{CheckContext, PlannedFaults, RecipeTraits},
    counts::{Grants, Outcomes},
    damage::damage,
    deadline::deadline,
    exclusion::exclusion,
    fencing::fencing,
    findings::unknown,
    liveness::liveness,
    promise::promise,
    table::{FaultRecord, LockTable},
    token,
};
use crate::{
    history::{History, ResourceEntry},
    verdict::{CheckResult, CheckResults, Verdict},
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
}

impl Judged {
    /// All checks together.
    pub fn verdict(&self) -> Verdict {
        Verdict::all(self.checks.values().map(|result| result.verdict))
    }
}

/// Runs every check on a history in time order. A check that panics says `unknown`.
pub fn judge(history: &History, context: &CheckContext) -> Judged {
    let table = LockTable::new(history);
    let recipe = context.recipe.unwrap_or_else(|| RecipeTraits::told_by(&table));
    let log = (!history.resource.is_empty()).then_some(history.resource.as_slice());
    let case = Case { table, history, log, recipe, drift_ns: context.drift_ns };

    let grants = contention::grants(&case.table);
    let not_applicable = not_applicable(&case.table, recipe);
    let missing = missing_faults(&case.table, &context.planned_faults);
    let mut checks = CheckResults::new();
    for (name, check) in CHECKS {
        if !not_applicable.contains_key(name) {
            let result = guarded(|| check(&case));
            checks.insert(name.to_owned(), temper(name, result, grants, missing.as_deref()));
        }
    }
    let operations = case.table.operations.iter().map(|(f, counts)| (f.clone(), counts.outcomes)).collect();
    Judged { checks, not_applicable, operations, grants, faults: case.table.faults }
}

/// What a check looks at.
struct Case<'h> {
    table: LockTable<'h>,
    history: &'h History,
    log: Option<&'h [ResourceEntry]>,
    recipe: RecipeTraits,
    drift_ns: u64,
}

type Check = fn(&Case<'_>) -> CheckResult;

const CHECKS: [(&str, Check); 8] = [
    ("exclusion", |case| exclusion(&case.table)),
    ("promise", |case| promise(&case.table, case.drift_ns, token::broken(&case.table).count == 0)),
    ("deadline", |case| deadline(&case.table)),
    ("token", |case| token::token(&case.table)),
    ("fencing", |case| fencing(&case.table, case.log)),
    ("damage", |case| damage(&case.table, case.history, case.log, case.recipe.token)),
    ("liveness", |case| liveness(&case.table)),
    ("availability", |case| availability(&case.table)),
];

fn not_applicable(table: &LockTable<'_>, recipe: RecipeTraits) -> BTreeMap<String, String> {
    let writes = table.accesses.iter().any(|access| access.write);
    let deadlines = table.promises.iter().any(|promise| promise.deadline_ns().is_some());
    let mut reasons = BTreeMap::new();
    let mut skip = |name: &str, reason: &str| _ = reasons.insert(name.to_owned(), reason.to_owned());
    if !recipe.ttl {
        skip("promise", "the recipe's grants have no time to live");
    }
    if !recipe.ttl && !deadlines {
        skip("deadline", "the recipe's grants have neither deadline nor time to live");
    }
    if !recipe.token {
        skip("token", "the recipe has no fencing token");
        skip("fencing", "the recipe has no fencing token");
    }
    if !writes {
        ["deadline", "fencing", "damage"].into_iter().for_each(|name| skip(name, "nothing was written"));
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

/// What was planned and of which not one fault took effect: another of the same kind on another target is no stand-in.
fn missing_faults(table: &LockTable<'_>, planned: &[PlannedFaults]) -> Option<String> {
    let installed = |planned: &&PlannedFaults| table.faults.iter().any(|fault| planned.took_effect(fault));
    let missing: Vec<_> =
        planned.iter().filter(|planned| !installed(planned)).map(ToString::to_string).collect();
    (!missing.is_empty())
        .then(|| format!("no planned {} is known to have taken effect", missing.join(", no ")))
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
