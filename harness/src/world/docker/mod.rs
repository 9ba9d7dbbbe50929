//! Real servers, clients and the protected resource, each in a container of its own on a network of its own.

pub mod binary;
pub mod clean;
mod clock;
mod ends;
pub mod keeper;
pub mod layer;
pub mod link;
mod log;
pub mod loss;
pub mod network;
pub mod node;
mod preflight;
mod provision;
mod verbs;
mod watch;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    time::Duration,
};

use async_trait::async_trait;
use futures_util::future::join_all;
use history::record::Facts;
use serde_json::Value;
use workloads::{env::Env, workload::Phase};

use self::{clock::RunClock, ends::FirstEnd, keeper::Keeper, log::Log, loss::Loss, node::Node};
use super::{Nodes, SHORT, World, WorldEvent, WorldSink};
use crate::{
    agent::protocol::Command,
    client::Start,
    engine::Engine,
    error::{Error, Result},
    experiment::Experiment,
    own_ticks::OwnTicks,
    systems::{Probe, ServerPlan, System},
};

/// How long the nodes of a run are tried to be removed though the engine seems to be lost; the keeper goes on.
const LAST_TRY: Duration = Duration::from_secs(3);

/// A run's containers.
pub struct DockerWorld {
    engine: Engine,
    run: String,
    env: Env,
    clock: RunClock,
    ticks: OwnTicks,
    loss: Loss,
    inner: RefCell<Inner>,
    logs: Rc<RefCell<BTreeMap<String, Log>>>,
    keeper: Keeper,
    ends: FirstEnd,
    /// Set once an end of a container is no longer a failure.
    leaving: Rc<Cell<bool>>,
    /// Whether every request to make something was answered: then nothing can come into being any more.
    settled: Cell<bool>,
}

#[derive(Default)]
struct Inner {
    nodes: BTreeMap<String, Rc<Node>>,
    names: Nodes,
    system: Option<&'static System>,
    plans: BTreeMap<String, ServerPlan>,
    starts: Vec<Start>,
    facts: Facts,
    watch: watch::Watch,
}

impl DockerWorld {
    /// A world on this engine for the run of this name; nothing is made yet.
    pub fn new(engine: Engine, run: &str) -> Result<DockerWorld> {
        let clock = RunClock::default();
        Ok(DockerWorld {
            keeper: Keeper::start(run)?,
            ends: FirstEnd::default(),
            engine,
            run: run.to_string(),
            env: Env::new(clock.clone()),
            clock,
            ticks: OwnTicks::default(),
            inner: RefCell::default(),
            logs: Rc::default(),
            loss: Loss::default(),
            leaving: Rc::default(),
            settled: Cell::new(false),
        })
    }

    /// From now on it is noticed when the engine is lost, and told.
    fn attend(&self, sink: WorldSink) {
        let (engine, ticks, loss) = (self.engine.clone(), self.ticks.clone(), self.loss.clone());
        tokio::task::spawn_local(async move {
            tokio::select! {
                biased;
                _ = loss.until() => {}
                why = engine.until_silent(&ticks) => loss.declare(&why),
            }
            sink(WorldEvent::Lost(loss.until().await));
        });
    }

    fn node(&self, name: &str) -> Result<Rc<Node>, String> {
        self.inner.borrow().nodes.get(name).cloned().ok_or_else(|| format!("there is no node {name}"))
    }

    fn all_nodes(&self) -> Vec<Rc<Node>> {
        self.inner.borrow().nodes.values().cloned().collect()
    }

    fn since_start(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.clock.nodes_origin_ns())
    }

    /// Asks a server about itself, from its own node; tries for `wait`.
    async fn probe(&self, node: &Node, wait: Duration) -> Result<Probe, String> {
        let system = self.inner.borrow().system.ok_or("no system")?;
        let argv = ["/fencepost", "probe", system.name, &format!("{}:{}", node.address, system.port())];
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
        self.tick(experiment.ttl, sink.clone());
        self.attend(sink.clone());
        let provisioned = self.loss.or(self.provision_all(experiment, sink)).await;
        let nodes = provisioned.map_err(Error::Unavailable)??;
        self.settled.set(true);
        Ok(nodes)
    }

    async fn preflight(&self) -> Result<()> {
        self.check_network().await
    }

    async fn begin(&self) -> Result<()> {
        self.clock.begin();
        let origin = self.clock.nodes_origin_ns().to_string();
        let resource = self.node("resource").map_err(Error::Harness)?;
        resource.call(Command::Input(origin)).await.map_err(Error::Harness)?;
        self.watch().await.map_err(Error::Harness)
    }

    async fn start_clients(&self) -> Result<()> {
        let clients = self.inner.borrow().names.clients.clone();
        let started = join_all(clients.iter().map(|client| self.start_client(client, None))).await;
        started.into_iter().collect::<Result<Vec<_>, String>>().map(drop).map_err(Error::Harness)
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

    fn facts(&self) -> Facts {
        let (engine, pressure) = (Some(self.engine.facts.clone()), self.pressure());
        Facts { engine, pressure, ..self.inner.borrow().facts.clone() }
    }

    fn logs(&self) -> BTreeMap<String, Vec<u8>> {
        self.logs.borrow().iter().map(|(node, log)| (node.clone(), log.text())).collect()
    }

    fn stood_still(&self) -> Duration {
        self.ticks.stood_still()
    }

    async fn teardown(&self) -> Result<()> {
        self.unwatch().await;
        self.leaving.set(true);
        let given_up = async {
            let told = self.loss.until().await;
            tokio::time::sleep(LAST_TRY).await;
            told
        };
        let removed = tokio::select! {
            biased;
            removed = clean::remove_run(&self.engine, &self.run, Duration::ZERO) => removed,
            told = given_up => Err(Error::Harness(told)),
        };
        if removed.is_ok() && self.settled.get() {
            self.keeper.dismiss();
        }
        removed
    }
}
