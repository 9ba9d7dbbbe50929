//! Modelled servers.

use std::{cell::RefCell, rc::Rc, time::Duration};

use async_trait::async_trait;
use simulation::{
    Node, NodeId, Sim,
    disk::Disk,
    etcd::{self, EtcdClient},
    raft::Timing,
    redis::{self, Persistence, RedisClient},
    zookeeper::{self, ZkClient},
};
use workloads::{
    api::{Endpoint, EtcdApi, RedisApi, ResourceApi, SentinelApi, Stores, ZkApi, zookeeper::Open},
    env::{Env, EnvApi},
    error::{OpError, OpResult},
};

use crate::place::{Place, Scene, Strike};

/// What a node runs, and whether it leads.
trait Server {
    fn start(&self, node: &Node);
    fn leads(&self) -> bool;
    fn promote(&self) {
        panic!("it has no replicas");
    }
}

struct Redis(Disk<redis::Change>, Persistence);

impl Server for Redis {
    fn start(&self, node: &Node) {
        redis::start(node, &self.0, self.1);
    }

    fn leads(&self) -> bool {
        true
    }
}

struct Replicated(Option<NodeId>, RefCell<Option<Rc<redis::Replicated>>>);

impl Server for Replicated {
    fn start(&self, node: &Node) {
        let sentinel = redis::sentinel::Options { down_after_ms: 1000, failover_timeout_ms: 3000 };
        let options = redis::Options::of_version("7.0", Persistence::None, sentinel);
        *self.1.borrow_mut() = Some(redis::Replicated::start(node, options, &redis::Kept::new(self.0)));
    }

    fn leads(&self) -> bool {
        self.0.is_none()
    }

    fn promote(&self) {
        self.1.borrow().as_ref().expect("it was started").follow_from_now(None);
    }
}

struct Etcd(Vec<NodeId>, etcd::Options, etcd::Kept, RefCell<Option<Rc<etcd::Server>>>);

impl Server for Etcd {
    fn start(&self, node: &Node) {
        *self.3.borrow_mut() = Some(etcd::Server::start(node, &self.0, self.1, &self.2));
    }

    fn leads(&self) -> bool {
        self.3.borrow().as_ref().is_some_and(|server| server.leads().is_some())
    }
}

struct Zookeeper(Vec<NodeId>, zookeeper::Kept, RefCell<Option<Rc<zookeeper::Server>>>);

/// As the containers of this test are configured.
const ZOOKEEPER: zookeeper::Options =
    zookeeper::Options { tick_ms: 200, sync_limit: 5, session_timeout_ms_max: 60_000 };

impl Server for Zookeeper {
    fn start(&self, node: &Node) {
        *self.2.borrow_mut() = Some(zookeeper::Server::start(node, &self.0, ZOOKEEPER, &self.1));
    }

    fn leads(&self) -> bool {
        self.2.borrow().as_ref().is_some_and(|server| server.leads().is_some())
    }
}

struct Models {
    client: Node,
    nodes: Vec<Node>,
    servers: Vec<Box<dyn Server>>,
}

pub fn redis(
    persistence: Persistence,
    script: impl AsyncFnOnce(Scene) -> Vec<String> + 'static,
) -> Vec<String> {
    on_models(1, |_, _| Box::new(Redis(Disk::default(), persistence)), script)
}

/// A primary and its replica.
pub fn replicated(script: impl AsyncFnOnce(Scene) -> Vec<String> + 'static) -> Vec<String> {
    let server = |members: &[NodeId], number: usize| {
        Box::new(Replicated((number > 0).then(|| members[0]), RefCell::default())) as _
    };
    on_models(2, server, script)
}

pub fn etcd(size: usize, script: impl AsyncFnOnce(Scene) -> Vec<String> + 'static) -> Vec<String> {
    let options = etcd::Options::of_version("3.5.16", Timing::ETCD);
    let member = |members: &[NodeId], _: usize| {
        Box::new(Etcd(members.to_vec(), options, Default::default(), RefCell::default())) as _
    };
    on_models(size, member, script)
}

pub fn zookeeper(size: usize, script: impl AsyncFnOnce(Scene) -> Vec<String> + 'static) -> Vec<String> {
    let server = |members: &[NodeId], _: usize| {
        Box::new(Zookeeper(members.to_vec(), Default::default(), RefCell::default())) as _
    };
    on_models(size, server, script)
}

/// Models that have had time to find their leader, and a script on them.
fn on_models(
    size: usize,
    server: impl Fn(&[NodeId], usize) -> Box<dyn Server>,
    script: impl AsyncFnOnce(Scene) -> Vec<String> + 'static,
) -> Vec<String> {
    let sim = Sim::new(1);
    let nodes: Vec<Node> = (1..=size).map(|number| sim.node(&format!("s{number}"))).collect();
    let ids: Vec<NodeId> = nodes.iter().map(Node::id).collect();
    let servers: Vec<Box<dyn Server>> = (0..size).map(|number| server(&ids, number)).collect();
    nodes.iter().zip(&servers).for_each(|(node, server)| server.start(node));
    let models = Models { client: sim.node("c1"), nodes, servers };
    sim.run_until(5_000_000_000).expect("the models start");
    sim.block_on(async move { script(Scene::new(models)).await }).expect("the script ends")
}

#[async_trait(?Send)]
impl Place for Models {
    fn env(&self) -> Env {
        self.client.env()
    }

    fn stores(&self) -> Rc<dyn Stores> {
        Rc::new(Clients { node: self.client.clone(), servers: self.nodes.iter().map(Node::id).collect() })
    }

    fn endpoint(&self, server: usize) -> Endpoint {
        Endpoint { node: format!("s{}", server + 1), addr: server.to_string() }
    }

    fn strike(&self, server: usize, strike: Strike) {
        let node = &self.nodes[server];
        let took_effect = match strike {
            Strike::Pause => node.pause(),
            Strike::GoOn => node.resume(),
            Strike::Kill => node.kill(),
        };
        assert!(took_effect, "{strike:?} of server {server}");
    }

    async fn start(&self, server: usize) {
        self.nodes[server].revive();
        self.servers[server].start(&self.nodes[server]);
        self.client.sleep(Duration::from_millis(100)).await;
    }

    fn promote(&self, server: usize) {
        self.servers[server].promote();
    }

    fn leader(&self) -> Option<usize> {
        let leads = |n: &usize| self.nodes[*n].is_alive() && self.servers[*n].leads();
        (0..self.nodes.len()).find(leads)
    }
}

/// Connections of the client's node.
struct Clients {
    node: Node,
    servers: Vec<NodeId>,
}

impl Clients {
    fn find(&self, to: &Endpoint) -> NodeId {
        self.servers[to.addr.parse::<usize>().expect("a model's endpoint")]
    }
}

#[async_trait(?Send)]
impl Stores for Clients {
    async fn redis(&self, to: &Endpoint, limit: Duration) -> OpResult<Rc<dyn RedisApi>> {
        Ok(Rc::new(RedisClient::open(&self.node, self.find(to), limit).await?))
    }

    async fn sentinel(&self, _: &Endpoint, _: Duration) -> OpResult<Rc<dyn SentinelApi>> {
        Err(OpError::Definite("there is no sentinel here".into()))
    }

    async fn etcd(&self, to: &Endpoint, limit: Duration) -> OpResult<Rc<dyn EtcdApi>> {
        Ok(Rc::new(EtcdClient::open(&self.node, self.find(to), limit).await?))
    }

    async fn zookeeper(&self, to: &Endpoint, limit: Duration, open: Open) -> OpResult<Rc<dyn ZkApi>> {
        Ok(Rc::new(ZkClient::open(&self.node, self.find(to), limit, open).await?))
    }

    async fn resource(&self, _: &Endpoint, _: Duration) -> OpResult<Rc<dyn ResourceApi>> {
        Err(OpError::Definite("there is no resource here".into()))
    }
}
