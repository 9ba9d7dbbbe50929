use std::{rc::Rc, time::Duration};

use futures_util::future::join;
use workloads::{
    api::{
        ZkApi,
        zookeeper::{CreateMode, Open, Session},
    },
    error::{OpError, OpResult},
};

use crate::place::{Scene, Strike, told};

const SHORT: Duration = Duration::from_millis(500);

async fn new(scene: &Scene, server: usize, timeout_ms: u64) -> Rc<dyn ZkApi> {
    let open = Open::New { timeout: Duration::from_millis(timeout_ms) };
    scene.zookeeper(server, open).await.expect("a session")
}

async fn create(zk: &dyn ZkApi, path: &str, mode: CreateMode) -> String {
    told("create", zk.create(path, b"", mode).await.map(|answer| answer.done().map(|(path, _)| path)))
}

async fn exists(zk: &dyn ZkApi, path: &str, watch: bool) -> String {
    told("exists", zk.exists(path, watch).await.map(|stat| stat.is_some()))
}

async fn event(scene: &Scene, zk: &dyn ZkApi, within_ms: u64) -> String {
    let event = scene.env().timeout(Duration::from_millis(within_ms), zk.next_event()).await;
    event.map_or_else(|_| "event: none".into(), |event| format!("event: {event:?}"))
}

/// Tries until the session is taken, as one that has not ended.
async fn attached(scene: &Scene, server: usize, session: &Session) -> OpResult<Rc<dyn ZkApi>> {
    for _ in 0..150 {
        match scene.zookeeper_within(server, Open::Attach(session.clone()), SHORT).await {
            Err(OpError::Indeterminate(_)) => scene.sleep_ms(100).await,
            decided => return decided,
        }
    }
    Err(OpError::Indeterminate("for 15 s".into()))
}

/// A session ends by silence or by being closed, and takes its nodes along; watches tell it once.
pub async fn sessions(scene: Scene) -> Vec<String> {
    let (silent, other) = (new(&scene, 0, 1000).await, new(&scene, 0, 4000).await);
    let mut log = Vec::new();
    log.push(create(&*silent, "/e", CreateMode::Ephemeral).await);
    log.push(exists(&*other, "/e", true).await);
    // Pings keep it alive.
    scene.sleep_ms(2000).await;
    log.push(event(&scene, &*other, 100).await);
    let session = silent.session();
    silent.detach();
    log.push(create(&*silent, "/f", CreateMode::Ephemeral).await);
    scene.sleep_ms(500).await;
    log.push(exists(&*other, "/e", false).await);
    log.push(event(&scene, &*other, 3000).await);
    log.push(exists(&*other, "/e", false).await);
    log.push(told("attach", scene.zookeeper(0, Open::Attach(session.clone())).await.map(drop)));
    let forged = Session { password: vec![0; 16], ..other.session() };
    log.push(told("attach without its secret", scene.zookeeper(0, Open::Attach(forged)).await.map(drop)));
    scene.sleep_ms(100).await;
    log.push(event(&scene, &*other, 100).await);
    log.push(exists(&*other, "/e", true).await);
    let other = attached(&scene, 0, &other.session()).await.expect("the session");
    log.push(exists(&*other, "/e", true).await);

    // Once only.
    let third = new(&scene, 0, 4000).await;
    for _ in 0..2 {
        log.push(create(&*third, "/e", CreateMode::Ephemeral).await);
        log.push(told("delete", third.delete("/e", -1).await));
    }
    log.push(event(&scene, &*other, 500).await);
    log.push(event(&scene, &*other, 500).await);

    log.push(create(&*third, "/e", CreateMode::Ephemeral).await);
    log.push(told(
        "children",
        other
            .get_children("/", true)
            .await
            .map(|found| found.done().map(|names| names.contains(&"e".into()))),
    ));
    log.push(told("close", third.close().await));
    log.push(create(&*third, "/f", CreateMode::Ephemeral).await);
    log.push(event(&scene, &*other, 500).await);
    log.push(exists(&*other, "/e", false).await);
    log.push(told("attach", scene.zookeeper(0, Open::Attach(third.session())).await.map(drop)));
    log
}

/// A session that is taken over by another connection.
pub async fn moved(scene: Scene) -> Vec<String> {
    let (old, other) = (new(&scene, 0, 4000).await, new(&scene, 0, 4000).await);
    let mut log = Vec::new();
    log.push(create(&*old, "/e", CreateMode::Ephemeral).await);
    log.push(exists(&*old, "/w", true).await);
    let taken = scene.zookeeper(0, Open::Attach(old.session())).await.expect("the session");
    log.push(exists(&*taken, "/e", false).await);
    scene.sleep_ms(200).await;
    log.push(create(&*old, "/moved", CreateMode::Ephemeral).await);
    log.push(event(&scene, &*old, 1000).await);
    log.push(create(&*old, "/moved", CreateMode::Ephemeral).await);
    log.push(exists(&*taken, "/moved", false).await);
    // The watch stayed behind with its connection.
    log.push(create(&*other, "/w", CreateMode::Ephemeral).await);
    log.push(event(&scene, &*taken, 500).await);
    log.push(told("close", taken.close().await));
    log.push(exists(&*other, "/e", false).await);
    log
}

/// One server, killed between two calls and with one under way, and paused.
pub async fn alone(scene: Scene) -> Vec<String> {
    let zk = new(&scene, 0, 3000).await;
    let mut log = Vec::new();
    log.push(create(&*zk, "/k", CreateMode::Persistent).await);
    log.push(create(&*zk, "/e", CreateMode::Ephemeral).await);
    scene.strike(0, Strike::Kill).await;
    log.push(event(&scene, &*zk, 1000).await);
    log.push(format!("usable: {}", zk.usable()));
    log.push(exists(&*zk, "/k", false).await);
    let new_session = Open::New { timeout: Duration::from_secs(1) };
    log.push(told("connect", scene.zookeeper(0, new_session).await.map(drop)));
    log.push(told("attach", scene.zookeeper(0, Open::Attach(zk.session())).await.map(drop)));
    scene.start(0).await;
    let again = attached(&scene, 0, &zk.session()).await;
    log.push(told("attach", again.as_ref().map(drop).map_err(Clone::clone)));
    let zk = again.expect("the session lives on");
    log.push(exists(&*zk, "/k", false).await);
    log.push(exists(&*zk, "/e", false).await);

    scene.strike(0, Strike::Pause).await;
    let (session, late) = (zk.session(), zk.create("/late", b"", CreateMode::Ephemeral));
    let late = scene.env().timeout(Duration::from_secs(6), late).await;
    log.push(told("create", late.expect("the limit").map(drop)));
    log.push(event(&scene, &*zk, 100).await);
    log.push(create(&*zk, "/later", CreateMode::Ephemeral).await);
    let new_session = || Open::New { timeout: Duration::from_secs(1) };
    log.push(told("connect", scene.zookeeper_within(0, new_session(), SHORT).await.map(drop)));
    log.push(told("attach", scene.zookeeper_within(0, Open::Attach(session), SHORT).await.map(drop)));
    scene.strike(0, Strike::GoOn).await;
    scene.sleep_ms(300).await;
    let zk = new(&scene, 0, 3000).await;
    scene.strike(0, Strike::Pause).await;
    let (set, ()) = join(zk.set_data("/k", b"", -1), async {
        scene.sleep_ms(200).await;
        scene.strike(0, Strike::Kill).await;
    })
    .await;
    log.push(told("set", set.map(drop)));
    log
}

/// Three servers: reads of a follower, a session that moves, the leader's death, and no leader.
pub async fn three(scene: Scene) -> Vec<String> {
    let leader = scene.leader().await;
    let (stays, goes) = ((leader + 1) % 3, (leader + 2) % 3);
    let mut log = Vec::new();
    let (zk, other) = (new(&scene, stays, 4000).await, new(&scene, goes, 4000).await);
    log.push(create(&*zk, "/k", CreateMode::Persistent).await);
    log.push(told("sync", other.sync("/k").await));
    log.push(exists(&*other, "/k", false).await);
    log.push(create(&*zk, "/e", CreateMode::Ephemeral).await);
    other.sync("/e").await.expect("a sync");
    log.push(exists(&*other, "/e", true).await);

    // From one follower to the other.
    zk.detach();
    let moved = attached(&scene, goes, &zk.session()).await.expect("the session");
    log.push(exists(&*moved, "/e", false).await);
    log.push(create(&*moved, "/m", CreateMode::Ephemeral).await);
    // And away from under it.
    let back = attached(&scene, stays, &moved.session()).await.expect("the session");
    scene.sleep_ms(200).await;
    log.push(create(&*moved, "/moved", CreateMode::Ephemeral).await);
    log.push(event(&scene, &*moved, 1000).await);
    log.push(told("close", back.close().await));
    log.push(event(&scene, &*other, 1000).await);

    let zk = new(&scene, stays, 4000).await;
    log.push(create(&*zk, "/e", CreateMode::Ephemeral).await);
    scene.strike(leader, Strike::Kill).await;
    log.push(event(&scene, &*zk, 3000).await);
    log.push(create(&*zk, "/f", CreateMode::Ephemeral).await);
    let again = attached(&scene, stays, &zk.session()).await;
    log.push(told("attach", again.as_ref().map(drop).map_err(Clone::clone)));
    let zk = again.expect("the session lives on");
    log.push(exists(&*zk, "/e", false).await);

    scene.strike(goes, Strike::Kill).await;
    log.push(event(&scene, &*zk, 3000).await);
    let new_session = Open::New { timeout: Duration::from_secs(1) };
    log.push(told("connect", scene.zookeeper(stays, new_session).await.map(drop)));
    log.push(told("attach", scene.zookeeper(stays, Open::Attach(zk.session())).await.map(drop)));
    scene.start(goes).await;
    let again = attached(&scene, stays, &zk.session()).await;
    log.push(told("attach", again.as_ref().map(drop).map_err(Clone::clone)));
    let zk = again.expect("the session lives on");
    log.push(exists(&*zk, "/e", false).await);
    log.push(told("close", zk.close().await));
    log
}

/// Three servers: a follower stands still, and its client goes on elsewhere; a session ends by silence for all.
pub async fn stalled(scene: Scene) -> Vec<String> {
    let leader = scene.leader().await;
    let (stays, stalls) = ((leader + 1) % 3, (leader + 2) % 3);
    let mut log = Vec::new();
    let (zk, other) = (new(&scene, stalls, 6000).await, new(&scene, stays, 6000).await);
    let silent = new(&scene, stalls, 1000).await;
    log.push(create(&*zk, "/e", CreateMode::Ephemeral).await);
    log.push(create(&*silent, "/silent", CreateMode::Ephemeral).await);
    other.sync("/e").await.expect("a sync");
    log.push(exists(&*other, "/silent", true).await);
    scene.strike(stalls, Strike::Pause).await;
    log.push(create(&*zk, "/late", CreateMode::Persistent).await);
    log.push(event(&scene, &*zk, 100).await);
    log.push(event(&scene, &*other, 3000).await);
    log.push(exists(&*other, "/e", false).await);
    let again = attached(&scene, stays, &zk.session()).await;
    log.push(told("attach", again.as_ref().map(drop).map_err(Clone::clone)));
    let zk = again.expect("the session lives on");
    log.push(exists(&*zk, "/e", false).await);
    scene.strike(stalls, Strike::GoOn).await;
    log.push(told("attach", attached(&scene, stays, &silent.session()).await.map(drop)));
    log.push(told("close", zk.close().await));
    log.push(exists(&*other, "/e", false).await);
    log
}
