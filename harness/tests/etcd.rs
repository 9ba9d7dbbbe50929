//! Real etcd.

mod support;

use support::{alone, docker, run};

#[test]
fn the_lock_survives_what_happens_to_servers() {
    if !docker() {
        return;
    }
    let _alone = alone();
    let ran = run("etcd/lease-lock", "--faults partition:leader,kill:leader,clock:all --ttl 2s --time 15s --seed 2");
    ran.says(0, "exclusion=valid promise=valid fencing=valid token=valid liveness=valid");
    ran.all_installed(&["partition", "kill", "clock"]);
}

#[test]
fn a_paused_holder_is_overtaken_and_fencing_saves_the_resource() {
    if !docker() {
        return;
    }
    let _alone = alone();
    let ran = run("etcd/lease-lock", "--faults pause:holder --ttl 1s --time 15s --seed 1");
    ran.says(1, "exclusion=invalid fencing=valid token=valid promise=valid");
    ran.must(ran.figure("damage", "fenced_lost").as_u64() == Some(0), "the fenced register lost nothing");
    ran.all_installed(&["pause"]);
}
