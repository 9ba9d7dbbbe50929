use std::time::Duration;

use futures_util::future::join;
use workloads::{
    api::etcd::{EtcdApi, EtcdWatch, Range, RangeReply, Txn, TxnOp, WatchEvent},
    error::OpResult,
};

use crate::place::{LIMIT, Scene, Strike, told};

const SHORT: Duration = Duration::from_millis(600);

async fn put(etcd: &dyn EtcdApi, key: &str, lease: i64) -> OpResult<i64> {
    let put = TxnOp::Put { key: key.into(), value: "v".into(), lease };
    etcd.txn(Txn { success: vec![put], ..Txn::default() }).await.map(|reply| reply.revision)
}

async fn delete(etcd: &dyn EtcdApi, key: &str) -> OpResult<i64> {
    let delete = TxnOp::Delete(key.into());
    etcd.txn(Txn { success: vec![delete], ..Txn::default() }).await.map(|reply| reply.revision)
}

async fn get(etcd: &dyn EtcdApi, key: &str) -> OpResult<(i64, usize)> {
    let found = etcd.range(Range { key: key.into(), prefix: false }).await;
    found.map(|RangeReply { revision, keys }| (revision, keys.len()))
}

/// The next events, in short: a put's or a deletion's revision.
async fn next(scene: &Scene, watch: &mut dyn EtcdWatch) -> String {
    let short = |event: WatchEvent| match event {
        WatchEvent::Put(kv) => format!("put at {}", kv.mod_revision),
        WatchEvent::Delete { mod_revision, .. } => format!("deleted at {mod_revision}"),
    };
    let events = scene.env().timeout(Duration::from_secs(8), watch.next()).await;
    match events {
        Ok(events) => told("watch", events.map(|events| events.into_iter().map(short).collect::<Vec<_>>())),
        Err(_) => "watch: silent".into(),
    }
}

/// Until somebody leads, and this member serves.
pub async fn settled(scene: &Scene, server: usize) {
    let serves = || async {
        // A connection on which a call was late is of no use any more.
        let etcd = scene.etcd(server, SHORT).await?;
        get(&*etcd, "k").await
    };
    scene.until("etcd serves", async || serves().await.is_ok()).await;
}

/// Leases end by themselves, or are ended, and take their keys along.
pub async fn leases(scene: Scene) -> Vec<String> {
    let etcd = scene.etcd(0, LIMIT).await.expect("a connection");
    let mut log = Vec::new();
    let lease = etcd.lease_grant(2).await.expect("a lease");
    log.push(format!("granted: {} s", lease.ttl_s));
    let written = put(&*etcd, "k", lease.id).await;
    log.push(told("put", written.clone()));
    let mut watch = etcd.watch("k", written.expect("a put")).await.expect("a watch");
    log.push(next(&scene, &mut *watch).await);
    scene.sleep_ms(1200).await;
    log.push(told("renew", etcd.lease_keepalive_once(lease.id).await));
    scene.sleep_ms(1500).await;
    log.push(told("get", get(&*etcd, "k").await));
    scene.sleep_ms(1700).await;
    log.push(told("renew late", etcd.lease_keepalive_once(lease.id).await));
    log.push(told("revoke late", etcd.lease_revoke(lease.id).await));
    log.push(told("get", get(&*etcd, "k").await));
    log.push(next(&scene, &mut *watch).await);
    log.push(told("put", put(&*etcd, "k", lease.id).await));
    log.push(told("lock", etcd.lock("l", lease.id, LIMIT).await));
    log.push(told("campaign", etcd.campaign("e", lease.id, "me", LIMIT).await));

    let (first, second) =
        (etcd.lease_grant(2).await.expect("a lease"), etcd.lease_grant(60).await.expect("a lease"));
    log.push(told("lock", etcd.lock("l", first.id, LIMIT).await.map(|locked| locked.revision)));
    let waited = etcd.lock("l", second.id, LIMIT).await;
    log.push(told("lock after its holder's end", waited.map(|locked| locked.revision)));
    log.push(told("revoke", etcd.lease_revoke(second.id).await));
    log.push(told("renew", etcd.lease_keepalive_once(second.id).await));
    log.push(told("get", get(&*etcd, "l/").await));
    log
}

/// Watches from the past, from the future, given up, and several at once.
pub async fn watches(scene: Scene) -> Vec<String> {
    let etcd = scene.etcd(0, LIMIT).await.expect("a connection");
    let mut log = Vec::new();
    let first = put(&*etcd, "w", 0).await.expect("a put");
    put(&*etcd, "other", 0).await.expect("a put");
    let deleted = delete(&*etcd, "w").await.expect("a deletion");
    put(&*etcd, "w", 0).await.expect("a put");
    for from in [first, deleted] {
        let mut watch = etcd.watch("w", from).await.expect("a watch");
        log.push(next(&scene, &mut *watch).await);
    }
    let mut now = etcd.watch("w", 0).await.expect("a watch");
    let mut future = etcd.watch("w", deleted + 4).await.expect("a watch");
    for _ in 0..3 {
        log.push(told("put", put(&*etcd, "w", 0).await));
        log.push(next(&scene, &mut *now).await);
    }
    log.push(next(&scene, &mut *future).await);
    drop((now, future));
    log.push(told("get", get(&*etcd, "w").await));
    log.push(format!("usable: {}", etcd.usable()));
    log
}

/// One member, killed between two calls and with calls under way, and paused.
pub async fn alone(scene: Scene) -> Vec<String> {
    let etcd = scene.etcd(0, LIMIT).await.expect("a connection");
    let mut log = Vec::new();
    let lease = etcd.lease_grant(3).await.expect("a lease");
    log.push(told("put", put(&*etcd, "k", lease.id).await));
    let other = etcd.lease_grant(60).await.expect("a lease");
    etcd.lock("l", lease.id, LIMIT).await.expect("a lock");
    let mut watch = etcd.watch("k", 0).await.expect("a watch");
    let dies = async {
        scene.sleep_ms(300).await;
        scene.strike(0, Strike::Kill).await;
    };
    let (waiting, ()) = join(etcd.lock("l", other.id, LIMIT), dies).await;
    log.push(told("lock", waiting));
    log.push(next(&scene, &mut *watch).await);
    log.push(format!("usable: {}", etcd.usable()));
    log.push(told("put", put(&*etcd, "k", 0).await));
    log.push(told("renew", etcd.lease_keepalive_once(lease.id).await));
    log.push(told("connect", scene.etcd(0, LIMIT).await.map(drop)));
    scene.sleep_ms(1500).await;
    scene.start(0).await;
    settled(&scene, 0).await;
    log.push(told("put on the old connection", put(&*etcd, "k", 0).await));
    let etcd = scene.etcd(0, LIMIT).await.expect("a connection");
    log.push(told("get", get(&*etcd, "k").await));
    log.push(told("renew", etcd.lease_keepalive_once(lease.id).await));
    scene.sleep_ms(5500).await;
    log.push(told("get", get(&*etcd, "k").await));

    let etcd = scene.etcd(0, SHORT).await.expect("a connection");
    scene.strike(0, Strike::Pause).await;
    log.push(told("put", put(&*etcd, "late", 0).await));
    log.push(format!("usable: {}", etcd.usable()));
    log.push(told("get", get(&*etcd, "late").await));
    scene.strike(0, Strike::GoOn).await;
    let etcd = scene.etcd(0, LIMIT).await.expect("a connection");
    log.push(told("get what came late", get(&*etcd, "late").await));
    scene.strike(0, Strike::Pause).await;
    let (put, ()) = join(put(&*etcd, "dying", 0), async {
        scene.sleep_ms(200).await;
        scene.strike(0, Strike::Kill).await;
    })
    .await;
    log.push(told("put", put));
    log
}

/// Three members: the leader dies; then another, and what is left has no leader.
pub async fn three(scene: Scene) -> Vec<String> {
    let leader = scene.leader().await;
    let (stays, goes) = ((leader + 1) % 3, (leader + 2) % 3);
    let mut log = Vec::new();
    let etcd = scene.etcd(stays, LIMIT).await.expect("a connection");
    let lease = etcd.lease_grant(3).await.expect("a lease");
    log.push(told("put", put(&*etcd, "k", lease.id).await));
    let mut watch = etcd.watch("w", 0).await.expect("a watch");
    scene.strike(leader, Strike::Kill).await;
    let hasty = scene.etcd(stays, SHORT).await.expect("a connection");
    log.push(told("put at once", put(&*hasty, "lost", 0).await));
    scene.sleep_ms(3000).await;
    settled(&scene, stays).await;
    log.push(told("get", get(&*etcd, "k").await.map(|found| found.1)));
    log.push(told("renew", etcd.lease_keepalive_once(lease.id).await));
    let written = put(&*etcd, "w", 0).await;
    log.push(format!("put: {}", written.is_ok()));
    let heard = next(&scene, &mut *watch).await;
    log.push(format!("heard: {}", written.is_ok_and(|at| heard == format!("watch: [\"put at {at}\"]"))));

    scene.strike(goes, Strike::Kill).await;
    let hasty = scene.etcd(stays, SHORT).await.expect("a connection");
    log.push(told("put at once", put(&*hasty, "lost", 0).await));
    scene.sleep_ms(3000).await;
    log.extend(leaderless(&scene, stays).await);
    log.push(next(&scene, &mut *watch).await);
    scene.start(goes).await;
    settled(&scene, stays).await;
    log.push(told(
        "get",
        get(&*scene.etcd(stays, LIMIT).await.expect("a connection"), "w").await.map(|found| found.1),
    ));
    log
}

/// Three members: the leader stands still for longer than an election, and comes back as one of the others.
pub async fn stalled(scene: Scene) -> Vec<String> {
    let leader = scene.leader().await;
    let other = (leader + 1) % 3;
    let mut log = Vec::new();
    let etcd = scene.etcd(other, LIMIT).await.expect("a connection");
    let lease = etcd.lease_grant(5).await.expect("a lease");
    log.push(told("put", put(&*etcd, "k", lease.id).await));
    let to_leader = scene.etcd(leader, SHORT).await.expect("a connection");
    // Before anybody can have been elected.
    let hasty = || async { scene.etcd(other, SHORT / 3).await.expect("a connection") };
    scene.strike(leader, Strike::Pause).await;
    log.push(told("renew at once", hasty().await.lease_keepalive_once(lease.id).await));
    log.push(told("get at once", get(&*hasty().await, "k").await));
    log.push(told("put at the leader", put(&*to_leader, "late", 0).await));
    log.push(format!("usable: {}", to_leader.usable()));
    scene.sleep_ms(3000).await;
    settled(&scene, other).await;
    log.push(told("renew", etcd.lease_keepalive_once(lease.id).await));
    log.push(told("get", get(&*etcd, "k").await.map(|found| found.1)));
    scene.strike(leader, Strike::GoOn).await;
    scene.sleep_ms(1500).await;
    log.push(format!("leads again: {}", scene.leader().await == leader));
    let back = scene.etcd(leader, LIMIT).await.expect("a connection");
    log.push(told("renew where it led", back.lease_keepalive_once(lease.id).await));
    log.push(told("get where it led", get(&*back, "k").await.map(|found| found.1)));
    log.push(told("revoke where it led", back.lease_revoke(lease.id).await));
    log.push(told("get", get(&*etcd, "k").await.map(|found| found.1)));
    log
}

/// Every call on a member that knows of no leader.
async fn leaderless(scene: &Scene, server: usize) -> Vec<String> {
    let etcd = scene.etcd(server, LIMIT).await.expect("a connection");
    let mut log = Vec::new();
    log.push(told("put", put(&*etcd, "k", 0).await));
    log.push(told("get", get(&*etcd, "k").await));
    log.push(told("grant", etcd.lease_grant(5).await));
    log.push(told("renew", etcd.lease_keepalive_once(7).await));
    log.push(told("revoke", etcd.lease_revoke(7).await));
    log.push(told("lock", etcd.lock("l", 7, LIMIT).await));
    log.push(told("unlock", etcd.unlock("l/7").await));
    log.push(told("campaign", etcd.campaign("e", 7, "me", LIMIT).await));
    log.push(told("leader", etcd.leader("e").await));
    log.push(told("watch", etcd.watch("k", 0).await.map(drop)));
    log.push(format!("usable: {}", etcd.usable()));
    log
}
