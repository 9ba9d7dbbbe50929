//! Where nodes live. The run loop knows this trait and nothing of what is behind it.

pub mod docker;
pub mod sim;

use std::{collections::BTreeMap, rc::Rc, time::Duration};

use async_trait::async_trait;
use history::{Event, ResourceEntry, node, record::Facts};
pub use history::{node::Nodes, stalls::HARNESS};
use nemesis::verbs::Verbs;
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

/// Where nodes live, and what faults can do to them there.
#[async_trait(?Send)]
pub trait World: Verbs {
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
    /// What a reader needs to trust or repeat the run: images, versions, kernel.
    fn facts(&self) -> Facts;
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
            node: node::client(client + 1),
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
