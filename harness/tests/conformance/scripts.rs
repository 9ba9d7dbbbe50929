//! Random calls, the same for the same seed, and what they answered.

use std::time::Duration;

use simulation::rng::Rng;
use workloads::{
    api::{
        etcd::{Compare, EtcdApi, EtcdWatch, Range, Txn, TxnOp},
        redis::{RedisApi, Script, Value},
        zookeeper::{Answer, CreateMode, Stat, ZkApi},
    },
    env::Env,
};

use crate::place::told;

const STEPS: usize = 80;
const LONG: Duration = Duration::from_secs(60);

static COMPARE_AND_DELETE: Script = Script {
    name: "compare-and-delete",
    lua: "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return false end",
    rust: |keys, names, args| match keys.get(names[0]) == Some(args[0]) {
        true => Value::Integer(keys.del(names[0]).into()),
        false => Value::Nil,
    },
};

pub async fn redis(env: &Env, redis: &dyn RedisApi, seed: u64) -> Vec<String> {
    let rng = Rng::new(seed, 1);
    let mut log = Vec::new();
    for key in ["a", "b"] {
        let _ = redis.del(&format!("{seed}{key}")).await;
    }
    for step in 0..STEPS {
        let key = format!("{seed}{}", ["a", "b"][rng.below(2) as usize]);
        let value = rng.below(3).to_string();
        log.push(match rng.below(6) {
            0 | 1 => told("set", redis.set_nx_px(&key, &value, LONG).await),
            2 => told("get", redis.get(&key).await),
            3 => told("del", redis.del(&key).await),
            4 => told("pttl", redis.pttl(&key).await.map(|left| left.map(|left| left > LONG / 2))),
            _ => told("eval", redis.eval(&COMPARE_AND_DELETE, &[&key], &[&value]).await),
        });
        if step == STEPS / 2 {
            assert_eq!(redis.set_nx_px(&format!("{seed}t"), "1", Duration::from_millis(1)).await, Ok(true));
        }
    }
    env.sleep(Duration::from_millis(10)).await;
    log.push(told("expired", redis.get(&format!("{seed}t")).await));
    log
}

pub async fn etcd(env: &Env, etcd: &dyn EtcdApi, seed: u64) -> Vec<String> {
    let rng = Rng::new(seed, 2);
    let mut log = Vec::new();
    let mut leases = vec![0, 4711];
    let mut locks: Vec<String> = Vec::new();
    for _ in 0..STEPS {
        let key = ["a", "a/1", "b"][rng.below(3) as usize].to_owned();
        let lease = leases[rng.below(leases.len() as u64) as usize];
        let value = rng.below(3).to_string();
        let line = match rng.below(10) {
            0 => {
                let granted = etcd.lease_grant(1 + rng.below(30) as i64).await;
                leases.extend(granted.as_ref().ok().map(|lease| lease.id));
                told("grant", granted.map(|lease| lease.ttl_s))
            }
            1 => told("keepalive", etcd.lease_keepalive_once(lease).await),
            2 if lease != 0 => told("revoke", etcd.lease_revoke(lease).await),
            3 | 4 => told("range", etcd.range(Range { key, prefix: rng.below(2) == 0 }).await),
            5 => told("delete", etcd.txn(Txn { success: vec![TxnOp::Delete(key)], ..Txn::default() }).await),
            6 if lease > 4711 => {
                let locked = etcd.lock("l", lease, Duration::from_millis(150)).await;
                locks.extend(locked.as_ref().ok().map(|locked| locked.key.clone()));
                told("lock", locked)
            }
            7 if !locks.is_empty() => told("unlock", etcd.unlock(&locks.remove(0)).await),
            8 if lease > 4711 => match etcd.campaign("e", lease, &value, Duration::from_millis(300)).await {
                Ok(won) => {
                    let leader = etcd.leader("e").await;
                    let resigned = etcd.resign(&won).await;
                    told("campaign", Ok((won, leader, resigned)))
                }
                lost => told("campaign", lost),
            },
            _ => {
                let compare = match rng.below(3) {
                    0 => Compare::CreateRevision(key.clone(), 0),
                    1 => Compare::ModRevision(key.clone(), rng.below(20) as i64),
                    _ => Compare::Value(key.clone(), value.clone()),
                };
                let put = TxnOp::Put { key: key.clone(), value, lease };
                let read = TxnOp::Range(Range { key, prefix: false });
                told(
                    "txn",
                    etcd.txn(Txn { compares: vec![compare], success: vec![put], failure: vec![read] }).await,
                )
            }
        };
        if line.contains("indeterminate") {
            // The server takes a cancelled waiter's key away a little later.
            env.sleep(Duration::from_millis(200)).await;
        }
        log.push(without_numbers(line, &leases));
    }
    let mut watch = etcd.watch("a", 1).await.expect("a watch");
    let past = env.timeout(Duration::from_secs(5), past(&mut *watch)).await;
    log.push(past.map_or("past: silent".into(), |line| without_numbers(line, &leases)));
    log
}

/// Everything that happened to a key, until a put that closes it.
async fn past(watch: &mut dyn EtcdWatch) -> String {
    told("past", watch.next().await)
}

/// Lease numbers are the server's own.
fn without_numbers(mut line: String, leases: &[i64]) -> String {
    for (index, lease) in leases.iter().enumerate().filter(|(_, lease)| **lease > 4711) {
        line = line
            .replace(&lease.to_string(), &format!("L{index}"))
            .replace(&format!("{lease:x}"), &format!("L{index}"));
    }
    line
}

pub async fn zookeeper(env: &Env, zk: &dyn ZkApi, seed: u64) -> Vec<String> {
    let rng = Rng::new(seed, 3);
    let mut log = Vec::new();
    let root = format!("/t{seed}");
    log.push(told("root", zk.create(&root, b"", CreateMode::Persistent).await.map(created)));
    for _ in 0..STEPS {
        let path = format!("{root}{}", ["/a", "/b", "/a/x", "/b/y", ""][rng.below(5) as usize]);
        // What a run before left in the server's root would count in its sequence numbers.
        let below = if path == root { format!("{root}/a") } else { path.clone() };
        let version = rng.below(3) as i32 - 1;
        let watch = rng.below(3) == 0;
        let mode = [CreateMode::Persistent, CreateMode::Ephemeral, CreateMode::EphemeralSequential]
            [rng.below(3) as usize];
        log.push(match rng.below(8) {
            0..=2 => told("create", zk.create(&below, b"1", mode).await.map(created)),
            3 => told("exists", zk.exists(&path, watch).await.map(|stat| stat.map(shown))),
            4 => told("children", zk.get_children(&path, watch).await.map(sorted)),
            5 => told(
                "data",
                zk.get_data(&path, watch)
                    .await
                    .map(|answer| with(answer, |(data, stat)| (data, shown(stat)))),
            ),
            6 => told("set", zk.set_data(&path, b"2", version).await.map(|answer| with(answer, shown))),
            _ => told("delete", zk.delete(&path, version).await),
        });
    }
    log.push(told("sync", zk.sync(&root).await));
    while let Ok(event) = env.timeout(Duration::from_millis(300), zk.next_event()).await {
        log.push(format!("event: {event:?}"));
    }
    log.push(told("close", zk.close().await));
    log
}

fn with<T, U>(answer: Answer<T>, change: impl FnOnce(T) -> U) -> Answer<U> {
    match answer {
        Answer::Done(value) => Answer::Done(change(value)),
        Answer::NoNode => Answer::NoNode,
        Answer::NodeExists => Answer::NodeExists,
        Answer::BadVersion => Answer::BadVersion,
        Answer::NotEmpty => Answer::NotEmpty,
    }
}

fn shown(stat: Stat) -> (i32, bool, bool) {
    (stat.version, stat.ephemeral_owner != 0, stat.mzxid > stat.czxid)
}

fn created(answer: Answer<(String, Stat)>) -> Answer<(String, (i32, bool, bool))> {
    with(answer, |(path, stat)| (path, shown(stat)))
}

fn sorted(answer: Answer<Vec<String>>) -> Answer<Vec<String>> {
    with(answer, |mut names| {
        names.sort();
        names
    })
}
