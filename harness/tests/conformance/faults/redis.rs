use std::time::Duration;

use futures_util::future::join;
use workloads::api::redis::{Script, Value};

use crate::place::{LIMIT, Scene, Strike, told};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(400);

static EXTEND: Script = Script {
    name: "extend",
    lua: "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], 60000) else return 0 end",
    rust: |keys, names, args| match keys.get(names[0]) == Some(args[0]) {
        true => Value::Integer(keys.pexpire(names[0], LONG).into()),
        false => Value::Integer(0),
    },
};

/// Keys end by themselves, whether somebody looks at them or not.
pub async fn expiry(scene: Scene) -> Vec<String> {
    let redis = scene.redis(LIMIT).await.expect("a connection");
    let mut log = Vec::new();
    log.push(told("set", redis.set_nx_px("seen", "1", SHORT).await));
    log.push(told("set unseen", redis.set_nx_px("unseen", "1", SHORT).await));
    log.push(told("set again", redis.set_nx_px("seen", "2", SHORT).await));
    scene.sleep_ms(150).await;
    let left = redis.pttl("seen").await;
    log.push(told("left", left.map(|left| left.is_some_and(|left| left <= SHORT && left > SHORT / 8))));
    log.push(told("get", redis.get("seen").await));
    scene.sleep_ms(400).await;
    log.push(told("get", redis.get("seen").await));
    log.push(told("left", redis.pttl("seen").await));
    log.push(told("delete", redis.del("seen").await));
    log.push(told("extend", redis.eval(&EXTEND, &["seen"], &["1"]).await));
    log.push(told("set unseen", redis.set_nx_px("unseen", "2", SHORT).await));
    log.push(told("extend", redis.eval(&EXTEND, &["unseen"], &["2"]).await));
    log.push(told("extend another's", redis.eval(&EXTEND, &["unseen"], &["1"]).await));
    scene.sleep_ms(700).await;
    log.push(told("get extended", redis.get("unseen").await));
    log.push(told("delete", redis.del("unseen").await));
    log.push(told("delete", redis.del("unseen").await));
    log
}

/// Killed between two calls, and started again: what is left, by the way it persists.
pub async fn kill(scene: Scene) -> Vec<String> {
    let redis = scene.redis(LIMIT).await.expect("a connection");
    let mut log = Vec::new();
    log.push(told("set long", redis.set_nx_px("long", "1", LONG).await));
    log.push(told("set short", redis.set_nx_px("short", "1", SHORT).await));
    log.push(told("set deleted", redis.set_nx_px("deleted", "1", LONG).await));
    log.push(told("delete", redis.del("deleted").await));
    scene.strike(0, Strike::Kill).await;
    log.push(format!("usable: {}", redis.usable()));
    log.push(told("get", redis.get("long").await));
    log.push(told("set", redis.set_nx_px("late", "1", LONG).await));
    log.push(told("connect", scene.redis(LIMIT).await.map(drop)));
    scene.sleep_ms(400).await;
    scene.start(0).await;
    log.push(told("set on the old connection", redis.set_nx_px("late", "1", LONG).await));
    let serves = async || match scene.redis(LIMIT).await {
        Ok(redis) => redis.get("long").await.is_ok(),
        Err(_) => false,
    };
    scene.until("redis has loaded its file", serves).await;
    let redis = scene.redis(LIMIT).await.expect("a connection");
    for key in ["long", "short", "deleted", "late"] {
        log.push(told(key, redis.get(key).await));
    }
    let left = redis.pttl("long").await;
    log.push(told("left", left.map(|left| left.is_some_and(|left| left < LONG && left > LONG / 2))));
    log.push(told("set short", redis.set_nx_px("short", "2", SHORT).await));
    log
}

/// Paused with a call under way; killed with a call under way.
pub async fn pause(scene: Scene) -> Vec<String> {
    let redis = scene.redis(SHORT).await.expect("a connection");
    let mut log = Vec::new();
    log.push(told("get", redis.get("late").await));
    scene.strike(0, Strike::Pause).await;
    log.push(format!("usable: {}", redis.usable()));
    log.push(told("set", redis.set_nx_px("late", "1", LONG).await));
    log.push(format!("usable: {}", redis.usable()));
    log.push(told("get", redis.get("late").await));
    let another = scene.redis(SHORT).await;
    log.push(told("connect", another.as_ref().map(|_| ()).map_err(Clone::clone)));
    log.push(told("get", another.expect("the kernel takes connections").get("late").await));
    scene.strike(0, Strike::GoOn).await;
    log.push(told("get", redis.get("late").await));
    let redis = scene.redis(LIMIT).await.expect("a connection");
    log.push(told("get what came late", redis.get("late").await));
    scene.strike(0, Strike::Pause).await;
    let dies = async {
        scene.sleep_ms(200).await;
        scene.strike(0, Strike::Kill).await;
    };
    let (set, ()) = join(redis.set_nx_px("dying", "1", LONG), dies).await;
    log.push(told("set", set));
    log.push(told("set", redis.set_nx_px("dying", "1", LONG).await));
    log
}
