//! Elections: terms are never given twice, whatever happens to leaders and servers.

mod support;

use support::{alone, run};

fn withstands(recipe: &str, kinds: &[&str], faults: &str) {
    let Some(_alone) = alone() else { return };
    let ran = run(recipe, &format!("--faults {faults} --ttl 2s --time 15s --seed 4"));
    // Two may believe at once after a pause, and the term is what tells them apart.
    ran.must([0, 1].contains(&ran.code), "something certain is said");
    ran.says(ran.code, "token=valid fencing=valid promise=valid liveness=valid");
    ran.must(ran.figure("damage", "fenced_lost").as_u64() == Some(0), "the fenced register lost nothing");
    ran.all_installed(kinds);
}

#[test]
fn on_etcd() {
    withstands("etcd/election-aware", &["kill", "pause"], "kill:leader,pause:holder");
}

#[test]
fn on_zookeeper() {
    withstands("zookeeper/election-aware", &["kill", "pause"], "kill:leader,pause:holder");
}

#[test]
fn on_redis() {
    withstands("redis/election-aware", &["pause"], "pause:holder");
}
