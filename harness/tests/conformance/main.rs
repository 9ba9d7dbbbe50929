//! The same calls on a model and on the real server must get the same answers and kinds of errors: random ones on
//! servers that are well, and scripts in which time passes and servers are killed and paused.
//!
//! Needs a Docker engine and the project's server images; says loudly when they are not there,
//! and fails then if `FENCEPOST_REQUIRE_DOCKER=1`.
//!
//! Known differences, each outside of what is compared:
//! - Session and lease numbers, zxids and their steps, and how long a call or a start takes.
//! - etcd can compact its past, and a watch from before then is refused. No recipe and no configuration of ours compacts,
//!   and the model keeps all of its past.
//! - ZooKeeper's servers notice a dead leader by its broken connections, the model's after the sync limit: the scripts wait
//!   for the longer.
//! - A call at the very moment in which a server dies may be refused unsent or be lost: the scripts leave a moment between.

mod faults;
mod model;
mod place;
mod real;
mod scripts;

use std::time::Duration;

use place::{LIMIT, Scene};
use simulation::redis::Persistence;
use workloads::api::zookeeper::Open;

const SEEDS: std::ops::Range<u64> = 0..8;
const SYNC: Duration = Duration::from_micros(500);

/// Fails with every step that differs, and all that came before the first.
fn assert_same(what: &str, model: &[String], real: &[String]) {
    let missing = String::from("nothing");
    let step = |log: &[String], number: usize| log.get(number).unwrap_or(&missing).clone();
    let steps = (0..model.len().max(real.len())).map(|number| (step(model, number), step(real, number)));
    let told = steps.enumerate().map(|(number, (model, real))| match model == real {
        true => format!("   {number:3}  {model}"),
        false => format!("!! {number:3}  model: {model}\n        server: {real}"),
    });
    assert!(model == real, "{what}:\n{}", told.collect::<Vec<_>>().join("\n"));
}

async fn redis_calls(scene: Scene, seed: u64) -> Vec<String> {
    scripts::redis(&scene.env(), &*scene.redis(LIMIT).await.expect("a connection"), seed).await
}

async fn etcd_calls(scene: Scene, seed: u64) -> Vec<String> {
    scripts::etcd(&scene.env(), &*scene.etcd(0, LIMIT).await.expect("a connection"), seed).await
}

async fn zookeeper_calls(scene: Scene, seed: u64) -> Vec<String> {
    let open = Open::New { timeout: Duration::from_secs(4) };
    scripts::zookeeper(&scene.env(), &*scene.zookeeper(0, open).await.expect("a session"), seed).await
}

#[test]
fn redis_answers_as_the_server() {
    let Some(server) = real::redis(Persistence::None) else { return };
    for seed in SEEDS {
        let script = move |scene| redis_calls(scene, seed);
        assert_same(
            &format!("redis, seed {seed}"),
            &model::redis(Persistence::None, script),
            &server.run(script),
        );
    }
}

#[test]
fn etcd_answers_as_the_server() {
    for seed in SEEDS.take(4) {
        // Revisions are compared, so each script gets a fresh server.
        let Some(server) = real::etcd("3.5.16", 1) else { return };
        let script = move |scene| etcd_calls(scene, seed);
        assert_same(&format!("etcd, seed {seed}"), &model::etcd(1, script), &server.run(script));
    }
}

#[test]
fn zookeeper_answers_as_the_server() {
    let Some(server) = real::zookeeper(1) else { return };
    for seed in SEEDS {
        let script = move |scene| zookeeper_calls(scene, seed);
        assert_same(&format!("zookeeper, seed {seed}"), &model::zookeeper(1, script), &server.run(script));
    }
}

#[test]
fn redis_expires_dies_and_stands_still_as_the_server() {
    for persistence in [Persistence::None, Persistence::EverySecond, Persistence::Always(SYNC)] {
        let Some(server) = real::redis(persistence) else { return };
        let what = format!("redis killed, {persistence:?}");
        assert_same(&what, &model::redis(persistence, faults::redis::kill), &server.run(faults::redis::kill));
    }
    let Some(server) = real::redis(Persistence::None) else { return };
    let of_model = model::redis(Persistence::None, faults::redis::expiry);
    assert_same("redis expires", &of_model, &server.run(faults::redis::expiry));
    let of_model = model::redis(Persistence::None, faults::redis::pause);
    assert_same("redis paused", &of_model, &server.run(faults::redis::pause));
}

#[test]
fn a_redis_replica_answers_and_is_promoted_as_the_server() {
    let Some(servers) = real::replicated() else { return };
    let of_model = model::replicated(faults::replication::promotion);
    assert_same("replication", &of_model, &servers.run(faults::replication::promotion));
}

#[test]
fn etcd_ends_leases_watches_and_dies_as_the_server() {
    let Some(server) = real::etcd("3.5.16", 1) else { return };
    assert_same("etcd's leases", &model::etcd(1, faults::etcd::leases), &server.run(faults::etcd::leases));
    let Some(server) = real::etcd("3.5.16", 1) else { return };
    assert_same("etcd's watches", &model::etcd(1, faults::etcd::watches), &server.run(faults::etcd::watches));
    let Some(server) = real::etcd("3.5.16", 1) else { return };
    assert_same("one etcd", &model::etcd(1, faults::etcd::alone), &server.run(faults::etcd::alone));
}

#[test]
fn three_etcds_lose_their_leader_as_the_servers() {
    let Some(servers) = real::etcd("3.5.16", 3) else { return };
    let of_model = model::etcd(3, faults::etcd::stalled);
    assert_same("a stalled etcd leader", &of_model, &servers.run(faults::etcd::stalled));
    let Some(servers) = real::etcd("3.5.16", 3) else { return };
    assert_same("three etcds", &model::etcd(3, faults::etcd::three), &servers.run(faults::etcd::three));
}

#[test]
fn zookeeper_ends_and_moves_sessions_and_dies_as_the_server() {
    let Some(server) = real::zookeeper(1) else { return };
    let of_model = model::zookeeper(1, faults::zookeeper::sessions);
    assert_same("sessions", &of_model, &server.run(faults::zookeeper::sessions));
    let of_model = model::zookeeper(1, faults::zookeeper::moved);
    assert_same("a session that moves", &of_model, &server.run(faults::zookeeper::moved));
    let of_model = model::zookeeper(1, faults::zookeeper::alone);
    assert_same("one zookeeper", &of_model, &server.run(faults::zookeeper::alone));
}

#[test]
fn three_zookeepers_lose_their_leader_as_the_servers() {
    let Some(servers) = real::zookeeper(3) else { return };
    let of_model = model::zookeeper(3, faults::zookeeper::stalled);
    assert_same("a stalled follower", &of_model, &servers.run(faults::zookeeper::stalled));
    let of_model = model::zookeeper(3, faults::zookeeper::three);
    assert_same("three zookeepers", &of_model, &servers.run(faults::zookeeper::three));
}
