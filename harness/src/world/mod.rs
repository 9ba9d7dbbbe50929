//! Where nodes live. The run loop knows this trait and nothing of what is behind it.

pub mod docker;
pub mod sim;

use std::{collections::BTreeMap, rc::Rc, time::Duration};

use async_trait::async_trait;
pub use history::stalls::HARNESS;
use history::{Event, ResourceEntry};
use nemesis::{
    evidence::{Evidence, FaultResult},
    kind::FaultKind,
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
    /// A node, or the harness itself under the name [`HARNESS`], stood still; nanoseconds since the run began. May come
    /// long after other events of that time.
    Stalled {
        /// Which.
        node: String,
        /// When a tick was due.
        from: u64,
        /// When it came.
        to: u64,
    },
    /// A node's process ended though no fault killed it.
    Exited(String, String),
    /// A node is gone, with all that ran there; why, in words. Comes after everything that was heard of it.
    Gone(String, String),
    /// Something that must not happen: an agent said nonsense.
    Failed(String),
    /// The whole world is out of reach: nobody answers any more.
    Lost(String),
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
    /// The nodes on which it is known to have taken effect, also where the whole of it failed.
    pub hit: Vec<String>,
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
    /// Whether every client reaches every server and the resource, and servers each other where they must, from where
    /// they are: a network that never worked must give no verdict.
    async fn preflight(&self) -> Result<()>;
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
    /// Removes a fault. Called again, it does what is left to do, and its evidence is that of all calls.
    async fn heal(&self, injection: &Injection) -> Healed;
    /// What a reader needs to trust or repeat the run: images, versions, kernel.
    fn facts(&self) -> Map<String, Value>;
    /// Logs by node.
    fn logs(&self) -> BTreeMap<String, Vec<u8>>;
    /// For how long the harness itself has stood still until now: its own limits are to be extended by that much. Never
    /// in virtual time.
    fn stood_still(&self) -> Duration {
        Duration::ZERO
    }
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

/// Whether the evidence of one node shows that a fault touched it. Of a cut only what its end shows does.
pub fn touched(kind: FaultKind, shown: &Value) -> bool {
    let shown = shown.get("after").unwrap_or(shown);
    let a_process = || shown["pids"].as_array().is_some_and(|pids| !pids.is_empty());
    match kind {
        FaultKind::Partition => shown.get("error").is_none() && shown["packets"].as_u64() != Some(0),
        FaultKind::Pause | FaultKind::Clock => a_process(),
        FaultKind::Kill => shown.get("signal").is_some(),
    }
}

/// Evidence of the heal of a kill that failed.
pub const RUNS: &str = "its process ran already";

/// How long an agent or a probe may take for anything that is quick when all is well.
pub const SHORT: Duration = Duration::from_secs(10);
