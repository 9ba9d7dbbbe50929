//! The etcd model: transactions, leases, watches, the lock and election services, and the known holes.

use std::{cell::RefCell, rc::Rc, time::Duration};

use simulation::{
    Node, NodeId, Sim,
    etcd::{EtcdClient, Kept, Options, Server},
    raft::Timing,
};
use workloads::{
    api::etcd::{Compare, EtcdApi, Range, Txn, TxnOp, WatchEvent},
    env::EnvApi,
    error::OpError,
};

const MS: u64 = 1_000_000;
const LIMIT: Duration = Duration::from_secs(5);
const LONG: Duration = Duration::from_secs(60);

struct Cluster {
    nodes: Vec<Node>,
    kept: Vec<Kept>,
    servers: RefCell<Vec<Rc<Server>>>,
    client: Node,
    options: Options,
}

impl Cluster {
    fn start(sim: &Sim, size: usize, version: &str) -> Rc<Cluster> {
        let options = Options::of_version(version, Timing::ETCD);
        let nodes: Vec<_> = (1..=size).map(|n| sim.node(&format!("s{n}"))).collect();
        let kept: Vec<_> = nodes.iter().map(|_| Kept::default()).collect();
        let ids: Vec<_> = nodes.iter().map(Node::id).collect();
        let servers = nodes.iter().zip(&kept).map(|(node, kept)| Server::start(node, &ids, options, kept));
        let servers = RefCell::new(servers.collect());
        let cluster = Rc::new(Cluster { servers, nodes, kept, client: sim.node("c1"), options });
        sim.run_until(3000 * MS).unwrap();
        cluster
    }

    async fn connect(&self, server: usize) -> EtcdClient {
        EtcdClient::open(&self.client, self.nodes[server].id(), LIMIT).await.unwrap()
    }

    fn leader(&self) -> usize {
        let servers = self.servers.borrow();
        let leads = |n: &usize| {
            self.nodes[*n].is_alive() && !self.nodes[*n].is_paused() && servers[*n].leads().is_some()
        };
        (0..self.nodes.len()).find(leads).expect("somebody leads")
    }

    fn restart(&self, n: usize) {
        self.nodes[n].revive();
        let ids: Vec<NodeId> = self.nodes.iter().map(Node::id).collect();
        self.servers.borrow_mut()[n] = Server::start(&self.nodes[n], &ids, self.options, &self.kept[n]);
    }

    async fn sleep_ms(&self, ms: u64) {
        self.client.sleep(Duration::from_millis(ms)).await;
    }
}

fn put(key: &str, value: &str, lease: i64) -> TxnOp {
    TxnOp::Put { key: key.into(), value: value.into(), lease }
}

fn one(key: &str) -> Range {
    Range { key: key.into(), prefix: false }
}

fn just(op: TxnOp) -> Txn {
    Txn { success: vec![op], ..Txn::default() }
}

#[test]
fn members_agree_and_reads_are_linearizable() {
    let sim = Sim::new(1);
    let cluster = Cluster::start(&sim, 3, "3.5.16");
    sim.block_on(async move {
        let (a, b) = (cluster.connect(0).await, cluster.connect(1).await);
        for round in 0..20 {
            let value = round.to_string();
            let reply = a.txn(just(put("k", &value, 0))).await.unwrap();
            let read = b.range(one("k")).await.unwrap();
            assert_eq!((read.revision, read.keys[0].value.as_str()), (reply.revision, value.as_str()));
        }
        let compares = vec![Compare::CreateRevision("k".into(), 0)];
        let reply = b.txn(Txn { compares, success: vec![], failure: vec![TxnOp::Delete("k".into())] }).await;
        assert!(!reply.unwrap().succeeded);
        assert!(a.range(one("k")).await.unwrap().keys.is_empty());
    })
    .unwrap();
}

#[test]
fn a_lease_ends_without_keepalives_and_lives_with_them() {
    let sim = Sim::new(2);
    let cluster = Cluster::start(&sim, 3, "3.5.16");
    sim.block_on(async move {
        let etcd = cluster.connect(0).await;
        assert_eq!(etcd.lease_grant(1).await.unwrap().ttl_s, 2, "the least TTL is one and a half elections");
        let lease = etcd.lease_grant(2).await.unwrap();
        etcd.txn(just(put("k", "v", lease.id))).await.unwrap();
        for _ in 0..5 {
            cluster.sleep_ms(1500).await;
            assert_eq!(etcd.lease_keepalive_once(lease.id).await, Ok(Some(2)));
        }
        cluster.sleep_ms(1900).await;
        assert_eq!(etcd.range(one("k")).await.unwrap().keys.len(), 1);
        cluster.sleep_ms(900).await;
        assert_eq!(etcd.range(one("k")).await.unwrap().keys.len(), 0);
        assert_eq!(etcd.lease_keepalive_once(lease.id).await, Ok(None));
        assert_eq!(etcd.lease_revoke(lease.id).await, Ok(false));
    })
    .unwrap();
}

#[test]
fn a_leader_change_extends_leases_and_answers_are_indeterminate_meanwhile() {
    let sim = Sim::new(3);
    let cluster = Cluster::start(&sim, 3, "3.5.16");
    sim.block_on(async move {
        let old = cluster.leader();
        let other = (old + 1) % 3;
        let (etcd, to_leader) = (cluster.connect(other).await, cluster.connect(old).await);
        let lease = etcd.lease_grant(2).await.unwrap();
        etcd.txn(just(put("k", "v", lease.id))).await.unwrap();
        let begun = cluster.client.now();
        cluster.nodes[old].kill();
        let lost = to_leader.txn(just(put("x", "", 0))).await;
        assert!(matches!(lost, Err(OpError::Indeterminate(_))), "{lost:?}");
        let refused = EtcdClient::open(&cluster.client, cluster.nodes[old].id(), LIMIT).await;
        assert!(matches!(refused, Err(OpError::Definite(_))));
        cluster.sleep_ms(3000).await;
        assert_eq!(etcd.range(one("k")).await.unwrap().keys.len(), 1, "extended past its TTL");
        cluster.restart(old);
        cluster.sleep_ms(4000).await;
        let back = cluster.connect(old).await;
        assert!(back.range(one("k")).await.unwrap().keys.is_empty(), "it ended in the end");
        assert!(cluster.client.now() - begun > 5000 * MS);
    })
    .unwrap();
}

#[test]
fn a_member_without_quorum_refuses_definitely_once_it_knows() {
    let sim = Sim::new(4);
    let cluster = Cluster::start(&sim, 3, "3.5.16");
    sim.block_on(async move {
        let lonely = 0;
        let etcd = cluster.connect(lonely).await;
        for other in 1..3 {
            cluster.nodes[lonely].cut(cluster.nodes[other].id());
            cluster.nodes[other].cut(cluster.nodes[lonely].id());
        }
        cluster.sleep_ms(4000).await;
        let refused = etcd.txn(just(put("k", "v", 0))).await;
        assert_eq!(refused, Err(OpError::Definite("etcdserver: no leader".into())));
    })
    .unwrap();
}

#[test]
fn a_watch_tells_the_past_from_a_revision_on_and_then_the_future() {
    let sim = Sim::new(5);
    let cluster = Cluster::start(&sim, 3, "3.5.16");
    sim.block_on(async move {
        let etcd = cluster.connect(0).await;
        let first = etcd.txn(just(put("k", "1", 0))).await.unwrap().revision;
        etcd.txn(just(put("other", "", 0))).await.unwrap();
        etcd.txn(just(TxnOp::Delete("k".into()))).await.unwrap();
        let mut watch = etcd.watch("k", first).await.unwrap();
        let past = watch.next().await.unwrap();
        assert!(
            matches!(&past[..], [WatchEvent::Put(kv), WatchEvent::Delete { .. }] if kv.value == "1"),
            "{past:?}"
        );
        let mut fresh = etcd.watch("k", 0).await.unwrap();
        cluster.connect(2).await.txn(just(put("k", "2", 0))).await.unwrap();
        for watch in [&mut watch, &mut fresh] {
            assert!(matches!(&watch.next().await.unwrap()[..], [WatchEvent::Put(kv)] if kv.value == "2"));
        }
    })
    .unwrap();
}

#[test]
fn the_lock_service_queues_and_a_cancelled_waiter_leaves() {
    let sim = Sim::new(6);
    let cluster = Cluster::start(&sim, 3, "3.5.16");
    sim.block_on(async move {
        let etcd = Rc::new(cluster.connect(1).await);
        let (a, b) = (etcd.lease_grant(60).await.unwrap().id, etcd.lease_grant(60).await.unwrap().id);
        let locked = etcd.lock("l", a, LONG).await.unwrap();
        assert_eq!(etcd.lock("l", a, LONG).await.unwrap().key, locked.key, "it is ours already");
        let waited = etcd.lock("l", b, Duration::from_millis(300)).await;
        assert!(matches!(waited, Err(OpError::Indeterminate(_))), "{waited:?}");
        assert!(etcd.usable());
        cluster.sleep_ms(100).await;
        let queue = etcd.range(Range { key: "l/".into(), prefix: true }).await.unwrap();
        assert_eq!(queue.keys.len(), 1, "the cancelled waiter left its place");
        let second = etcd.clone();
        let got = Rc::new(RefCell::new(None));
        let slot = got.clone();
        let task = async move { *slot.borrow_mut() = Some(second.lock("l", b, LONG).await) };
        let handle = cluster.client.spawn(Box::pin(task));
        cluster.sleep_ms(500).await;
        assert!(got.borrow().is_none());
        etcd.unlock(&locked.key).await.unwrap();
        cluster.sleep_ms(100).await;
        assert!(matches!(&*got.borrow(), Some(Ok(locked)) if locked.key.ends_with(&format!("{b:x}"))));
        drop(handle);
    })
    .unwrap();
}

/// A holds; B queues with a lease that nobody renews; C queues; B's lease ends; A unlocks.
fn both_waiters(version: &str) -> Vec<Result<i64, OpError>> {
    let sim = Sim::new(7);
    let cluster = Cluster::start(&sim, 3, version);
    let answers = Rc::new(RefCell::new(Vec::new()));
    let kept = answers.clone();
    sim.block_on(async move {
        let etcd = Rc::new(cluster.connect(0).await);
        let lease = |ttl| {
            let etcd = etcd.clone();
            async move { etcd.lease_grant(ttl).await.unwrap().id }
        };
        let (a, b, c) = (lease(60).await, lease(2).await, lease(60).await);
        let held = etcd.lock("l", a, LONG).await.unwrap();
        for lease in [b, c] {
            let (etcd, answers) = (etcd.clone(), answers.clone());
            cluster.client.run(async move {
                let locked = etcd.lock("l", lease, LONG).await;
                answers.borrow_mut().push(locked.map(|locked| locked.revision));
            });
            cluster.sleep_ms(200).await;
        }
        cluster.sleep_ms(4000).await;
        etcd.unlock(&held.key).await.unwrap();
        cluster.sleep_ms(500).await;
    })
    .unwrap();
    kept.take()
}

#[test]
fn the_lock_service_before_3_5_gives_one_lock_to_two() {
    let before = both_waiters("3.4.23");
    assert!(before.len() == 2 && before.iter().all(Result::is_ok), "{before:?}");
    let after = both_waiters("3.5.1");
    let expired = Err(OpError::Definite("mutex: session is expired".into()));
    assert!(after.len() == 2 && after.contains(&expired), "{after:?}");
    assert_eq!(after.iter().filter(|answer| answer.is_ok()).count(), 1);
}

#[test]
fn elections_are_won_resigned_and_seen() {
    let sim = Sim::new(8);
    let cluster = Cluster::start(&sim, 3, "3.5.16");
    sim.block_on(async move {
        let etcd = cluster.connect(0).await;
        assert_eq!(etcd.leader("e").await, Ok(None));
        let lease = etcd.lease_grant(60).await.unwrap().id;
        let key = etcd.campaign("e", lease, "c1", LONG).await.unwrap();
        let seen = etcd.leader("e").await.unwrap().unwrap();
        assert_eq!((seen.value.as_str(), seen.create_revision), ("c1", key.rev));
        etcd.resign(&key).await.unwrap();
        assert_eq!(etcd.leader("e").await, Ok(None));
        let missing = etcd.campaign("e", 4711, "c1", LONG).await;
        assert_eq!(missing, Err(OpError::Indeterminate("etcdserver: requested lease not found".into())));
    })
    .unwrap();
}

/// The leader stands still beyond the TTL while the client renews through another member.
/// Returns how long after the last good renewal the key was gone, if it was.
fn renewed_but_gone(version: &str, seed: u64) -> Option<u64> {
    let sim = Sim::new(seed);
    let cluster = Cluster::start(&sim, 3, version);
    sim.block_on(async move {
        let old = cluster.leader();
        let etcd = cluster.connect((old + 1) % 3).await;
        let lease = etcd.lease_grant(2).await.unwrap().id;
        etcd.txn(just(put("k", "v", lease))).await.unwrap();
        cluster.nodes[old].pause();
        let mut renewed = 0;
        for round in 0..20 {
            if round == 10 {
                cluster.nodes[old].resume();
            }
            // A call that was forwarded to the paused leader hangs: a fresh connection each time.
            let other = cluster.nodes[(old + 1) % 3].id();
            let etcd = EtcdClient::open(&cluster.client, other, Duration::from_millis(400)).await.unwrap();
            let asked = cluster.client.now();
            if etcd.lease_keepalive_once(lease).await == Ok(Some(2)) {
                renewed = asked;
            }
            let found = etcd.range(one("k")).await;
            if renewed > 0 && found.is_ok_and(|found| found.keys.is_empty()) {
                return Some(cluster.client.now() - renewed);
            }
            cluster.sleep_ms(100).await;
        }
        None
    })
    .unwrap()
}

#[test]
fn a_leader_that_stood_still_revokes_renewed_leases_only_in_old_versions() {
    let broken =
        |version: &str| (0..20).filter_map(|seed| renewed_but_gone(version, seed)).collect::<Vec<_>>();
    let old = broken("3.5.1");
    assert!(!old.is_empty() && old.iter().all(|after| *after < 2_000 * MS), "{old:?}");
    assert_eq!(broken("3.5.16"), Vec::<u64>::new());
}
