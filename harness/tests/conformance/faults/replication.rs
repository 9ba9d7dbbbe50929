use std::time::Duration;

use workloads::api::redis::{Script, Value};

use crate::place::{LIMIT, Scene, Strike, told};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);
/// What `WAIT` may take here, less than the connection's own limit.
const WAIT: Duration = Duration::from_secs(1);

static COMPARE_AND_DELETE: Script = Script {
    name: "compare-and-delete",
    lua: "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
    rust: |keys, names, args| match keys.get(names[0]) == Some(args[0]) {
        true => Value::Integer(keys.del(names[0]).into()),
        false => Value::Integer(0),
    },
};

static SET_NX: Script = Script {
    name: "set-nx",
    lua: "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', 60000) then return 1 else return false end",
    rust: |keys, names, args| match keys.set_nx(names[0], args[0], LONG) {
        true => Value::Integer(1),
        false => Value::Nil,
    },
};

/// A primary, and its replica that is promoted while the primary stands still.
pub async fn promotion(scene: Scene) -> Vec<String> {
    let primary = scene.redis(LIMIT).await.expect("a connection");
    let replica = scene.redis_of(1, LIMIT).await.expect("a connection");
    assert_eq!(primary.set_nx_px("linked", "1", LONG).await, Ok(true));
    scene.until("the replica is linked", async || primary.wait(1, WAIT).await == Ok(1)).await;
    assert_eq!(primary.set_nx_px("short", "1", SHORT).await, Ok(true));
    let mut log = vec![
        told("set", primary.set_nx_px("a", "1", LONG).await),
        told("wait for one", primary.wait(1, WAIT).await),
        told("wait for two", primary.wait(2, Duration::from_millis(100)).await),
        told("role of the primary", primary.role().await),
    ];
    scene.strike(0, Strike::Pause).await;
    log.extend([
        told("role of the replica", replica.role().await),
        told("get", replica.get("a").await),
        told("ttl", replica.pttl("a").await.map(|left| left.map(|left| left > LONG / 2))),
        told("set", replica.set_nx_px("b", "1", LONG).await),
        told("del", replica.del("a").await),
        told("wait", replica.wait(0, WAIT).await),
        told("a script that writes", replica.eval(&COMPARE_AND_DELETE, &["a"], &["1"]).await),
        told("a script that does not", replica.eval(&COMPARE_AND_DELETE, &["a"], &["2"]).await),
        told("acquire what is held", replica.eval(&SET_NX, &["a"], &["2"]).await),
    ]);
    scene.sleep_ms(600).await;
    log.push(told("expired", replica.get("short").await));
    log.push(told("expired", replica.pttl("short").await));
    scene.promote(1);
    scene.sleep_ms(300).await;
    let promoted = scene.redis_of(1, LIMIT).await.expect("a connection");
    log.extend([
        told("role of the promoted", promoted.role().await),
        told("still held", promoted.set_nx_px("a", "2", LONG).await),
        told("free", promoted.set_nx_px("short", "2", LONG).await),
        told("wait", promoted.wait(0, WAIT).await),
    ]);
    log
}
