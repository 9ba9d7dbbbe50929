//! The checks against brute force on random small histories. `PROPTEST_CASES` makes them many.

mod brute;
mod damage;
mod fencing;
#[path = "../support/locks/mod.rs"]
mod locks;
#[path = "../../linear/tests/support/random.rs"]
#[expect(dead_code, reason = "only its generator is needed")]
mod random;

use checkers::{CheckContext, LockTable, RecipeTraits, judge};
use history::{History, Reacquire, ReadOptions, jsonl};
use proptest::prelude::*;

/// Whether a check finds what it finds by definition; the position is that in `locks::CHECKS`.
fn agrees(seed: u64, check: usize) -> Result<(), TestCaseError> {
    let history = locks::story::history(seed);
    let drift_ns = seed % 3 * locks::story::TICK;
    let (found, wanted) = (locks::judged(&history, drift_ns), locks::defined(&history, drift_ns));
    prop_assert_eq!(
        found[check],
        wanted[check],
        "{}: {:#?}",
        locks::CHECKS[check],
        locks::results(&history, drift_ns)
    );
    Ok(())
}

proptest! {
    #[test]
    fn exclusion_finds_every_overlap_of_beliefs(seed: u64) {
        agrees(seed, 0)?;
    }

    #[test]
    fn promise_finds_what_no_order_of_instants_keeps(seed: u64) {
        agrees(seed, 1)?;
    }

    #[test]
    fn deadline_finds_every_act_without_or_after_a_lease(seed: u64) {
        agrees(seed, 2)?;
    }

    #[test]
    fn token_finds_every_answer_that_repeats_or_falls(seed: u64) {
        agrees(seed, 3)?;
    }

    #[test]
    fn exclusion_counts_every_hold_that_began_while_another_lasted(seed: u64) {
        let history = locks::story::history(seed);
        let exclusion = &locks::results(&history, 0)["exclusion"];
        let mut overlaps = brute::overlaps(&LockTable::new(&history, Reacquire::Defect));
        prop_assert_eq!(exclusion.count, overlaps.len() as u64);
        let mut found: Vec<_> = exclusion.violations.iter().map(|it| (it.start_ns, it.end_ns)).collect();
        found.sort_unstable();
        overlaps.sort_unstable();
        prop_assert_eq!(found, overlaps);
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
    fn contended_grants_are_those_with_company(seed: u64) {
        let history = locks::story::history(seed);
        let context = CheckContext { reacquire: Some(Reacquire::Defect), ..CheckContext::default() };
        let judged = judge(&history, &context);
        let table = LockTable::new(&history, Reacquire::Defect);
        prop_assert_eq!(judged.grants.total, table.grants.len() as u64);
        prop_assert_eq!(judged.grants.contended, brute::contended(&table));
    }
}

fn count_fencing(history: &History) -> u64 {
    let recipe = Some(RecipeTraits { token: true, ttl: false });
    let judged = judge(history, &CheckContext { recipe, ..CheckContext::default() });
    judged.checks.get("fencing").map_or(0, |fencing| fencing.count)
}

/// Of a client's grants the last 32 are named by what it does next; a renewal that was under way before still counts.
#[test]
fn a_renewal_of_a_grant_of_long_ago_begins_its_hold_anew() {
    let mut text = String::new();
    let mut time = 0;
    let mut event = |process: u64, kind: &str, f: &str, token: u64, more: &str| {
        time += 1_000;
        text += &format!(
            "{{\"time\":{time},\"process\":{process},\"node\":\"c1\",\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{{\"lock\":\"a\",\"token\":{token}{more}}}}}\n"
        );
        time
    };
    event(0, "invoke", "acquire", 0, "");
    event(0, "ok", "acquire", 1, ",\"deadline_ns\":2500");
    event(1, "invoke", "renew", 1, "");
    for token in 2..50 {
        event(0, "invoke", "acquire", 0, "");
        event(0, "ok", "acquire", token, "");
        event(0, "invoke", "release", token, "");
        event(0, "ok", "release", token, "");
    }
    let renewed = event(1, "ok", "renew", 1, ",\"deadline_ns\":9000000");
    let history = jsonl::read(text.as_bytes(), &ReadOptions::default()).unwrap();
    let table = LockTable::new(&history, Reacquire::Defect);
    let holds = table.holds.iter().filter(|hold| hold.grant == 0);
    let spans: Vec<(u64, u64)> = holds.map(|hold| (hold.start.time, hold.until_ns())).collect();
    assert_eq!(spans, [(2_000, 2_500), (renewed, u64::MAX)]);
}
