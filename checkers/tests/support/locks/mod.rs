//! Random histories of locks, and what the checks must say of them by definition.

pub mod beliefs;
pub mod promises;
pub mod story;
pub mod told;

use checkers::{CheckContext, RecipeTraits, judge};
use history::{
    History, Reacquire,
    verdict::{CheckResults, Verdict},
};

/// The checks that are compared, in this order.
pub const CHECKS: [&str; 4] = ["exclusion", "promise", "deadline", "token"];

/// Whether each check finds the history broken.
pub fn judged(history: &History, drift_ns: u64) -> [bool; 4] {
    let checks = results(history, drift_ns);
    CHECKS.map(|name| checks.get(name).is_some_and(|check| check.verdict == Verdict::Invalid))
}

/// What the checks say.
pub fn results(history: &History, drift_ns: u64) -> CheckResults {
    let context = CheckContext {
        recipe: Some(RecipeTraits { token: true, ttl: true }),
        reacquire: Some(Reacquire::Defect),
        drift_ns,
        ..CheckContext::default()
    };
    judge(history, &context).checks
}

/// The same by definition.
pub fn defined(history: &History, drift_ns: u64) -> [bool; 4] {
    let told = told::Told::of(history);
    [
        beliefs::overlap(&told),
        promises::none_keeps_all(&told, drift_ns),
        beliefs::acted_wrongly(&told),
        promises::tokens_broken(&told),
    ]
}
