use std::{rc::Rc, time::Duration};

use history::EventKind;
use workloads::{
    api::{
        ZkApi,
        zookeeper::{Answer, CreateMode, Open, ZkEvent},
    },
    env::Env,
    workload::Workload,
};

use crate::{
    proxy::Proxy,
    support::{LIMIT, Server, assert_definite, assert_indeterminate, eventually, instance, on_node, stores},
    workload::{assert_sound, count, run},
};

const SHORT: Duration = Duration::from_millis(300);
const NEW: Open = Open::New { timeout: Duration::from_secs(6) };

pub fn server() -> Option<Server> {
    server_with("")
}

fn server_with(more: &str) -> Option<Server> {
    let configure = format!(
        "printf 'tickTime=200\\ndataDir=/tmp/zk\\nclientPort=2181\\nadmin.enableServer=false\\n{more}' > /tmp/zk.cfg"
    );
    let run = "exec /opt/java/bin/java -XX:SharedArchiveFile=/opt/zookeeper/classes.jsa -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
        -Xmx256m -Dzookeeper.jmx.log4j.disable=true -Dzookeeper.forceSync=no -cp '/opt/zookeeper/lib/*' \
        org.apache.zookeeper.server.quorum.QuorumPeerMain /tmp/zk.cfg";
    Server::start("fencepost/zookeeper:3.8.0", 2181, &["sh", "-c", &format!("{configure} && {run}")])
}

/// Waits until the server serves sessions.
pub async fn settle(env: &Env, server: &Server) {
    while let Err(error) = stores(env).zookeeper(&server.endpoint, LIMIT, NEW).await {
        assert!(env.now() < 60_000_000_000, "ZooKeeper does not serve: {error}");
        env.sleep(SHORT).await;
    }
}

async fn open(env: &Env, server: &Server) -> Rc<dyn ZkApi> {
    stores(env).zookeeper(&server.endpoint, LIMIT, NEW).await.unwrap()
}

#[test]
fn every_call() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        let (zk, other) = (open(&env, &server).await, open(&env, &server).await);
        assert_eq!(zk.session().timeout, Duration::from_secs(4), "twenty ticks are the most");
        let created = zk.create("/d", b"one", CreateMode::Persistent).await.unwrap().done().unwrap();
        assert_eq!((created.0.as_str(), created.1.ephemeral_owner), ("/d", 0));
        assert_eq!(zk.create("/d", b"", CreateMode::Persistent).await, Ok(Answer::NodeExists));
        assert_eq!(zk.create("/x/y", b"", CreateMode::Persistent).await, Ok(Answer::NoNode));
        let (path, stat) =
            zk.create("/d/n-", b"", CreateMode::EphemeralSequential).await.unwrap().done().unwrap();
        assert_eq!(path, "/d/n-0000000000");
        assert_eq!(stat.ephemeral_owner, zk.session().id);
        assert!(stat.czxid > created.1.czxid);
        assert_definite(zk.create("/d/n-0000000000/child", b"", CreateMode::Persistent).await);
        other.sync("/d").await.unwrap();
        assert_eq!(other.exists(&path, true).await, Ok(Some(stat)));
        assert_eq!(other.exists("/d/none", false).await, Ok(None));
        assert_eq!(other.get_children("/d", true).await, Ok(Answer::Done(vec!["n-0000000000".into()])));
        assert_eq!(other.get_children("/none", false).await, Ok(Answer::NoNode));
        assert_eq!(other.get_data("/d", true).await.unwrap().done().unwrap().0, b"one");
        assert_eq!(zk.delete("/d", -1).await, Ok(Answer::NotEmpty));
        assert_eq!(zk.set_data("/d", b"two", 7).await, Ok(Answer::BadVersion));
        assert_eq!(zk.set_data("/d", b"two", 0).await.unwrap().done().unwrap().version, 1);
        assert_eq!(other.next_event().await, ZkEvent::DataChanged("/d".into()));
        let asked = zk.answered_before(u64::MAX);
        zk.close().await.unwrap();
        assert!(asked > 0 && !zk.usable());
        let events = [other.next_event().await, other.next_event().await];
        assert!(events.contains(&ZkEvent::Deleted(path)), "{events:?}");
        assert!(events.contains(&ZkEvent::ChildrenChanged("/d".into())), "{events:?}");
        assert_eq!(other.delete("/d", 1).await, Ok(Answer::Done(())));
        assert_eq!(other.delete("/d", -1).await, Ok(Answer::NoNode));
        assert_definite(zk.sync("/d").await);
    });
}

#[test]
fn pings_keep_a_session_and_silence_ends_it() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        let zk = open(&env, &server).await;
        zk.create("/e", b"", CreateMode::Ephemeral).await.unwrap().done().unwrap();
        let before = zk.answered_before(u64::MAX);
        env.sleep(Duration::from_secs(6)).await;
        assert!(zk.exists("/e", false).await.unwrap().is_some());
        assert!(zk.answered_before(u64::MAX) > before);

        let session = zk.session();
        zk.detach();
        let again =
            stores(&env).zookeeper(&server.endpoint, LIMIT, Open::Attach(session.clone())).await.unwrap();
        assert_eq!(again.exists("/e", false).await.unwrap().unwrap().ephemeral_owner, session.id);
        again.detach();
        assert_eq!(again.next_event().await, ZkEvent::Disconnected);
        env.sleep(Duration::from_secs(6)).await;
        assert_definite(
            stores(&env).zookeeper(&server.endpoint, LIMIT, Open::Attach(session)).await.map(|_| ()),
        );
        assert_eq!(open(&env, &server).await.exists("/e", false).await, Ok(None));
    });
}

#[test]
fn a_call_to_a_stopped_server_is_indeterminate_and_takes_effect_later() {
    let Some(server) = server_with("maxSessionTimeout=120000\\n") else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        // The session outlives the stop, however long a busy machine takes for it: else the call is refused.
        let long = Open::New { timeout: Duration::from_secs(120) };
        let zk = stores(&env).zookeeper(&server.endpoint, SHORT, long).await.unwrap();
        server.stop();
        assert_indeterminate(zk.create("/late", b"", CreateMode::Persistent).await);
        assert_definite(zk.exists("/late", false).await);
        assert_eq!(zk.next_event().await, ZkEvent::Disconnected);
        assert_indeterminate(
            stores(&env).zookeeper(&server.endpoint, SHORT, Open::Attach(zk.session())).await.map(|_| ()),
        );
        server.go_on();
        let again = open(&env, &server).await;
        eventually(&env, "it takes effect", async || again.exists("/late", false).await.unwrap().is_some())
            .await;
    });
}

#[test]
fn a_cut_connection_is_indeterminate() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        let zk = open(&env, &server).await;
        server.stop();
        let (outcome, ()) = tokio::join!(zk.sync("/"), async {
            env.sleep(Duration::from_millis(200)).await;
            server.kill();
        });
        assert_indeterminate(outcome);
        assert!(!zk.usable());
    });
}

#[test]
fn recipes_contend_renew_and_hand_over() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        for recipe in ["zookeeper/lock-aware", "zookeeper/election-aware"] {
            let endpoints = [server.endpoint.clone()];
            let mut first = instance(&env, recipe, "c1", 2000, &endpoints);
            let mut second = instance(&env, recipe, "c2", 2000, &endpoints);
            let grant = first.acquire("a", LIMIT).await.unwrap();
            // Less than the time-out by what has passed since the leader certainly heard of the session.
            let ttl = grant.ttl.unwrap();
            assert!((Duration::from_secs(1)..=Duration::from_secs(2)).contains(&ttl), "{ttl:?}");
            assert_eq!(grant.deadline, grant.asked.map(|asked| asked + ttl.as_nanos() as u64));
            assert_definite(second.acquire("a", SHORT).await);
            env.sleep(Duration::from_millis(600)).await;
            let renewed = first.renew("a").await.unwrap();
            assert!(renewed.token == grant.token && renewed.deadline > grant.deadline);
            assert_definite(second.release("a").await);
            if recipe == "zookeeper/election-aware" {
                let leader = second.observe("a").await.unwrap().unwrap();
                assert_eq!((leader.id.as_str(), leader.token), ("c1", grant.token));
            }
            let (handed_over, released) = tokio::join!(second.acquire("a", LIMIT), async {
                env.sleep(SHORT).await;
                first.release("a").await
            });
            released.unwrap();
            assert!(handed_over.unwrap().token > grant.token);
            second.release("a").await.unwrap();
        }
    });
}

#[test]
fn a_lost_create_reply_leaves_no_orphan() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        // Of a create packet the type is 15, and the last number says ephemeral and sequential.
        let is_create =
            |sent: &[u8]| sent.get(8..12) == Some(&15_i32.to_be_bytes()) && sent.ends_with(&[0, 0, 0, 3]);
        let proxy = Proxy::start(&env, &server.endpoint, is_create).await;
        let endpoints = [proxy.endpoint.clone(), server.endpoint.clone()];
        let mut lock = instance(&env, "zookeeper/lock-aware", "c1", 4000, &endpoints);
        let grant = lock.acquire("a", LIMIT).await.unwrap();
        assert!(proxy.swallowed(), "the reply was lost");
        let watcher = open(&env, &server).await;
        let children = watcher.get_children("/lock/a", false).await.unwrap().done().unwrap();
        assert_eq!(children.len(), 1, "{children:?}");
        lock.release("a").await.unwrap();
        assert_eq!(watcher.get_children("/lock/a", false).await, Ok(Answer::Done(vec![])));
        let mut other = instance(&env, "zookeeper/lock-aware", "c2", 4000, &endpoints[1..]);
        assert!(other.acquire("a", LIMIT).await.unwrap().token > grant.token);
    });
}

#[test]
fn without_another_server_a_lost_create_reply_is_indeterminate() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        let proxy = Proxy::start(&env, &server.endpoint, |sent| sent.ends_with(&[0, 0, 0, 3])).await;
        let endpoints = [proxy.endpoint.clone()];
        let mut lock = instance(&env, "zookeeper/lock-aware", "c1", 4000, &endpoints);
        proxy.refuse_new();
        assert_definite(lock.acquire("a", LIMIT).await);
        let proxy = Proxy::start(&env, &server.endpoint, |sent| sent.ends_with(&[0, 0, 0, 3])).await;
        let mut lock =
            instance(&env, "zookeeper/lock-aware", "c1", 4000, std::slice::from_ref(&proxy.endpoint));
        let (outcome, ()) = tokio::join!(lock.acquire("a", LIMIT), async {
            while !proxy.swallowed() {
                env.sleep(Duration::from_millis(5)).await;
            }
            proxy.refuse_new();
        });
        assert_indeterminate(outcome);
    });
}

#[test]
fn locks_leases_and_elections_under_their_workloads() {
    let Some(server) = server() else { return };
    on_node(async |env| settle(&env, &server).await);
    let cases = [
        ("zookeeper/lock-aware", Workload::Lock, "acquire"),
        ("zookeeper/lock-lease-aware", Workload::Lease, "acquire"),
        ("zookeeper/election-aware", Workload::Election, "campaign"),
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
fn a_release_without_answer_is_indeterminate() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        // Of a delete packet the type is 2.
        let is_delete = |sent: &[u8]| sent.get(8..12) == Some(&2_i32.to_be_bytes());
        let proxy = Proxy::start(&env, &server.endpoint, is_delete).await;
        let mut lock = instance(&env, "zookeeper/lock", "c1", 4000, std::slice::from_ref(&proxy.endpoint));
        lock.acquire("a", LIMIT).await.unwrap();
        assert_indeterminate(lock.release("a").await);
        assert!(proxy.swallowed());
    });
}

/// As every client of ZooKeeper does: a session outlives its connection.
#[test]
fn a_session_goes_on_at_another_server_when_its_connection_breaks() {
    let Some(server) = server() else { return };
    on_node(async |env| {
        settle(&env, &server).await;
        // Of a packet that asks for data the type is 4.
        let is_read = |sent: &[u8]| sent.get(8..12) == Some(&4_i32.to_be_bytes());
        let proxy = Proxy::start(&env, &server.endpoint, is_read).await;
        let endpoints = [proxy.endpoint.clone(), server.endpoint.clone()];
        let mut leader = instance(&env, "zookeeper/election-aware", "c1", 6000, &endpoints);
        let grant = leader.acquire("a", LIMIT).await.unwrap();
        let lost = leader.lost().expect("it listens");
        assert_indeterminate(leader.observe("a").await);
        assert!(proxy.swallowed() && !leader.usable());
        let renewed = leader.renew("a").await.unwrap();
        assert_eq!((renewed.token, &renewed.lease), (grant.token, &grant.lease));
        assert!(renewed.deadline > grant.deadline && !lost.is_raised());
        leader.release("a").await.unwrap();
    });
}
