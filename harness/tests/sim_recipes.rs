//! Every recipe in the simulated world: a seed is a run, sound recipes hold, broken ones are caught.

use std::rc::Rc;

use checkers::verdict::Verdict;
use harness::{
    experiment::{Experiment, Flags, On},
    sim::{
        run::{Tried, try_out},
        shrink::shrink,
    },
};

fn experiment(recipe: &str, faults: &str, time: &str, seed: u64) -> Rc<Experiment> {
    let flags = Flags {
        on: Some(On::Sim),
        faults: Some(faults.into()),
        time: Some(time.into()),
        seed: Some(seed),
        clients: Some(3),
        ..Flags::default()
    };
    Rc::new(Experiment::resolve(recipe, &flags).unwrap_or_else(|error| panic!("{recipe}: {error}")))
}

fn run(recipe: &str, faults: &str, time: &str, seed: u64) -> Tried {
    try_out(&experiment(recipe, faults, time, seed)).unwrap_or_else(|error| panic!("{recipe}: {error}"))
}

fn history(tried: &Tried) -> Vec<u8> {
    let mut bytes = Vec::new();
    checkers::history::jsonl::write(&mut bytes, tried.judged.history.events()).unwrap();
    bytes
}

fn verdict(tried: &Tried, check: &str) -> Verdict {
    tried.judged.judgement.checks.get(check).map_or(Verdict::Unknown, |result| result.verdict)
}

#[test]
fn every_recipe_repeats_byte_for_byte() {
    for recipe in workloads::recipes::all() {
        for seed in [1, 2] {
            let once = run(recipe.name, "pause:any,partition:any", "6s", seed);
            let again = run(recipe.name, "pause:any,partition:any", "6s", seed);
            assert_eq!(once.trace, again.trace, "{} seed {seed}", recipe.name);
            assert_eq!(history(&once), history(&again), "{} seed {seed}", recipe.name);
            assert!(
                once.judged.judgement.grants.total > 0,
                "{} seed {seed}: nothing was granted",
                recipe.name
            );
        }
    }
}

#[test]
fn sound_recipes_hold_without_faults() {
    for recipe in workloads::recipes::all().filter(|recipe| recipe.broken.is_none()) {
        let tried = run(recipe.name, "none", "8s", 3);
        let judgement = &tried.judged.judgement;
        assert_eq!(judgement.verdict, Verdict::Valid, "{}: {:#?}", recipe.name, judgement.checks);
        assert!(judgement.grants.contended > 0, "{}", recipe.name);
    }
}

/// Runs seeds until the check is violated; the number of seeds it took.
fn caught(recipe: &str, faults: &str, check: &str) -> Option<u64> {
    (1..=200).find(|seed| verdict(&run(recipe, faults, "10s", *seed), check) == Verdict::Invalid)
}

#[test]
fn a_paused_holder_breaks_exclusion_and_a_fence_saves_the_resource() {
    assert!(caught("redis/set-nx", "pause:holder", "exclusion").is_some());
    assert!(caught("redis/redlock", "clock:any,pause:client", "exclusion").is_some());
    assert!(caught("zookeeper/lock", "pause:holder", "exclusion").is_some());
    for seed in 1..=5 {
        let fenced = run("etcd/lease-lock", "pause:holder", "10s", seed);
        for check in ["promise", "token", "fencing", "liveness"] {
            assert_ne!(verdict(&fenced, check), Verdict::Invalid, "{check}, seed {seed}");
        }
    }
}

#[test]
fn a_forward_clock_frees_a_redis_lock() {
    assert!(caught("redis/set-nx", "clock:server", "promise").is_some());
}

#[test]
fn broken_recipes_are_caught() {
    let cases = [
        ("redis/release-without-compare", "pause:holder", "exclusion"),
        ("redis/client-counter-token", "pause:holder", "token"),
        ("etcd/put-without-compare", "none", "exclusion"),
        ("etcd/lease-id-token", "none", "token"),
        ("zookeeper/version-token", "none", "token"),
    ];
    let missed: Vec<_> =
        cases.iter().filter(|(recipe, faults, check)| caught(recipe, faults, check).is_none()).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn a_lost_wake_up_leaves_waiters_stuck() {
    let stuck = |recipe: &str, seeds: u64| {
        (1..=seeds).find(|seed| {
            let mut experiment = Experiment::clone(&experiment(recipe, "none", "10s", *seed));
            // Patient clients: one that gives up would free those behind it.
            experiment.rates.wait_percent = (2000, 2000);
            experiment.rates.stop_limit_ms = 3000;
            // Of two, each waits for the holder itself, whose node goes while it is being looked for.
            experiment.clients = 2;
            let tried = try_out(&Rc::new(experiment)).unwrap();
            verdict(&tried, "liveness") == Verdict::Invalid
        })
    };
    assert!(stuck("zookeeper/watch-after-read", 200).is_some());
    assert_eq!(stuck("zookeeper/lock", 20), None);
}

#[test]
fn a_violation_shrinks_and_the_smallest_run_repeats() {
    let found = caught("redis/set-nx", "pause:holder,clock:client", "exclusion").unwrap();
    let start = experiment("redis/set-nx", "pause:holder,clock:client", "10s", found);
    let smallest = shrink(&start, "exclusion", 300, |_| {}).unwrap().expect("it fails");
    assert_eq!(smallest.size.faults, 1, "{:?}", smallest.size);
    assert!(smallest.size.operations <= 12 && smallest.size.clients == 2, "{:?}", smallest.size);
    let again = try_out(&Rc::new(smallest.experiment)).unwrap();
    assert_eq!(verdict(&again, "exclusion"), Verdict::Invalid);
}
