//! Locks of real etcd and ZooKeeper, which a majority of the servers decides on.

mod support;

use support::{alone, run};

#[test]
fn etcds_lock_survives_what_happens_to_servers() {
    survives_what_happens_to_servers("etcd/lease-lock-aware");
}

#[test]
fn zookeepers_lock_survives_what_happens_to_servers() {
    survives_what_happens_to_servers("zookeeper/lock-aware");
}

#[test]
fn a_paused_holder_of_etcds_lock_is_overtaken_and_fencing_saves_the_resource() {
    is_overtaken_when_paused("etcd/lease-lock");
}

#[test]
fn a_paused_holder_of_zookeepers_lock_is_overtaken_and_fencing_saves_the_resource() {
    is_overtaken_when_paused("zookeeper/lock");
}

fn survives_what_happens_to_servers(recipe: &str) {
    let Some(_alone) = alone() else { return };
    let ran = run(recipe, "--faults partition:leader,kill:leader,clock:all --ttl 2s --time 15s --seed 2");
    ran.says(0, "exclusion=valid promise=valid fencing=valid token=valid liveness=valid");
    ran.all_installed(&["partition", "kill", "clock"]);
}

#[test]
fn a_paused_holder_that_looks_at_its_clock_does_nothing_late() {
    for recipe in ["etcd/lease-lock-aware", "zookeeper/lock-aware"] {
        let Some(_alone) = alone() else { return };
        let ran = run(recipe, "--faults pause:holder --ttl 1s --time 15s --seed 1");
        ran.says(0, "exclusion=valid deadline=valid damage=valid fencing=valid promise=valid liveness=valid");
        ran.all_installed(&["pause"]);
    }
}

fn is_overtaken_when_paused(recipe: &str) {
    let Some(_alone) = alone() else { return };
    let ran = run(recipe, "--faults pause:holder --ttl 1s --time 15s --seed 1");
    ran.says(1, "exclusion=invalid deadline=invalid damage=invalid fencing=valid token=valid promise=valid");
    ran.must(ran.figure("damage", "fenced_lost").as_u64() == Some(0), "the fenced register lost nothing");
    ran.all_installed(&["pause"]);
}
