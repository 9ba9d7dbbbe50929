//! The checks against brute force on random small histories. `PROPTEST_CASES` makes them many.

mod brute;
mod damage;
mod fencing;
mod program;

use checkers::{
    checks::{CheckContext, LockTable, RecipeTraits, judge},
    history::History,
};
use proptest::prelude::*;

proptest! {
    #[test]
    fn exclusion_counts_every_hold_that_began_while_another_lasted(programs in program::programs()) {
        let (history, grants) = program::run(&programs);
        let judged = judge(&history, &CheckContext::default());
        let mut overlaps = brute::overlaps(&grants);
        let exclusion = &judged.checks["exclusion"];
        prop_assert_eq!(exclusion.count, overlaps.len() as u64);
        let mut found: Vec<_> = exclusion.violations.iter().map(|it| (it.start_ns, it.end_ns)).collect();
        found.sort_unstable();
        overlaps.sort_unstable();
        prop_assert_eq!(found, overlaps);
    }

    #[test]
    fn promise_counts_every_grant_that_came_too_early(programs in program::programs(), drift in 0_u64..3) {
        let (history, grants) = program::run(&programs);
        let drift_ns = drift * program::TICK;
        let judged = judge(&history, &CheckContext { drift_ns, ..CheckContext::default() });
        let mut early = brute::early_grants(&grants, drift_ns);
        let Some(promise) = judged.checks.get("promise") else {
            prop_assert!(early.is_empty());
            return Ok(());
        };
        let mut found: Vec<_> = promise.violations.iter().map(|it| (it.start_ns, it.end_ns)).collect();
        found.sort_unstable();
        early.sort_unstable();
        prop_assert_eq!(found, early);
    }

    #[test]
    fn token_counts_every_grant_that_repeats_or_falls(programs in program::programs()) {
        let (history, grants) = program::run(&programs);
        let judged = judge(&history, &CheckContext::default());
        let count = judged.checks.get("token").map_or(0, |token| token.count);
        prop_assert_eq!(count, brute::broken_tokens(&grants).len() as u64);
    }

    #[test]
    fn damage_counts_what_a_register_lost(steps in damage::steps()) {
        let simulated = damage::simulate(&steps);
        let recipe = Some(RecipeTraits { token: true, ttl: false });
        let judged = judge(&simulated.history, &CheckContext { recipe, ..CheckContext::default() });
        let Some(damage) = judged.checks.get("damage") else {
            prop_assert_eq!(simulated.lost, [0, 0]);
            return Ok(());
        };
        prop_assert_eq!(&damage.figures["unfenced_lost"], simulated.lost[0]);
        prop_assert_eq!(damage.figures["fenced_lost"].as_u64().unwrap_or(0), simulated.lost[1]);
        prop_assert_eq!(damage.count, simulated.lost[0] + simulated.lost[1]);
    }

    #[test]
    fn damage_told_without_a_log_is_true(steps in damage::steps()) {
        let mut simulated = damage::simulate(&steps);
        simulated.history.resource.clear();
        let recipe = Some(RecipeTraits { token: true, ttl: false });
        let judged = judge(&simulated.history, &CheckContext { recipe, ..CheckContext::default() });
        let Some(damage) = judged.checks.get("damage") else { return Ok(()) };
        for (name, lost) in ["unfenced_lost", "fenced_lost"].iter().zip(simulated.lost) {
            let Some(told) = damage.figures[*name].as_u64() else { continue };
            prop_assert!(told <= lost && (told > 0 || lost == 0 || !simulated.all_known), "{told} of {lost}");
        }
        if simulated.all_known {
            prop_assert_eq!(damage.count > 0, simulated.lost != [0, 0]);
            prop_assert!(damage.reason.as_ref().is_none_or(|reason| !reason.contains("nobody knows")));
        }
    }

    #[test]
    fn fencing_finds_what_intervals_prove(requests in fencing::requests()) {
        let history = fencing::history(&requests);
        prop_assert_eq!(count_fencing(&history), fencing::breaches(&requests, fencing::breaches_by_intervals));
    }

    #[test]
    fn fencing_finds_what_the_log_proves(requests in fencing::requests()) {
        let mut history = fencing::history(&requests);
        history.resource = fencing::log(&requests);
        prop_assert_eq!(count_fencing(&history), fencing::breaches(&requests, fencing::breaches_by_log));
    }

    #[test]
    fn contended_grants_are_those_with_company(programs in program::programs()) {
        let (history, _) = program::run(&programs);
        let judged = judge(&history, &CheckContext::default());
        let table = LockTable::new(&history);
        prop_assert_eq!(judged.grants.total, table.holds.len() as u64);
        prop_assert_eq!(judged.grants.contended, brute::contended(&table));
    }
}

fn count_fencing(history: &History) -> u64 {
    let recipe = Some(RecipeTraits { token: true, ttl: false });
    let judged = judge(history, &CheckContext { recipe, ..CheckContext::default() });
    judged.checks.get("fencing").map_or(0, |fencing| fencing.count)
}
