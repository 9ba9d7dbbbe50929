//! Real Redis: what must be found is found, what is sound is valid.

mod support;

use std::time::{Duration, Instant, SystemTime};

use support::{alone, run, run_file};

#[test]
fn a_paused_holder_breaks_exclusion_and_damages_what_is_not_fenced() {
    let Some(_alone) = alone() else { return };
    let ran = run("redis/set-nx", "--faults pause:holder --ttl 1s --time 12s --seed 1");
    ran.says(1, "exclusion=invalid damage=invalid promise=valid");
    ran.must(ran.figure("damage", "unfenced_lost").as_u64() > Some(0), "updates are lost");
    ran.all_installed(&["pause"]);
    for file in [
        "experiment.toml",
        "run.json",
        "history.jsonl",
        "resource.jsonl",
        "verdict.json",
        "report.html",
        "plots",
        "nodes/s1/process.log",
    ] {
        ran.must(ran.folder().join(file).exists(), &format!("{file} is kept"));
    }
}

#[test]
fn a_holder_that_stutters_breaks_exclusion_and_none_that_looks_at_its_clock() {
    let Some(_alone) = alone() else { return };
    let args = "--faults stutter:holder --ttl 1s --time 12s";
    // What a stop meets on a real server is chance: of five runs one shows it.
    let mut runs = (1..=5).map(|seed| run("redis/set-nx-lease", &format!("{args} --seed {seed}")));
    let ran = runs.find(|ran| ran.check("exclusion") == "invalid").expect("one run in five breaks it");
    ran.says(1, "exclusion=invalid deadline=invalid promise=valid");
    ran.all_installed(&["stutter"]);
    run("redis/set-nx-lease-aware", args).says(0, "exclusion=valid deadline=valid");
}

#[test]
fn fencing_saves_the_resource() {
    let Some(_alone) = alone() else { return };
    let ran = run("redis/set-nx-fenced", "--faults pause:holder --ttl 1s --time 12s --seed 1");
    ran.says(1, "exclusion=invalid fencing=valid token=valid");
    ran.must(ran.figure("damage", "fenced_lost").as_u64() == Some(0), "the fenced register lost nothing");
    ran.all_installed(&["pause"]);
}

/// Long holds, and four jumps past the TTL, so that some jump surely meets a hold.
fn jumps(recipe: &str, target: &str) -> String {
    let jump = |second: u64| {
        format!(
            "[[schedule]]\nkind = \"clock\"\ntarget = \"{target}\"\nat_ms = {second}000\nlasts_ms = 1000\nparams = {{ by_ms = 60000 }}\n"
        )
    };
    let jumps: String = [1, 3, 5, 7].into_iter().map(jump).collect();
    format!(
        "recipe = \"{recipe}\"\nttl = \"2s\"\ntime = \"9s\"\nseed = 3\n[rates]\nhold_percent = [25, 40]\nwait_percent = [100, 200]\nthink_ms = [5, 20]\n{jumps}"
    )
}

#[test]
fn a_clock_that_jumps_breaks_the_services_promise_and_leaves_the_hosts_alone() {
    let Some(_alone) = alone() else { return };
    let (wall, monotonic) = (SystemTime::now(), Instant::now());
    let ran = run_file(&jumps("redis/set-nx", "server"));
    let gone = wall.elapsed().expect("the host's clock went forward");
    assert!(
        gone.abs_diff(monotonic.elapsed()) < Duration::from_millis(500),
        "the host's clock was touched: {gone:?}"
    );
    ran.says(1, "promise=invalid exclusion=invalid");
    ran.must(ran.figure("promise", "blame") == "service", "the service is to blame");
    ran.all_installed(&["clock"]);
}

#[test]
fn a_paused_holder_breaks_redlock_as_it_is_used_and_not_one_that_looks_at_its_clock() {
    let Some(_alone) = alone() else { return };
    let args = "--faults pause:holder --ttl 1s --time 15s --seed 1";
    let used = run("redis/redlock", args);
    used.says(1, "exclusion=invalid deadline=invalid damage=invalid promise=valid");
    let looked = run("redis/redlock-aware", args);
    looked.says(0, "exclusion=valid deadline=valid damage=valid promise=valid liveness=valid");
    [used, looked].iter().for_each(|ran| ran.all_installed(&["pause"]));
}

#[test]
fn clocks_of_a_majority_break_redlock() {
    let Some(_alone) = alone() else { return };
    let ran = run_file(&jumps("redis/redlock", "majority"));
    ran.says(1, "promise=invalid exclusion=invalid");
    ran.must(ran.figure("promise", "blame") == "service", "the service is to blame");
    ran.all_installed(&["clock"]);
}

#[test]
fn restarts_in_turn_break_redlock() {
    let Some(_alone) = alone() else { return };
    let ran = run("redis/redlock-lease", "--faults kill:rolling --ttl 2s --time 12s --seed 1");
    ran.says(1, "promise=invalid");
    ran.must(ran.figure("promise", "blame") == "service", "the service is to blame");
    ran.all_installed(&["kill"]);
}

/// Faults one by one: kind, target, start and length in milliseconds.
fn scheduled(faults: &[(&str, &str, u64, u64)]) -> String {
    let fault = |(kind, target, at_ms, lasts_ms): &(&str, &str, u64, u64)| {
        format!(
            "[[schedule]]\nkind = \"{kind}\"\ntarget = \"{target}\"\nat_ms = {at_ms}\nlasts_ms = {lasts_ms}\n"
        )
    };
    let faults: String = faults.iter().map(fault).collect();
    format!("recipe = \"redis/set-nx\"\nttl = \"1s\"\ntime = \"6s\"\nseed = 1\n{faults}")
}

#[test]
fn a_server_that_dies_while_it_stands_still_is_back_after_both_faults() {
    let Some(_alone) = alone() else { return };
    let ran = run_file(&scheduled(&[("pause", "s1", 1000, 1500), ("kill", "s1", 1500, 2500)]));
    let after = &ran.verdict["faults"][0]["evidence"]["s1"]["after"];
    ran.must(after["state"] == "gone", "nothing stood still any more");
    ran.all_installed(&["pause", "kill"]);
    ran.must(ran.verdict["checks"]["liveness"]["verdict"] == "valid", "the server is back");
}

#[test]
fn of_two_pauses_at_once_the_later_end_counts() {
    let Some(_alone) = alone() else { return };
    let ran = run_file(&scheduled(&[("pause", "c1", 1000, 1500), ("pause", "c1", 2000, 2000)]));
    let after = |fault: usize| &ran.verdict["faults"][fault]["evidence"]["c1"]["after"];
    ran.must(after(0)["left_to"] == serde_json::json!([2]), "it stands still on");
    ran.must(after(1)["state"] != "T", "it goes on");
    ran.all_installed(&["pause"]);
}
