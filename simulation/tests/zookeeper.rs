//! The ZooKeeper model: sessions, ephemeral nodes, watches, stale reads, servers without quorum.

use std::{cell::RefCell, rc::Rc, time::Duration};

use simulation::{
    Node, NodeId, Sim,
    zookeeper::{Kept, Options, Server, ZkClient},
};
use workloads::{
    api::zookeeper::{Answer, CreateMode, Open, ZkApi, ZkEvent},
    env::EnvApi,
    error::OpError,
};

const MS: u64 = 1_000_000;
const LIMIT: Duration = Duration::from_secs(3);
const SESSION: Duration = Duration::from_secs(2);
const OPTIONS: Options = Options { tick_ms: 200, sync_limit: 5, session_timeout_ms_max: 60_000 };

struct Ensemble {
    nodes: Vec<Node>,
    servers: RefCell<Vec<Rc<Server>>>,
    kept: Vec<Kept>,
    client: Node,
}

impl Ensemble {
    fn start(sim: &Sim) -> Rc<Ensemble> {
        let nodes: Vec<_> = (1..=3).map(|n| sim.node(&format!("s{n}"))).collect();
        let kept: Vec<_> = nodes.iter().map(|_| Kept::default()).collect();
        let ids: Vec<_> = nodes.iter().map(Node::id).collect();
        let servers = nodes.iter().zip(&kept).map(|(node, kept)| Server::start(node, &ids, OPTIONS, kept));
        let servers = RefCell::new(servers.collect());
        let ensemble = Rc::new(Ensemble { servers, nodes, kept, client: sim.node("c1") });
        sim.run_until(5000 * MS).unwrap();
        assert!(ensemble.servers.borrow().iter().all(|server| server.serves()));
        ensemble
    }

    async fn open(&self, server: usize) -> ZkClient {
        let open = Open::New { timeout: SESSION };
        ZkClient::open(&self.client, self.nodes[server].id(), LIMIT, open).await.unwrap()
    }

    fn follower(&self) -> usize {
        (0..3).find(|n| self.servers.borrow()[*n].leads().is_none()).expect("a follower")
    }

    fn leader(&self) -> usize {
        let servers = self.servers.borrow();
        (0..3).find(|n| self.nodes[*n].is_alive() && servers[*n].leads().is_some()).expect("a leader")
    }

    fn isolate(&self, n: usize) {
        for other in (0..3).filter(|other| *other != n) {
            self.nodes[n].cut(self.nodes[other].id());
            self.nodes[other].cut(self.nodes[n].id());
        }
    }

    fn restart(&self, n: usize) {
        self.nodes[n].revive();
        let ids: Vec<NodeId> = self.nodes.iter().map(Node::id).collect();
        self.servers.borrow_mut()[n] = Server::start(&self.nodes[n], &ids, OPTIONS, &self.kept[n]);
    }

    async fn sleep_ms(&self, ms: u64) {
        self.client.sleep(Duration::from_millis(ms)).await;
    }
}

#[test]
fn sequential_nodes_are_numbered_and_watches_fire_once() {
    let sim = Sim::new(1);
    let ensemble = Ensemble::start(&sim);
    sim.block_on(async move {
        let (a, b) = (ensemble.open(0).await, ensemble.open(1).await);
        a.create("/q", b"", CreateMode::Persistent).await.unwrap().done().unwrap();
        b.sync("/q").await.unwrap();
        assert_eq!(b.get_children("/q", true).await, Ok(Answer::Done(vec![])));
        let first = a.create("/q/n-", b"", CreateMode::EphemeralSequential).await.unwrap().done().unwrap();
        assert_eq!((first.0.as_str(), first.1.ephemeral_owner), ("/q/n-0000000000", a.session().id));
        assert_eq!(b.next_event().await, ZkEvent::ChildrenChanged("/q".into()));
        let second = b.create("/q/n-", b"", CreateMode::EphemeralSequential).await.unwrap().done().unwrap();
        assert_eq!(second.0, "/q/n-0000000001");
        assert!(second.1.czxid > first.1.czxid);
        b.sync("/q").await.unwrap();
        assert!(b.exists(&first.0, true).await.unwrap().is_some());
        a.close().await.unwrap();
        assert_eq!(b.next_event().await, ZkEvent::Deleted(first.0.clone()));
        assert_eq!(b.exists(&first.0, false).await, Ok(None));
    })
    .unwrap();
}

#[test]
fn a_silent_session_ends_and_a_pinging_one_lives() {
    let sim = Sim::new(2);
    let ensemble = Ensemble::start(&sim);
    sim.block_on(async move {
        let lives = ensemble.open(ensemble.follower()).await;
        let silent = ensemble.open(0).await;
        for (client, path) in [(&lives, "/lives"), (&silent, "/silent")] {
            client.create(path, b"", CreateMode::Ephemeral).await.unwrap().done().unwrap();
        }
        let session = silent.session();
        silent.detach();
        ensemble.sleep_ms(1500).await;
        lives.sync("/").await.unwrap();
        assert!(lives.exists("/silent", false).await.unwrap().is_some());
        ensemble.sleep_ms(1500).await;
        lives.sync("/").await.unwrap();
        assert_eq!(lives.exists("/silent", false).await, Ok(None));
        assert!(lives.exists("/lives", false).await.unwrap().is_some());
        let node = ensemble.nodes[1].id();
        let ended = ZkClient::open(&ensemble.client, node, LIMIT, Open::Attach(session)).await;
        assert!(matches!(ended, Err(OpError::Definite(_))));
    })
    .unwrap();
}

#[test]
fn a_session_moves_and_the_old_connection_loses_it() {
    let sim = Sim::new(3);
    let ensemble = Ensemble::start(&sim);
    sim.block_on(async move {
        let old = ensemble.open(0).await;
        old.create("/e", b"", CreateMode::Ephemeral).await.unwrap().done().unwrap();
        ensemble.sleep_ms(300).await;
        let open = Open::Attach(old.session());
        let new = ZkClient::open(&ensemble.client, ensemble.nodes[1].id(), LIMIT, open).await.unwrap();
        assert_eq!(new.session().id, old.session().id);
        let moved = old.create("/x", b"", CreateMode::Ephemeral).await;
        // The server hangs up without an answer, so that the client cannot know that nothing was done.
        assert!(matches!(moved, Err(OpError::Indeterminate(_))), "{moved:?}");
        new.sync("/").await.unwrap();
        assert_eq!(new.exists("/x", false).await, Ok(None));
        drop(old);
        ensemble.sleep_ms(4000).await;
        assert!(new.exists("/e", false).await.unwrap().is_some(), "it lives on with its new connection");
    })
    .unwrap();
}

#[test]
fn a_cut_off_server_reads_the_past_and_then_drops_its_clients() {
    let sim = Sim::new(4);
    let ensemble = Ensemble::start(&sim);
    sim.block_on(async move {
        let lonely = ensemble.follower();
        let (inside, outside) = (ensemble.open(lonely).await, ensemble.open((lonely + 1) % 3).await);
        outside.create("/k", b"old", CreateMode::Persistent).await.unwrap().done().unwrap();
        inside.sync("/k").await.unwrap();
        ensemble.isolate(lonely);
        outside.set_data("/k", b"new", -1).await.unwrap().done().unwrap();
        let stale = inside.get_data("/k", false).await.unwrap().done().unwrap();
        assert_eq!(stale.0, b"old", "a local read may be stale");
        assert_eq!(inside.next_event().await, ZkEvent::Disconnected);
        assert!(!inside.usable());
        assert!(matches!(inside.exists("/k", false).await, Err(OpError::Definite(_))));
    })
    .unwrap();
}

#[test]
fn a_new_leader_gives_sessions_their_whole_time_out() {
    let sim = Sim::new(5);
    let ensemble = Ensemble::start(&sim);
    sim.block_on(async move {
        let old = ensemble.leader();
        let (client, dying) = (ensemble.open((old + 1) % 3).await, ensemble.open((old + 2) % 3).await);
        dying.create("/e", b"", CreateMode::Ephemeral).await.unwrap().done().unwrap();
        dying.detach();
        let begun = ensemble.client.now();
        ensemble.nodes[old].kill();
        assert_eq!(client.next_event().await, ZkEvent::Disconnected, "without leader nobody is served");
        ensemble.sleep_ms(3000).await;
        ensemble.restart(old);
        ensemble.sleep_ms(2000).await;
        let again = ensemble.open(old).await;
        again.sync("/").await.unwrap();
        while again.exists("/e", false).await.unwrap().is_some() {
            ensemble.sleep_ms(50).await;
        }
        let lived = ensemble.client.now() - begun;
        assert!((2500 * MS..8000 * MS).contains(&lived), "{lived}");
    })
    .unwrap();
}
