//! The process that a client node runs: a workload's loop, its events as lines on stdout, its phases as lines on stdin.

use std::rc::Rc;

use history::{Event, EventKind, Process, node};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader};
use workloads::{
    env::Env,
    real_env::RealEnv,
    workload::{ClientConfig, Control, EventSink, Phase},
};

use crate::{
    agent::{line::write_line, protocol::Tag},
    error::{Error, Result},
};

/// First line of a client's stdin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Start {
    /// CLOCK_MONOTONIC at which the run began, nanoseconds.
    pub start_ns: u64,
    /// Seed of this node's generator.
    pub seed: u64,
    /// What to do.
    pub config: ClientConfig,
}

/// What a client says of itself, on lines tagged [`Tag::Status`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It has finished, as it was told to.
    Ended,
}

/// Runs until told to stop. Reads [`Start`], then phases by name.
pub fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::Harness(format!("failed to start the client's runtime: {error}")))?;
    tokio::task::LocalSet::new().block_on(&runtime, run())
}

async fn run() -> Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let first = lines.next_line().await.ok().flatten().unwrap_or_default();
    let start: Start = serde_json::from_str(&first)
        .map_err(|error| Error::Harness(format!("failed to read the client's configuration: {error}")))?;
    let env = Env::new(RealEnv::new(start.start_ns, start.seed));
    let control = Control::default();
    let phases = control.clone();
    tokio::task::spawn_local(async move {
        while let Ok(Some(line)) = lines.next_line().await {
            match line.as_str() {
                "liveness" => phases.advance(Phase::Liveness),
                "stop" => phases.advance(Phase::Stop),
                _ => {}
            }
        }
    });
    let stores: Rc<dyn workloads::api::Stores> = Rc::new(workloads::clients::RealStores::new(env.clone()));
    workloads::workload::run_client(env, start.config, stores, Rc::new(Lines), control)
        .await
        .map_err(|error| Error::Harness(format!("the client failed: {error}")))?;
    write_line(Tag::Status, &Status::Ended);
    Ok(())
}

/// Records operations that do nothing, as fast as it can: what the recorder is measured with.
pub fn flood(process: u32, operations: u64) {
    let node = Some(node::client(process + 1));
    for number in 0..operations {
        for kind in [EventKind::Invoke, EventKind::Ok] {
            let event = Event {
                index: 0,
                time: workloads::real_env::monotonic_ns(),
                process: Process::Client(process),
                node: node.clone(),
                kind,
                f: "write".into(),
                value: serde_json::json!({ "lock": "a", "id": format!("{process}-{number}") }),
                error: None,
            };
            Lines.record(event);
        }
    }
}

/// Writes each event at once: an invocation must be out before its request is, or a killed client's operation
/// would be missing in the history.
struct Lines;

impl EventSink for Lines {
    fn record(&self, event: Event) {
        write_line(Tag::Event, &event);
    }
}
