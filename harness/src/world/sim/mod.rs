//! The simulation as a world of the run loop: the same names, targets and evidence as containers have.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod clients;
mod shapes;
mod stores;
mod verbs;

use std::{cell::RefCell, collections::BTreeMap, rc::Rc, time::Duration};

use async_trait::async_trait;
use history::record::Facts;
use workloads::{
    api::Endpoint,
    env::{Env, EnvApi},
    resource::Registers,
    workload::{ClientConfig, Control, Phase},
};

use self::stores::SimStores;
use crate::{
    error::{Error, Result},
    experiment::{Experiment, SimTable},
    systems::Service,
    world::{Nodes, World, WorldEvent, WorldSink, client_configs},
};
use simulation::{Node, NodeId, Sim, net::Quality, resource};

/// How long servers may take to find a leader, in virtual time.
const READY: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(20);

/// A run's simulated nodes.
pub struct SimWorld {
    harness: Node,
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    nodes: BTreeMap<String, Node>,
    names: Nodes,
    services: BTreeMap<String, Box<dyn Service>>,
    clients: BTreeMap<String, ClientConfig>,
    controls: BTreeMap<String, Control>,
    phase: Phase,
    stores: Option<Rc<stores::Directory>>,
    sink: Option<WorldSink>,
    /// Kills lose what disks have not synced.
    power_cut: bool,
    /// Rules in force, and what those showed that are gone, by number and node.
    rules: BTreeMap<(u32, String), verbs::Rules>,
    /// The same of delays.
    shapes: BTreeMap<(u32, String), shapes::Shape>,
    facts: Facts,
}

impl SimWorld {
    /// A world in this simulation; nothing is made yet.
    pub fn new(sim: &Sim) -> SimWorld {
        SimWorld { harness: sim.harness(), inner: RefCell::default() }
    }

    fn node(&self, name: &str) -> Option<Node> {
        self.inner.borrow().nodes.get(name).cloned()
    }

    /// The node of a simulation's number, by name.
    pub fn name_of(&self, id: NodeId) -> String {
        let inner = self.inner.borrow();
        let found = inner.nodes.iter().find(|(_, node)| node.id() == id);
        found.map_or_else(|| "harness".to_owned(), |(name, _)| name.clone())
    }

    fn make_nodes(&self, experiment: &Experiment) -> Nodes {
        let named =
            |prefix: &str, count: u32| (1..=count).map(|n| format!("{prefix}{n}")).collect::<Vec<_>>();
        let names = Nodes {
            servers: named("s", experiment.nodes),
            clients: named("c", experiment.clients),
            resource: "resource".into(),
        };
        let all = names.servers.iter().chain(&names.clients).chain([&names.resource]);
        let nodes: BTreeMap<_, _> = all.map(|name| (name.clone(), self.harness.sibling(name))).collect();
        link(&nodes, &experiment.sim);
        let mut inner = self.inner.borrow_mut();
        inner.power_cut = experiment.sim.power_cut;
        inner.nodes = nodes;
        inner.names = names.clone();
        names
    }

    fn start_resource(&self, node: &Node, sink: &WorldSink) {
        let (env, sink) = (node.env(), sink.clone());
        let mut registers = Registers::default();
        resource::start(node, move |request| {
            let (reply, entry) = registers.apply(env.now(), &request);
            sink(WorldEvent::Resource(entry));
            reply
        });
    }

    async fn until_ready(&self) -> Result<()> {
        let end = self.harness.now() + READY.as_nanos() as u64;
        let ready = || self.inner.borrow().services.values().all(|service| service.is_ready());
        while !ready() {
            if self.harness.now() > end {
                return Err(Error::Harness("the simulated servers found no leader".into()));
            }
            self.harness.sleep(LOOK).await;
        }
        Ok(())
    }

    fn endpoint(name: &str) -> Endpoint {
        Endpoint { node: name.to_owned(), addr: format!("sim:{name}") }
    }
}

/// Every way between two nodes is as the experiment says.
fn link(nodes: &BTreeMap<String, Node>, sim: &SimTable) {
    let quality = Quality {
        delay_ns: sim.delay_us * 1000,
        jitter_ns: sim.jitter_us * 1000,
        loss_ppm: sim.loss_ppm,
        duplicate_ppm: sim.duplicate_ppm,
        reorder_ppm: sim.reorder_ppm,
    };
    let pairs = nodes.values().flat_map(|from| nodes.values().map(move |to| (from, to)));
    pairs.filter(|_| !sim.is_default()).for_each(|(from, to)| from.set_quality(to.id(), quality));
}

#[async_trait(?Send)]
impl World for SimWorld {
    fn env(&self) -> Env {
        self.harness.env()
    }

    async fn provision(&self, experiment: &Experiment, sink: WorldSink) -> Result<Nodes> {
        let names = self.make_nodes(experiment);
        let servers: Vec<Node> = names.servers.iter().filter_map(|name| self.node(name)).collect();
        let ids: Vec<NodeId> = servers.iter().map(Node::id).collect();
        let (system, setup) = (experiment.system(), experiment.setup());
        for (name, node) in names.servers.iter().zip(&servers) {
            let service = (system.model)(&setup, node.id(), &ids);
            service.start(node);
            self.inner.borrow_mut().services.insert(name.clone(), service);
        }
        if let Some(node) = self.node(&names.resource) {
            self.start_resource(&node, &sink);
        }
        let endpoints: Vec<Endpoint> = names.servers.iter().map(|name| SimWorld::endpoint(name)).collect();
        let configs = client_configs(experiment, &endpoints, &SimWorld::endpoint(&names.resource));
        {
            let mut inner = self.inner.borrow_mut();
            let nodes = inner.nodes.iter().map(|(name, node)| (name.clone(), node.id())).collect();
            inner.stores = Some(Rc::new(stores::Directory::new(nodes)));
            inner.clients = configs.into_iter().map(|config| (config.node.clone(), config)).collect();
            inner.sink = Some(sink);
            let version = setup.modelled_version().to_owned();
            inner.facts = Facts { simulated: true, version: Some(version), ..Facts::default() };
        }
        self.until_ready().await?;
        Ok(names)
    }

    async fn preflight(&self) -> Result<()> {
        Ok(())
    }

    async fn begin(&self) -> Result<()> {
        self.harness.begin_run();
        Ok(())
    }

    async fn start_clients(&self) -> Result<()> {
        let clients = self.inner.borrow().names.clients.clone();
        clients.iter().for_each(|client| self.start_client(client, None));
        Ok(())
    }

    async fn advance(&self, phase: Phase) {
        let mut inner = self.inner.borrow_mut();
        inner.phase = phase;
        inner.controls.values().for_each(|control| control.advance(phase));
    }

    async fn leader(&self) -> Option<String> {
        let inner = self.inner.borrow();
        let running =
            |name: &str| inner.nodes.get(name).is_some_and(|node| node.is_alive() && !node.is_paused());
        let leading = inner.services.iter().filter(|(name, _)| running(name));
        let terms = leading.filter_map(|(name, service)| Some((service.leads()?, std::cmp::Reverse(name))));
        terms.max().map(|(_, name)| name.0.clone())
    }

    fn facts(&self) -> Facts {
        self.inner.borrow().facts.clone()
    }

    fn logs(&self) -> BTreeMap<String, Vec<u8>> {
        BTreeMap::new()
    }

    async fn teardown(&self) -> Result<()> {
        let nodes: Vec<Node> = self.inner.borrow().nodes.values().cloned().collect();
        nodes.iter().for_each(|node| {
            node.kill();
        });
        Ok(())
    }
}
