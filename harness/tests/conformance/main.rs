//! The same calls on a model and on the real server must get the same answers and kinds of errors.
//!
//! Needs a Docker engine and the project's server images; says loudly when they are not there,
//! and fails then if `FENCEPOST_REQUIRE_DOCKER=1`.
//!
//! Known differences, each outside of what is compared: session and lease numbers, zxids and their steps, and how long a
//! call takes.

mod real;
mod scripts;

use std::{rc::Rc, time::Duration};

use harness::sim::{
    Node, Sim,
    disk::Disk,
    etcd::{self, EtcdClient},
    raft::Timing,
    redis::{self, Persistence, RedisClient},
    zookeeper::{self, ZkClient},
};
use workloads::api::{RedisApi, zookeeper::Open};

const LIMIT: Duration = Duration::from_secs(5);
const SEEDS: std::ops::Range<u64> = 0..8;

/// A model on one node, given time to find its leader, and a script on it.
fn on_model(
    start: impl FnOnce(&Node),
    script: impl AsyncFnOnce(Node, Node) -> Vec<String> + 'static,
) -> Vec<String> {
    let sim = Sim::new(1);
    let (server, client) = (sim.node("s1"), sim.node("c1"));
    start(&server);
    sim.run_until(5_000_000_000).expect("the model starts");
    sim.block_on(async move { script(server, client).await }).expect("the script ends")
}

fn assert_same(what: &str, seed: u64, model: &[String], real: &[String]) {
    for (number, (model, real)) in model.iter().zip(real).enumerate() {
        assert_eq!(
            model, real,
            "{what}, seed {seed}, step {number}: the model (left) and the server (right)"
        );
    }
    assert_eq!(model.len(), real.len(), "{what}, seed {seed}");
}

#[test]
fn redis_answers_as_the_server() {
    let Some(server) = real::redis() else { return };
    for seed in SEEDS {
        let model = on_model(
            |node| redis::start(node, &Disk::default(), Persistence::None),
            async move |server, client| {
                let redis = RedisClient::open(&client, server.id(), LIMIT).await.expect("a connection");
                scripts::redis(&redis, seed).await
            },
        );
        let real = server.run(async move |stores, endpoint, _| {
            let redis = stores.redis(&endpoint, LIMIT).await.expect("a connection");
            scripts::redis(&*redis, seed).await
        });
        assert_same("redis", seed, &model, &real);
    }
}

#[test]
fn a_replica_answers_as_the_server() {
    let Some(server) = real::redis() else { return };
    let Some(copy) = real::replica_of(&server) else { return };
    let sim = Sim::new(1);
    let model = sim.block_on(replication_on_the_model(["s1", "s2", "c1"].map(|name| sim.node(name))));
    let real = server.run(async |stores, endpoint, env| {
        let primary = stores.redis(&endpoint, LIMIT).await.expect("a connection");
        let replica = async || stores.redis(&copy.endpoint(), LIMIT).await.expect("a connection");
        scripts::replication(&env, &*primary, replica, || server.pause(), || copy.promote()).await
    });
    assert_same("replication", 0, &model.expect("the script ends"), &real);
}

async fn replication_on_the_model([first, second, client]: [Node; 3]) -> Vec<String> {
    let sentinel = redis::sentinel::Options { down_after_ms: 1000, failover_timeout_ms: 3000 };
    let options = redis::Options::of_version("7.0", Persistence::None, sentinel);
    redis::Replicated::start(&first, options, &redis::Kept::new(None));
    let copy = redis::Replicated::start(&second, options, &redis::Kept::new(Some(first.id())));
    let primary = RedisClient::open(&client, first.id(), LIMIT).await.expect("a connection");
    let replica = async || {
        let open = RedisClient::open(&client, second.id(), LIMIT).await.expect("a connection");
        Rc::new(open) as Rc<dyn RedisApi>
    };
    let pause = || assert!(first.pause(), "it runs");
    scripts::replication(&client.env(), &primary, replica, pause, || copy.follow_from_now(None)).await
}

#[test]
fn etcd_answers_as_the_server() {
    for seed in SEEDS.take(4) {
        // Revisions are compared, so each script gets a fresh server.
        let Some(server) = real::etcd("3.5.16") else { return };
        let model = on_model(
            |node| {
                let options = etcd::Options::of_version("3.5.16", Timing::ETCD);
                etcd::Server::start(node, &[node.id()], options, &etcd::Kept::default());
            },
            async move |server, client| {
                let etcd = EtcdClient::open(&client, server.id(), LIMIT).await.expect("a connection");
                scripts::etcd(&client.env(), &etcd, seed).await
            },
        );
        let real = server.run(async move |stores, endpoint, env| {
            let etcd = stores.etcd(&endpoint, LIMIT).await.expect("a connection");
            scripts::etcd(&env, &*etcd, seed).await
        });
        assert_same("etcd", seed, &model, &real);
    }
}

#[test]
fn zookeeper_answers_as_the_server() {
    let Some(server) = real::zookeeper() else { return };
    let timeout = Duration::from_secs(4);
    for seed in SEEDS {
        let model = on_model(
            |node| {
                let options =
                    zookeeper::Options { tick_ms: 200, sync_limit: 5, session_timeout_ms_max: 60_000 };
                zookeeper::Server::start(node, &[node.id()], options, &zookeeper::Kept::default());
            },
            async move |server, client| {
                let open = Open::New { timeout };
                let zk = ZkClient::open(&client, server.id(), LIMIT, open).await.expect("a session");
                scripts::zookeeper(&client.env(), &zk, seed).await
            },
        );
        let real = server.run(async move |stores, endpoint, env| {
            let open = Open::New { timeout };
            let zk = stores.zookeeper(&endpoint, LIMIT, open).await.expect("a session");
            scripts::zookeeper(&env, &*zk, seed).await
        });
        assert_same("zookeeper", seed, &model, &real);
    }
}
