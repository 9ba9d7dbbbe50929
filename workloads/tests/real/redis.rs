use std::time::Duration;

use workloads::api::{
    Endpoint,
    redis::{Keys, Script, Value},
};

use crate::support::{
    LIMIT, Server, assert_definite, assert_indeterminate, eventually, instance, on_node, stores,
};

const TTL: Duration = Duration::from_secs(20);

pub fn server() -> Option<Server> {
    let command = ["redis-server", "--save", "", "--appendonly", "no", "--protected-mode", "no"];
    Server::start("fencepost/redis:7.0", 6379, &command)
}

#[test]
fn every_call() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        let redis = stores(&env).redis(&server.endpoint, LIMIT).await.unwrap();
        assert_eq!(redis.set_nx_px("k", "one", TTL).await, Ok(true));
        assert_eq!(redis.set_nx_px("k", "two", TTL).await, Ok(false));
        assert_eq!(redis.get("k").await, Ok(Some("one".into())));
        let left = redis.pttl("k").await.unwrap().unwrap();
        assert!(left <= TTL && left > TTL - Duration::from_secs(10), "{left:?}");
        assert_eq!(redis.pttl("absent").await, Ok(None));
        assert!(redis.time().await.unwrap() > 1_700_000_000_000_000);
        assert_eq!(
            redis.eval(&PAIR, &["k"], &["x"]).await,
            Ok(Value::Array(vec![Value::Text("one".into()), Value::Text("x".into())]))
        );
        assert_eq!(redis.del("k").await, Ok(true));
        assert_eq!(redis.del("k").await, Ok(false));
        assert_eq!(redis.get("k").await, Ok(None));
        assert_eq!(redis.get(&"long".repeat(100_000)).await, Ok(None));
    });
}

static PAIR: Script = Script {
    name: "pair",
    lua: "return {redis.call('get', KEYS[1]), ARGV[1]}",
    rust: |store: &mut dyn Keys, keys, args| {
        let value = store.get(keys[0]).map_or(Value::Nil, |text| Value::Text(text.to_owned()));
        Value::Array(vec![value, Value::Text(args[0].into())])
    },
};

#[test]
fn a_call_to_a_stopped_server_is_indeterminate_and_takes_effect_later() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        let stores = stores(&env);
        let limit = Duration::from_millis(300);
        let redis = stores.redis(&server.endpoint, limit).await.unwrap();
        server.stop();
        assert_indeterminate(redis.set_nx_px("k", "late", TTL).await);
        assert!(!redis.usable());
        assert_definite(redis.get("k").await);
        server.go_on();
        let again = stores.redis(&server.endpoint, LIMIT).await.unwrap();
        eventually(&env, "it takes effect", async || again.get("k").await == Ok(Some("late".into()))).await;
    });
}

#[test]
fn a_cut_connection_is_indeterminate_and_a_refused_one_definite() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        let stores = stores(&env);
        let redis = stores.redis(&server.endpoint, LIMIT).await.unwrap();
        server.stop();
        let (outcome, ()) = tokio::join!(redis.get("k"), async {
            env.sleep(Duration::from_millis(200)).await;
            server.kill();
        });
        assert_indeterminate(outcome);
        let local = Endpoint { node: "s2".into(), addr: "127.0.0.1:1".into() };
        assert_definite(stores.redis(&local, LIMIT).await.map(|_| ()));
    });
}

#[test]
fn a_call_on_a_connection_already_closed_is_not_sent() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        let redis = stores(&env).redis(&server.endpoint, LIMIT).await.unwrap();
        assert_eq!(redis.get("k").await, Ok(None));
        server.kill();
        env.sleep(Duration::from_millis(500)).await;
        assert_definite(redis.get("k").await);
    });
}

#[test]
fn locks_contend_renew_and_release() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        for recipe in
            ["redis/set-nx", "redis/set-nx-fenced", "redis/set-nx-lease-aware", "redis/election-aware"]
        {
            let endpoints = [server.endpoint.clone()];
            let mut first = instance(&env, recipe, "c1", 5000, &endpoints);
            let mut second = instance(&env, recipe, "c2", 5000, &endpoints);
            let short = Duration::from_millis(100);
            let grant = first.acquire("a", short).await.unwrap();
            assert_eq!(
                grant.token.is_some(),
                ["redis/set-nx-fenced", "redis/election-aware"].contains(&recipe)
            );
            assert_definite(second.acquire("a", short).await);
            assert_eq!(first.renew("a").await.unwrap().token, grant.token);
            assert_definite(second.renew("a").await);
            assert_definite(second.release("a").await);
            let (handed_over, released) = tokio::join!(second.acquire("a", LIMIT), async {
                env.sleep(short).await;
                first.release("a").await
            });
            released.unwrap();
            assert!(handed_over.unwrap().token > grant.token || grant.token.is_none());
            second.release("a").await.unwrap();
        }
    });
}

#[test]
fn an_expired_lock_is_no_longer_ours() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        let endpoints = [server.endpoint.clone()];
        let mut first = instance(&env, "redis/set-nx", "c1", 300, &endpoints);
        let mut second = instance(&env, "redis/set-nx", "c2", 5000, &endpoints);
        first.acquire("a", LIMIT).await.unwrap();
        second.acquire("a", LIMIT).await.unwrap();
        assert_definite(first.renew("a").await);
        assert_definite(first.release("a").await);
        second.release("a").await.unwrap();
    });
}

#[test]
fn redlock_needs_a_majority() {
    let Some(servers) = (0..3).map(|_| server()).collect::<Option<Vec<_>>>() else { return };
    on_node(async |env| {
        let endpoints: Vec<_> = servers.iter().map(|server| server.endpoint.clone()).collect();
        let mut first = instance(&env, "redis/redlock-aware", "c1", 3000, &endpoints);
        let mut second = instance(&env, "redis/redlock-aware", "c2", 3000, &endpoints);
        let short = Duration::from_millis(100);
        let grant = first.acquire("a", short).await.unwrap();
        assert_eq!(grant.ttl, Some(Duration::from_millis(3000 - 30 - 2)));
        assert_definite(second.acquire("a", short).await);
        assert!(first.renew("a").await.unwrap().deadline > grant.deadline);
        assert_definite(second.renew("a").await);

        servers[0].stop();
        first.renew("a").await.unwrap();
        first.release("a").await.unwrap();
        second.acquire("a", LIMIT).await.unwrap();
        second.release("a").await.unwrap();
        servers[1].stop();
        assert_indeterminate(second.acquire("a", short).await);
        servers[0].go_on();
        servers[1].go_on();
        // What the stopped servers still granted ends with its TTL.
        first.acquire("a", Duration::from_secs(8)).await.unwrap();
        first.release("a").await.unwrap();
    });
}

#[test]
fn redlock_tells_what_nobody_else_can_hold() {
    let Some(servers) = (0..3).map(|_| server()).collect::<Option<Vec<_>>>() else { return };
    on_node(async |env| {
        let endpoints: Vec<_> = servers.iter().map(|server| server.endpoint.clone()).collect();
        let mut lock = instance(&env, "redis/redlock-aware", "c1", 3000, &endpoints);
        servers[0].kill();
        servers[1].kill();
        assert_definite(lock.acquire("a", Duration::from_millis(100)).await);
        let redis = stores(&env).redis(&servers[2].endpoint, LIMIT).await.unwrap();
        assert_eq!(redis.get("lock:a").await, Ok(None), "released everywhere");
    });
}

/// What a minority of the servers deleted is not undone by the others' no.
#[test]
fn a_release_of_redlock_fails_only_if_nobody_deleted_anything() {
    let Some(servers) = (0..3).map(|_| server()).collect::<Option<Vec<_>>>() else { return };
    on_node(async |env| {
        let endpoints: Vec<_> = servers.iter().map(|server| server.endpoint.clone()).collect();
        let mut lock = instance(&env, "redis/redlock", "c1", 9000, &endpoints);
        let forget = async |count: usize| {
            for server in &servers[..count] {
                let redis = stores(&env).redis(&server.endpoint, LIMIT).await.unwrap();
                assert_eq!(redis.del("lock:a").await, Ok(true));
            }
        };
        for (forgotten, released) in [(1, Some(true)), (2, None), (3, Some(false))] {
            lock.acquire("a", LIMIT).await.unwrap();
            forget(forgotten).await;
            match released {
                Some(true) => lock.release("a").await.unwrap(),
                Some(false) => assert_definite(lock.release("a").await),
                None => assert_indeterminate(lock.release("a").await),
            }
        }
    });
}

/// A broken connection is explicitly replaced before something is given back or renewed.
#[test]
fn a_lock_is_released_on_a_new_connection_when_the_old_one_broke() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        let mut lock = instance(&env, "redis/set-nx", "c1", 9000, std::slice::from_ref(&server.endpoint));
        lock.acquire("a", LIMIT).await.unwrap();
        server.stop();
        assert_indeterminate(lock.renew("a").await);
        server.go_on();
        assert!(!lock.usable());
        lock.renew("a").await.unwrap();
        lock.release("a").await.unwrap();
        let redis = stores(&env).redis(&server.endpoint, LIMIT).await.unwrap();
        assert_eq!(redis.get("lock:a").await, Ok(None));
    });
}
