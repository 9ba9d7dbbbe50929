use std::time::Duration;

use history::EventKind;
use workloads::{
    api::etcd::{Compare, Range, Txn, TxnAnswer, TxnOp, WatchEvent},
    workload::Workload,
};

use crate::{
    proxy::Proxy,
    support::{LIMIT, Server, assert_definite, assert_indeterminate, eventually, instance, on_node, stores},
    workload::{assert_sound, count, run},
};

const SHORT: Duration = Duration::from_millis(300);

pub fn server(version: &str) -> Option<Server> {
    let command = [
        "etcd",
        "--data-dir=/tmp/etcd",
        "--listen-client-urls=http://0.0.0.0:2379",
        "--advertise-client-urls=http://127.0.0.1:2379",
        "--unsafe-no-fsync",
    ];
    Server::start(&format!("fencepost/etcd:{version}"), 2379, &command)
}

/// Waits until the member has a leader.
pub async fn settle(env: &workloads::env::Env, server: &Server) {
    let etcd = stores(env).etcd(&server.endpoint, LIMIT).await.unwrap();
    while etcd.range(Range { key: "k".into(), prefix: false }).await.is_err() {
        assert!(env.now() < 30_000_000_000, "etcd does not serve");
        env.sleep(SHORT).await;
    }
}

fn put(key: &str, value: &str, lease: i64) -> TxnOp {
    TxnOp::Put { key: key.into(), value: value.into(), lease }
}

#[test]
fn every_call_of_the_key_space() {
    let Some(server) = server("3.5.16") else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        let etcd = stores(&env).etcd(&server.endpoint, LIMIT).await.unwrap();
        let txn = Txn {
            compares: vec![Compare::CreateRevision("d/k".into(), 0)],
            success: vec![put("d/k", "one", 0), TxnOp::Range(Range { key: "d/".into(), prefix: true })],
            failure: vec![TxnOp::Delete("d/k".into())],
        };
        let created = etcd.txn(txn.clone()).await.unwrap();
        assert!(created.succeeded);
        let [TxnAnswer::Put, TxnAnswer::Range(keys)] = &created.answers[..] else { panic!("{created:?}") };
        assert_eq!((keys[0].key.as_str(), keys[0].value.as_str(), keys[0].version), ("d/k", "one", 1));
        assert_eq!(keys[0].create_revision, created.revision);

        let mut watch = etcd.watch("d/k", created.revision).await.unwrap();
        let deleted = etcd.txn(txn).await.unwrap();
        assert_eq!((deleted.succeeded, &deleted.answers[..]), (false, &[TxnAnswer::Deleted(1)][..]));
        let mut events = watch.next().await.unwrap();
        if events.len() == 1 {
            events.extend(watch.next().await.unwrap());
        }
        assert_eq!(events[0], WatchEvent::Put(keys[0].clone()));
        assert_eq!(events[1], WatchEvent::Delete { key: "d/k".into(), mod_revision: deleted.revision });
        let found = etcd.range(Range { key: "d/".into(), prefix: true }).await.unwrap();
        assert_eq!((found.revision, found.keys.len()), (deleted.revision, 0));

        for compare in [Compare::Value("x".into(), "v".into()), Compare::ModRevision("x".into(), 99)] {
            assert!(!etcd.txn(Txn { compares: vec![compare], ..Txn::default() }).await.unwrap().succeeded);
        }
        assert_definite(etcd.txn(Txn { success: vec![put("", "", 0)], ..Txn::default() }).await);
        assert_definite(etcd.txn(Txn { success: vec![put("k", "", 99)], ..Txn::default() }).await);
    });
}

#[test]
fn every_call_on_leases_locks_and_elections() {
    for version in ["3.5.16", "3.4.23"] {
        let Some(server) = server(version) else { return };
        on_node(async |env| {
            settle(&env, &server).await;
            let etcd = stores(&env).etcd(&server.endpoint, LIMIT).await.unwrap();
            let lease = etcd.lease_grant(20).await.unwrap();
            assert_eq!(lease.ttl_s, 20);
            assert_eq!(etcd.lease_keepalive_once(lease.id).await, Ok(Some(20)));
            assert_eq!(etcd.lease_keepalive_once(99).await, Ok(None));

            let locked = etcd.lock("l", lease.id, LIMIT).await.unwrap();
            let other = etcd.lease_grant(20).await.unwrap();
            assert_indeterminate(etcd.lock("l", other.id, SHORT).await);
            assert!(etcd.usable(), "a cancelled wait does not break the connection");
            etcd.unlock(&locked.key).await.unwrap();
            etcd.lock("l", other.id, LIMIT).await.unwrap();

            assert_eq!(etcd.leader("e").await, Ok(None));
            let leader = etcd.campaign("e", lease.id, "me", LIMIT).await.unwrap();
            let seen = etcd.leader("e").await.unwrap().unwrap();
            assert_eq!((seen.value.as_str(), seen.create_revision), ("me", leader.rev));
            etcd.resign(&leader).await.unwrap();
            assert_eq!(etcd.leader("e").await, Ok(None));

            assert_eq!(etcd.lease_revoke(lease.id).await, Ok(true));
            assert_eq!(etcd.lease_revoke(lease.id).await, Ok(false));
        });
    }
}

#[test]
fn a_call_to_a_stopped_server_is_indeterminate_and_takes_effect_later() {
    let Some(server) = server("3.5.16") else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        let etcd = stores(&env).etcd(&server.endpoint, SHORT).await.unwrap();
        server.stop();
        assert_indeterminate(etcd.txn(Txn { success: vec![put("k", "late", 0)], ..Txn::default() }).await);
        assert!(!etcd.usable());
        assert_definite(etcd.lease_grant(5).await);
        server.go_on();
        let again = stores(&env).etcd(&server.endpoint, LIMIT).await.unwrap();
        let found = async || again.range(Range { key: "k".into(), prefix: false }).await.unwrap().keys;
        eventually(&env, "it takes effect", async || !found().await.is_empty()).await;
        assert_eq!(found().await[0].value, "late");
    });
}

#[test]
fn a_cut_connection_is_indeterminate_and_a_closed_one_definite() {
    let Some(server) = server("3.5.16") else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        let etcd = stores(&env).etcd(&server.endpoint, LIMIT).await.unwrap();
        let mut watch = etcd.watch("k", 0).await.unwrap();
        server.stop();
        let (outcome, ()) = tokio::join!(etcd.lease_grant(5), async {
            env.sleep(Duration::from_millis(200)).await;
            server.kill();
        });
        assert_indeterminate(outcome);
        assert_indeterminate(watch.next().await);
        assert_definite(etcd.lease_grant(5).await);
    });
}

#[test]
fn recipes_contend_renew_and_hand_over() {
    let Some(server) = server("3.5.16") else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        for recipe in
            ["etcd/lease-lock-aware", "etcd/lock-rpc-aware", "etcd/election-aware", "etcd/campaign-rpc-aware"]
        {
            let endpoints = [server.endpoint.clone()];
            let mut first = instance(&env, recipe, "c1", 3000, &endpoints);
            let mut second = instance(&env, recipe, "c2", 3000, &endpoints);
            let grant = first.acquire("a", LIMIT).await.unwrap();
            assert_eq!(grant.deadline, grant.asked.map(|asked| asked + 3_000_000_000), "{recipe}");
            assert_definite(second.acquire("a", SHORT).await);
            let renewed = first.renew("a").await.unwrap();
            assert_eq!(renewed.token, grant.token);
            assert!(renewed.deadline > grant.deadline);
            assert_definite(second.release("a").await);
            if recipe != "etcd/lease-lock-aware" && recipe != "etcd/lock-rpc-aware" {
                let leader = second.observe("a").await.unwrap().unwrap();
                assert_eq!((leader.id.as_str(), leader.token), ("c1", grant.token));
            }
            let (handed_over, released) = tokio::join!(second.acquire("a", LIMIT), async {
                env.sleep(SHORT).await;
                first.release("a").await
            });
            released.unwrap();
            assert!(handed_over.unwrap().token > grant.token, "{recipe}");
            second.release("a").await.unwrap();
        }
    });
}

#[test]
fn a_waiter_outlives_its_lease_and_an_expired_owner_is_told() {
    let Some(server) = server("3.5.16") else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        for recipe in ["etcd/lease-lock-aware", "etcd/lock-rpc-aware"] {
            let endpoints = [server.endpoint.clone()];
            let mut first = instance(&env, recipe, "c1", 2000, &endpoints);
            let mut second = instance(&env, recipe, "c2", 2000, &endpoints);
            let grant = first.acquire("a", LIMIT).await.unwrap();
            // The first lease ends by itself; the second is renewed while it waits.
            let late = second.acquire("a", Duration::from_secs(12)).await.unwrap();
            assert!(late.token > grant.token, "{recipe}");
            assert_definite(first.renew("a").await);
            match recipe {
                // The service's answer does not tell whether there was a key: there is none now.
                "etcd/lock-rpc-aware" => first.release("a").await.unwrap(),
                _ => assert_definite(first.release("a").await),
            }
            assert_definite(first.release("a").await);
            second.renew("a").await.expect("the lock of the second was not touched");
            second.release("a").await.unwrap();
        }
    });
}

#[test]
fn locks_leases_and_elections_under_their_workloads() {
    let Some(server) = server("3.5.16") else { return };
    on_node(async |env| settle(&env, &server).await);
    let cases = [
        ("etcd/lease-lock-aware", Workload::Lock, "acquire"),
        ("etcd/lock-rpc-aware", Workload::Lock, "acquire"),
        ("etcd/lease-lock-lease-aware", Workload::Lease, "acquire"),
        ("etcd/campaign-rpc-aware", Workload::Election, "campaign"),
    ];
    for (recipe, workload, f) in cases {
        let endpoints = [server.endpoint.clone()];
        let (events, entries) = run(recipe, workload, &endpoints, 2000, Duration::from_secs(5));
        assert_sound(&events, &entries);
        let grants = count(&events, f, EventKind::Ok);
        eprintln!("{recipe}: {grants} grants, {} events", events.len());
        assert!(grants > if workload == Workload::Lock { 20 } else { 1 }, "{recipe}: {grants} grants");
    }
}

#[test]
fn a_lost_txn_reply_leaves_no_lock_behind() {
    let Some(server) = server("3.5.16") else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        let is_txn = |sent: &[u8]| sent.windows(6).any(|part| part == b"lock/a");
        let proxy = Proxy::start(&env, &server.endpoint, is_txn).await;
        let endpoints = [proxy.endpoint.clone(), server.endpoint.clone()];
        let mut lock = instance(&env, "etcd/lease-lock-aware", "c1", 10_000, &endpoints);
        assert_definite(lock.acquire("a", LIMIT * 2).await);
        assert!(proxy.swallowed() && !lock.usable());
        let mut other = instance(&env, "etcd/lease-lock-aware", "c2", 10_000, &endpoints[1..]);
        other.acquire("a", SHORT).await.unwrap();
    });
}

/// A keepalive without answer ends nothing else, and the next one goes out on a new connection.
#[test]
fn keepalives_have_a_connection_of_their_own() {
    let Some(server) = server("3.5.16") else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        for recipe in ["etcd/lease-lock", "etcd/lock-rpc"] {
            let mut lock = instance(&env, recipe, "c1", 9000, std::slice::from_ref(&server.endpoint));
            let grant = lock.acquire("a", LIMIT).await.unwrap();
            assert!(grant.token.is_some() && grant.deadline.is_none(), "it never looks at its clock");
            server.stop();
            assert_indeterminate(lock.renew("a").await);
            server.go_on();
            assert!(lock.usable(), "its other calls go on");
            assert_eq!(lock.renew("a").await.unwrap().token, grant.token);
            lock.release("a").await.unwrap();
        }
    });
}
