//! Where nodes live. The run loop knows this trait and nothing of what is behind it.

pub mod docker;

use std::{collections::BTreeMap, rc::Rc, time::Duration};

use async_trait::async_trait;
use checkers::history::{Event, ResourceEntry};
use nemesis::{
    evidence::{Evidence, FaultResult},
    partition::Cut,
    schedule::ScheduledFault,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use workloads::{
    env::Env,
    workload::{ClientConfig, Phase},
};

use crate::{error::Result, experiment::Experiment};

/// What a world tells the run loop while it goes; called in the order in which things arrive.
pub enum WorldEvent {
    /// A client recorded something.
    History(Event),
    /// The protected resource served something: one line of `resource.jsonl`.
    Resource(ResourceEntry),
    /// A client finished, as it was told to.
    ClientEnded(String),
    /// A node's process ended though no fault killed it.
    Exited(String, String),
    /// Something that must not happen: a node ended by itself, an agent said nonsense.
    Failed(String),
}

/// Takes a world's events.
pub type WorldSink = Rc<dyn Fn(WorldEvent)>;

/// Names of a run's nodes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Nodes {
    /// `s1`, `s2`, …
    pub servers: Vec<String>,
    /// `c1`, `c2`, …
    pub clients: Vec<String>,
    /// `resource`
    pub resource: String,
}

/// A fault whose targets are chosen.
#[derive(Clone, Debug)]
pub struct Injection {
    /// What was scheduled.
    pub fault: ScheduledFault,
    /// The nodes it hits.
    pub targets: Vec<String>,
    /// For partitions: the rules, by node.
    pub cuts: Vec<Cut>,
    /// Process numbers under which killed clients start again at the heal, by node.
    pub restart_as: BTreeMap<String, u32>,
}

/// What came of applying or healing a fault.
#[derive(Clone, Debug)]
pub struct Applied {
    /// When it was done, nanoseconds since the run began.
    pub at: u64,
    /// Whether it took effect, as far as can be told now.
    pub result: FaultResult,
    /// What shows it.
    pub evidence: Evidence,
}

/// What came of a heal.
#[derive(Clone, Debug)]
pub struct Healed {
    /// When it was done, and the final result and evidence of the fault.
    pub fault: Applied,
    /// Whether the removal was verified.
    pub healed: bool,
}

/// Where nodes live.
#[async_trait(?Send)]
pub trait World {
    /// The run loop's own clock, chance and tasks in this world.
    fn env(&self) -> Env;
    /// Makes all nodes, starts the servers and the resource, and returns once each server has really been used.
    async fn provision(&self, experiment: &Experiment, sink: WorldSink) -> Result<Nodes>;
    /// The run begins: its clock is 0 now.
    async fn begin(&self) -> Result<()>;
    /// Starts all clients.
    async fn start_clients(&self) -> Result<()>;
    /// Tells all clients to go on to a phase.
    async fn advance(&self, phase: Phase);
    /// The server that leads now, if that can be told within a short time.
    async fn leader(&self) -> Option<String>;
    /// Applies a fault.
    async fn apply(&self, injection: &Injection) -> Applied;
    /// Removes a fault; may be called again.
    async fn heal(&self, injection: &Injection) -> Healed;
    /// What a reader needs to trust or repeat the run: images, versions, kernel.
    fn facts(&self) -> Map<String, Value>;
    /// Logs by node.
    fn logs(&self) -> BTreeMap<String, Vec<u8>>;
    /// Removes everything of this run.
    async fn teardown(&self) -> Result<()>;
}

/// The configuration that each client of an experiment gets.
pub fn client_configs(
    experiment: &Experiment,
    endpoints: &[workloads::api::Endpoint],
    resource: &workloads::api::Endpoint,
) -> Vec<ClientConfig> {
    (0..experiment.clients)
        .map(|client| ClientConfig {
            client,
            clients: experiment.clients,
            first_process: client,
            node: format!("c{}", client + 1),
            recipe: experiment.recipe.name.to_string(),
            workload: experiment.workload,
            ttl_ms: experiment.ttl.as_millis() as u64,
            settings: experiment.recipe_settings(),
            endpoints: endpoints.to_vec(),
            resource: resource.clone(),
            rates: experiment.rates.clone(),
        })
        .collect()
}

/// How long an agent or a probe may take for anything that is quick when all is well.
pub const SHORT: Duration = Duration::from_secs(10);
