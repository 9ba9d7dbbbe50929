//! Real Redis with replicas and sentinels.

mod support;

use support::{alone, run};

#[test]
fn without_faults_the_lock_on_the_primary_holds() {
    let Some(_alone) = alone() else { return };
    let ran = run("redis/sentinel", "--faults none --ttl 1s --time 6s --seed 1 --set wait_replicas=2");
    ran.says(0, "exclusion=valid promise=valid token=valid liveness=valid");
}

/// Longer than it takes the sentinels to agree: a replica takes over, and the killed one comes back as another's.
#[test]
fn a_killed_primary_is_failed_over_and_its_both_programs_come_back() {
    let Some(_alone) = alone() else { return };
    let ran = run("redis/sentinel", "--faults kill:leader --ttl 2s --time 20s --seed 1 --expect any");
    ran.all_installed(&["kill"]);
    let targets: std::collections::BTreeSet<String> =
        ran.faults().iter().map(|fault| fault["targets"][0].to_string()).collect();
    ran.must(targets.len() > 1, "the leader is another one after a failover");
    ran.must(ran.check("liveness") == "valid", "the lock is usable again");
}

/// Both programs of the node: their clocks, and that they stand still.
#[test]
fn a_fault_on_a_server_hits_its_sentinel_too() {
    let Some(_alone) = alone() else { return };
    let ran =
        run("redis/sentinel", "--faults pause:server,clock:server --ttl 1s --time 8s --seed 2 --expect any");
    ran.all_installed(&["pause", "clock"]);
    for fault in ran.faults() {
        let node = fault["targets"][0].as_str().expect("a target");
        let pids = fault["evidence"][node]["pids"].as_array().map_or(0, Vec::len);
        ran.must(pids == 2, &format!("fault {} names both processes", fault["id"]));
    }
}
