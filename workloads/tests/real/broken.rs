//! What the broken recipes do wrong, shown without any fault.

use std::{slice::from_ref, time::Duration};

use crate::support::{LIMIT, instance, on_node, stores};

#[test]
fn on_redis() {
    let Some(server) = crate::redis::server() else { return };
    on_node(async |env| {
        let endpoints = from_ref(&server.endpoint);
        let mut slow = instance(&env, "redis/release-without-compare", "c1", 300, endpoints);
        let mut next = instance(&env, "redis/release-without-compare", "c2", 9000, endpoints);
        slow.acquire("a", LIMIT).await.unwrap();
        next.acquire("a", LIMIT).await.unwrap();
        slow.release("a").await.unwrap();
        let redis = stores(&env).redis(&server.endpoint, LIMIT).await.unwrap();
        assert_eq!(redis.get("lock:a").await, Ok(None), "the successor's lock is gone");

        let mut tokens = Vec::new();
        for owner in ["c1", "c2"] {
            let mut lock = instance(&env, "redis/client-counter-token", owner, 9000, endpoints);
            tokens.push(lock.acquire("b", LIMIT).await.unwrap().token);
            lock.release("b").await.unwrap();
        }
        assert_eq!(tokens, [Some(1), Some(1)]);
    });
}

#[test]
fn on_etcd() {
    let Some(server) = crate::etcd::server("3.5.16") else { return };
    on_node(async |env| {
        crate::etcd::settle(&env, &server).await;
        let endpoints = from_ref(&server.endpoint);
        let mut first = instance(&env, "etcd/put-without-compare", "c1", 9000, endpoints);
        let mut second = instance(&env, "etcd/put-without-compare", "c2", 9000, endpoints);
        first.acquire("a", LIMIT).await.unwrap();
        second.acquire("a", LIMIT).await.unwrap();

        let mut lock = instance(&env, "etcd/lease-id-token", "c1", 9000, endpoints);
        let grant = lock.acquire("b", LIMIT).await.unwrap();
        assert_eq!(grant.lease, grant.token.map(|token| format!("{token:x}")));
        assert_eq!(lock.renew("b").await.unwrap().token, grant.token);
    });
}

#[test]
fn on_zookeeper() {
    let Some(server) = crate::zookeeper::server() else { return };
    on_node(async |env| {
        crate::zookeeper::settle(&env, &server).await;
        let endpoints = from_ref(&server.endpoint);
        for owner in ["c1", "c2"] {
            let mut lock = instance(&env, "zookeeper/version-token", owner, 3000, endpoints);
            assert_eq!(lock.acquire("a", LIMIT).await.unwrap().token, Some(0));
            lock.release("a").await.unwrap();
        }
        let mut lock = instance(&env, "zookeeper/watch-after-read", "c1", 3000, endpoints);
        lock.acquire("a", Duration::from_millis(500)).await.unwrap();
    });
}
