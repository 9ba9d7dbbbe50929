//! Real servers, clients and the protected resource, each in a container of its own on a network of its own.

pub mod clean;
mod clock;
mod engine;
mod faults;
pub mod keeper;
pub mod layer;
pub mod link;
pub mod network;
pub mod node;
mod owner;
mod provision;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    time::Duration,
};

use async_trait::async_trait;
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use workloads::{env::Env, workload::Phase};

use self::{clock::RunClock, keeper::Keeper, node::Node};
pub use self::{
    engine::{Engine, EngineFacts, explain},
    layer::hex,
    owner::boot_id,
};
use super::{Applied, Healed, Injection, Nodes, SHORT, World, WorldSink};
use crate::{
    agent::protocol::Command,
    client::Start,
    error::{Error, Result},
    experiment::Experiment,
    probe::Probe,
    systems::{Family, ServerPlan},
};

/// A run's containers.
pub struct DockerWorld {
    engine: Engine,
    run: String,
    env: Env,
    clock: RunClock,
    /// CLOCK_MONOTONIC of the nodes' kernel less that of ours: 0 unless the engine is elsewhere.
    ahead_ns: Cell<i64>,
    inner: RefCell<Inner>,
    logs: Rc<RefCell<BTreeMap<String, Vec<u8>>>>,
    keeper: Keeper,
    /// Set once an end of a container is no longer a failure.
    leaving: Rc<Cell<bool>>,
}

#[derive(Default)]
struct Inner {
    nodes: BTreeMap<String, Rc<Node>>,
    names: Nodes,
    family: Option<Family>,
    plans: BTreeMap<String, ServerPlan>,
    starts: Vec<Start>,
    facts: Map<String, Value>,
    active: faults::Active,
}

impl DockerWorld {
    /// A world on this engine for the run of this name; nothing is made yet.
    pub fn new(engine: Engine, run: &str) -> Result<DockerWorld> {
        let clock = RunClock::default();
        Ok(DockerWorld {
            keeper: Keeper::start(run)?,
            engine,
            run: run.to_string(),
            env: Env::new(clock.clone()),
            clock,
            ahead_ns: Cell::new(0),
            inner: RefCell::default(),
            logs: Rc::default(),
            leaving: Rc::default(),
        })
    }

    fn node(&self, name: &str) -> Result<Rc<Node>, String> {
        self.inner.borrow().nodes.get(name).cloned().ok_or_else(|| format!("there is no node {name}"))
    }

    fn since_start(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.nodes_origin_ns())
    }

    /// CLOCK_MONOTONIC of the nodes' kernel at which the run began.
    fn nodes_origin_ns(&self) -> u64 {
        self.clock.origin_ns().wrapping_add_signed(self.ahead_ns.get())
    }

    /// Asks a server about itself, from its own node; tries for `wait`.
    async fn probe(&self, node: &Node, wait: Duration) -> Result<Probe, String> {
        let family = self.inner.borrow().family.ok_or("no system")?;
        let argv = ["/fencepost", "probe", family.name(), &format!("{}:{}", node.address, family.port())];
        let mut argv: Vec<String> = argv.map(String::from).to_vec();
        argv.push(wait.as_millis().to_string());
        let limit = wait + Duration::from_secs(5);
        let done = node
            .link
            .call(Command::Exec { argv, timeout_ms: limit.as_millis() as u64 }, limit + SHORT)
            .await?;
        let said =
            |name: &str| done.result.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_string();
        serde_json::from_str(&said("stdout")).map_err(|_| format!("{}: {}", node.name, said("stderr")))
    }
}

#[async_trait(?Send)]
impl World for DockerWorld {
    fn env(&self) -> Env {
        self.env.clone()
    }

    async fn provision(&self, experiment: &Experiment, sink: WorldSink) -> Result<Nodes> {
        self.provision_all(experiment, sink).await
    }

    async fn begin(&self) -> Result<()> {
        self.clock.begin();
        let origin = self.nodes_origin_ns().to_string();
        let resource = self.node("resource").map_err(Error::Harness)?;
        resource.call(Command::Input(origin)).await.map(drop).map_err(Error::Harness)
    }

    async fn start_clients(&self) -> Result<()> {
        let clients = self.inner.borrow().names.clients.clone();
        let started = join_all(clients.iter().map(|client| self.start_client(client, None))).await;
        started.into_iter().collect::<Result<Vec<u32>, String>>().map(drop).map_err(Error::Harness)
    }

    async fn advance(&self, phase: Phase) {
        let word = match phase {
            Phase::Run => return,
            Phase::Liveness => "liveness",
            Phase::Stop => "stop",
        };
        let clients = self.inner.borrow().names.clients.clone();
        join_all(clients.iter().map(|client| async move {
            // A client that was killed and could not be started again is missed when it does not end.
            if let Ok(node) = self.node(client) {
                let _ = node.call(Command::Input(word.into())).await;
            }
        }))
        .await;
    }

    async fn leader(&self) -> Option<String> {
        let servers: Vec<Rc<Node>> = {
            let inner = self.inner.borrow();
            inner.names.servers.iter().filter_map(|server| inner.nodes.get(server).cloned()).collect()
        };
        let probes = join_all(servers.iter().map(|server| self.probe(server, Duration::ZERO))).await;
        servers
            .iter()
            .zip(probes)
            .filter_map(|(server, probe)| {
                probe.ok().filter(|probe| probe.leads).map(|probe| (probe.term, server))
            })
            .max_by_key(|(term, _)| *term)
            .map(|(_, server)| server.name.clone())
    }

    async fn apply(&self, injection: &Injection) -> Applied {
        self.apply_fault(injection).await
    }

    async fn heal(&self, injection: &Injection) -> Healed {
        self.heal_fault(injection).await
    }

    fn facts(&self) -> Map<String, Value> {
        let mut facts = self.inner.borrow().facts.clone();
        facts.insert("engine".into(), json!(self.engine.facts));
        facts
    }

    fn logs(&self) -> BTreeMap<String, Vec<u8>> {
        self.logs.borrow().clone()
    }

    async fn teardown(&self) -> Result<()> {
        self.leaving.set(true);
        let removed = clean::remove_run(&self.engine, &self.run).await;
        self.keeper.dismiss();
        removed
    }
}
