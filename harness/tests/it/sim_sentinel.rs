//! Replication and failover of the Redis model, and what they do to a lock.

use std::{rc::Rc, time::Duration};

use harness::{
    campaigns::simulate::{Tried, try_out},
    experiment::{Experiment, Flags, On},
};
use history::verdict::Verdict;
use simulation::{
    Node, NodeId, Sim,
    redis::{
        Kept, Options, Persistence, RedisClient, Replicated,
        sentinel::{self, Sentinel, SentinelClient},
    },
};
use workloads::{
    api::redis::{RedisApi, Role, SentinelApi},
    env::EnvApi,
    error::OpError,
};

const LIMIT: Duration = Duration::from_secs(1);
const TTL: Duration = Duration::from_secs(10);
const MINUTE: Duration = Duration::from_secs(60);
const SECOND: i64 = 1_000_000_000;

/// Three servers with their sentinels, and a client.
struct Cluster {
    servers: Vec<Node>,
    client: Node,
    kept: Vec<Kept>,
    options: Options,
}

impl Cluster {
    fn start(sim: &Sim, version: &str, persistence: Persistence) -> Cluster {
        Cluster::judging_after(sim, version, persistence, 1000)
    }

    fn judging_after(sim: &Sim, version: &str, persistence: Persistence, down_after_ms: i64) -> Cluster {
        let servers: Vec<Node> = ["s1", "s2", "s3"].map(|name| sim.node(name)).into();
        let primary = servers[0].id();
        let kept =
            servers.iter().map(|server| Kept::new((server.id() != primary).then_some(primary))).collect();
        let sentinel = sentinel::Options { down_after_ms, failover_timeout_ms: 3000 };
        let options = Options::of_version(version, persistence, sentinel);
        let cluster = Cluster { servers, client: sim.node("c1"), kept, options };
        (0..3).for_each(|server| cluster.run(server));
        cluster
    }

    fn ids(&self) -> Vec<NodeId> {
        self.servers.iter().map(Node::id).collect()
    }

    fn run(&self, server: usize) {
        let started = Replicated::start(&self.servers[server], self.options, &self.kept[server]);
        Sentinel::start(&started, &self.ids());
    }

    fn restart(&self, server: usize) {
        self.servers[server].revive();
        self.run(server);
    }

    async fn redis(&self, server: usize) -> RedisClient {
        RedisClient::open(&self.client, self.servers[server].id(), LIMIT).await.unwrap()
    }

    async fn role(&self, server: usize) -> Role {
        self.redis(server).await.role().await.unwrap()
    }

    /// Whom the sentinel beside a server takes for the primary.
    async fn named_by(&self, server: usize) -> usize {
        let ids = self.ids();
        let number = move |id: NodeId| ids.iter().position(|other| *other == id).unwrap().to_string();
        let sentinel =
            SentinelClient::open(&self.client, self.servers[server].id(), LIMIT, number).await.unwrap();
        sentinel.primary().await.unwrap().parse().unwrap()
    }

    /// Cuts a server from the other servers, or mends it.
    fn cut_off(&self, server: usize, cut: bool) {
        for other in (0..3).filter(|other| *other != server) {
            let (here, there) = (&self.servers[server], &self.servers[other]);
            if cut {
                here.cut(there.id());
                there.cut(here.id());
            } else {
                here.mend(there.id());
                there.mend(here.id());
            }
        }
    }

    async fn sleep(&self, seconds: u64) {
        self.client.sleep(Duration::from_secs(seconds)).await;
    }
}

/// Runs a script on a fresh cluster of 7.0 without persistence.
fn on_cluster(script: impl AsyncFnOnce(Cluster) + 'static) {
    let sim = Sim::new(1);
    let cluster = Cluster::start(&sim, "7.0", Persistence::None);
    sim.block_on(async move {
        cluster.sleep(3).await;
        script(cluster).await;
    })
    .unwrap();
}

#[test]
fn a_write_reaches_the_replicas_after_its_answer_and_wait_tells() {
    on_cluster(async |cluster| {
        let (primary, replica) = (cluster.redis(0).await, cluster.redis(1).await);
        assert_eq!(primary.set_nx_px("a", "1", TTL).await, Ok(true));
        assert_eq!(primary.wait(2, LIMIT / 2).await, Ok(2));
        assert_eq!(replica.get("a").await, Ok(Some("1".into())));
        assert_eq!((primary.role().await, replica.role().await), (Ok(Role::Primary), Ok(Role::Replica)));
        for refused in [replica.set_nx_px("b", "1", TTL).await, replica.del("a").await] {
            assert!(
                matches!(&refused, Err(OpError::Definite(why)) if why.starts_with("READONLY")),
                "{refused:?}"
            );
        }
        cluster.servers[2].pause();
        assert_eq!(primary.set_nx_px("b", "1", TTL).await, Ok(true));
        assert_eq!(primary.wait(2, LIMIT / 2).await, Ok(1), "one stands still");
    });
}

#[test]
fn a_replica_hides_an_expired_key_until_its_primary_deletes_it() {
    on_cluster(async |cluster| {
        let primary = cluster.redis(0).await;
        assert_eq!(primary.set_nx_px("a", "1", TTL).await, Ok(true));
        assert_eq!(primary.wait(2, LIMIT / 2).await, Ok(2));
        cluster.servers[1].set_clock_offset(60 * SECOND);
        let replica = cluster.redis(1).await;
        assert_eq!(replica.get("a").await, Ok(None), "hidden by the replica's clock");
        cluster.servers[1].set_clock_offset(0);
        assert_eq!(replica.get("a").await, Ok(Some("1".into())), "and not deleted");
    });
}

/// Whether a lock of 10 s is still there on a replica whose clock is a minute ahead.
fn is_seen_by_a_clock_ahead(version: &str) -> bool {
    let sim = Sim::new(1);
    let cluster = Cluster::start(&sim, version, Persistence::None);
    let seen = sim.block_on(async move {
        cluster.sleep(3).await;
        cluster.servers[1].set_clock_offset(60 * SECOND);
        let primary = cluster.redis(0).await;
        assert_eq!(primary.set_nx_px("a", "1", TTL).await, Ok(true));
        assert_eq!(primary.wait(2, LIMIT / 2).await, Ok(2));
        cluster.redis(1).await.get("a").await.unwrap().is_some()
    });
    seen.unwrap()
}

#[test]
fn expiries_travel_as_instants_since_7_0_and_as_times_to_live_before() {
    assert!(!is_seen_by_a_clock_ahead("7.0"));
    assert!(is_seen_by_a_clock_ahead("6.2"));
}

#[test]
fn a_lock_that_was_not_replicated_is_granted_again_after_the_failover() {
    on_cluster(async |cluster| {
        cluster.cut_off(0, true);
        let old = cluster.redis(0).await;
        assert_eq!(old.set_nx_px("a", "1", MINUTE).await, Ok(true));
        assert_eq!(old.wait(1, LIMIT / 2).await, Ok(0));
        cluster.sleep(6).await;
        let new = cluster.named_by(1).await;
        assert_ne!(new, 0);
        assert_eq!(cluster.named_by(2).await, new, "both of the majority say the same");
        assert_eq!(cluster.role(new).await, Role::Primary);
        assert_eq!(cluster.redis(new).await.set_nx_px("a", "2", MINUTE).await, Ok(true));
        assert_eq!(old.get("a").await, Ok(Some("1".into())), "the old primary does not know");
    });
}

#[test]
fn a_former_primary_becomes_a_replica_and_loses_what_it_wrote_alone() {
    on_cluster(async |cluster| {
        cluster.cut_off(0, true);
        let old = cluster.redis(0).await;
        assert_eq!(old.set_nx_px("a", "1", MINUTE).await, Ok(true));
        cluster.sleep(6).await;
        cluster.cut_off(0, false);
        cluster.sleep(15).await;
        assert_eq!(cluster.role(0).await, Role::Replica);
        let cut = old.get("a").await;
        assert!(
            matches!(cut, Err(OpError::Definite(_))) && !old.usable(),
            "its clients were cut, and nothing is sent on what is closed: {cut:?}"
        );
        assert_eq!(cluster.redis(0).await.get("a").await, Ok(None));
        assert_eq!(cluster.named_by(0).await, cluster.named_by(1).await);
    });
}

#[test]
fn a_killed_primary_is_replaced_by_a_replica_that_has_the_lock() {
    on_cluster(async |cluster| {
        let primary = cluster.redis(0).await;
        assert_eq!(primary.set_nx_px("a", "1", MINUTE).await, Ok(true));
        assert_eq!(primary.wait(2, LIMIT / 2).await, Ok(2));
        cluster.servers[0].kill();
        cluster.sleep(6).await;
        let new = cluster.named_by(1).await;
        assert_ne!(new, 0);
        assert_eq!(cluster.redis(new).await.set_nx_px("a", "2", MINUTE).await, Ok(false), "it is still held");
        cluster.restart(0);
        assert_eq!(cluster.role(0).await, Role::Primary, "as its configuration says");
        cluster.sleep(15).await;
        assert_eq!(cluster.role(0).await, Role::Replica, "as the sentinels say");
        assert_eq!(cluster.redis(0).await.get("a").await, Ok(Some("1".into())));
    });
}

/// Whether a replicated lock outlives a restart of the primary that no sentinel notices.
fn survives_a_short_restart(persistence: Persistence) -> bool {
    let sim = Sim::new(1);
    let cluster = Cluster::start(&sim, "7.0", persistence);
    let survived = sim.block_on(async move {
        cluster.sleep(3).await;
        let primary = cluster.redis(0).await;
        assert_eq!(primary.set_nx_px("a", "1", MINUTE).await, Ok(true));
        assert_eq!(primary.wait(2, LIMIT / 2).await, Ok(2));
        cluster.servers[0].kill();
        cluster.client.sleep(Duration::from_millis(200)).await;
        cluster.restart(0);
        cluster.sleep(5).await;
        assert_eq!(cluster.named_by(1).await, 0, "nobody noticed");
        cluster.redis(1).await.get("a").await.unwrap().is_some()
    });
    survived.unwrap()
}

#[test]
fn replicas_copy_a_primary_that_came_back_empty() {
    assert!(!survives_a_short_restart(Persistence::None));
    assert!(survives_a_short_restart(Persistence::EverySecond));
    assert!(survives_a_short_restart(Persistence::Always(Duration::from_millis(1))));
}

/// Whether a replica has a lock after a power cut that took it before the primary could send the lock again: one that
/// it had acknowledged, and one that it had from a full copy.
fn outlives_a_power_cut(persistence: Persistence) -> (bool, bool) {
    let sim = Sim::new(1);
    let cluster = Cluster::start(&sim, "7.0", persistence);
    let has = async |cluster: &Cluster, key: &str| {
        cluster.servers[1].kill();
        cluster.kept[1].disk.lose_unsynced();
        cluster.cut_off(1, true);
        cluster.restart(1);
        cluster.redis(1).await.get(key).await.unwrap().is_some()
    };
    let outlived = sim.block_on(async move {
        cluster.sleep(3).await;
        let primary = cluster.redis(0).await;
        assert_eq!(primary.set_nx_px("a", "1", MINUTE).await, Ok(true));
        assert_eq!(primary.wait(2, LIMIT / 2).await, Ok(2));
        let acknowledged = has(&cluster, "a").await;
        assert_eq!(primary.set_nx_px("b", "1", MINUTE).await, Ok(true));
        cluster.cut_off(1, false);
        cluster.sleep(5).await;
        assert_eq!(primary.wait(2, LIMIT / 2).await, Ok(2));
        (acknowledged, has(&cluster, "b").await)
    });
    outlived.unwrap()
}

#[test]
fn a_replica_that_syncs_always_loses_nothing_that_it_acknowledged() {
    assert_eq!(outlives_a_power_cut(Persistence::Always(Duration::from_millis(1))), (true, true));
    assert_eq!(outlives_a_power_cut(Persistence::EverySecond), (false, true));
    assert_eq!(outlives_a_power_cut(Persistence::None), (false, false));
}

#[test]
fn a_minority_promotes_nobody() {
    on_cluster(async |cluster| {
        cluster.cut_off(2, true);
        cluster.sleep(20).await;
        assert_eq!(cluster.named_by(2).await, 0);
        assert_eq!(cluster.role(2).await, Role::Replica);
        cluster.servers[0].kill();
        cluster.sleep(20).await;
        assert_eq!(cluster.named_by(1).await, 0, "one of three is no majority either");
        cluster.cut_off(2, false);
        cluster.sleep(20).await;
        assert_ne!(cluster.named_by(1).await, 0);
    });
}

/// Whether the primary is replaced that dies while the other sentinels are in TILT: after twenty-five seconds, and after
/// fifty.
fn replaced_in_tilt(down_after_ms: i64) -> (bool, bool) {
    let sim = Sim::new(1);
    let cluster = Cluster::judging_after(&sim, "7.0", Persistence::None, down_after_ms);
    let replaced = sim.block_on(async move {
        cluster.sleep(3).await;
        (1..3).for_each(|server| cluster.servers[server].set_clock_offset(5 * SECOND));
        cluster.client.sleep(Duration::from_millis(500)).await;
        cluster.servers[0].kill();
        cluster.sleep(25).await;
        let early = cluster.named_by(1).await != 0;
        cluster.sleep(25).await;
        (early, cluster.named_by(1).await != 0)
    });
    replaced.unwrap()
}

#[test]
fn sentinels_whose_clocks_jumped_do_nothing_for_half_a_minute() {
    assert_eq!(replaced_in_tilt(5000), (false, true));
    // By then the replicas have been without their primary for too long to be trusted with its place.
    assert_eq!(replaced_in_tilt(1000), (false, false));
}

fn run(faults: &str, settings: &[&str], seed: u64) -> Tried {
    let flags = Flags {
        on: Some(On::Sim),
        faults: Some(faults.into()),
        time: Some("15s".into()),
        seed: Some(seed),
        settings: settings.iter().map(|setting| (*setting).to_owned()).collect(),
        ..Flags::default()
    };
    try_out(&Rc::new(Experiment::resolve("redis/sentinel", &flags).unwrap())).unwrap()
}

fn promise(tried: &Tried) -> Verdict {
    tried.judged.judgement.checks.get("promise").map_or(Verdict::Unknown, |check| check.verdict)
}

#[test]
fn a_failover_breaks_the_promise_and_nothing_else_does() {
    let broken =
        (1..=20).find(|seed| promise(&run("kill:leader,partition:leader", &[], *seed)) == Verdict::Invalid);
    assert!(broken.is_some(), "no failover broke the promise");
    for seed in 1..=200 {
        let tried = run("none", &[], seed);
        let judgement = &tried.judged.judgement;
        assert_eq!(judgement.verdict, Verdict::Valid, "seed {seed}: {:#?}", judgement.checks);
    }
}

#[test]
fn a_lock_that_every_replica_has_outlives_a_partition_and_one_that_none_has_does_not() {
    let broken = |replicas: u32| {
        let wait = format!("wait_replicas={replicas}");
        (1..=60).find(|seed| promise(&run("partition:leader", &[&wait], *seed)) == Verdict::Invalid)
    };
    assert!(broken(0).is_some());
    assert_eq!(broken(2), None);
}

#[test]
fn a_grant_that_too_few_replicas_have_is_given_up_at_once() {
    let given_up = |seed| {
        let tried = run("partition:leader", &["wait_replicas=2"], seed);
        let mut text = Vec::new();
        history::jsonl::write(&mut text, tried.judged.history.events()).unwrap();
        let lines = String::from_utf8(text).unwrap();
        let short = |line: &&str| line.contains("of 2 replicas have it");
        let short: Vec<&str> = lines.lines().filter(short).collect();
        let ended = |line: &&str| line.contains("\"fail\"") || line.contains("not given up");
        assert!(short.iter().all(ended), "{short:#?}");
        short.len()
    };
    assert!((1..=10).map(given_up).sum::<usize>() > 0, "no partition was met");
}
