//! The verbs on containers: what each asks of the node's agent.

use std::net::Ipv4Addr;

use async_trait::async_trait;
use nemesis::verbs::{
    Answer, ClockSet, Cut, Cutting, Delay, Done, Killed, Mended, NotDone, Paused, RanAlready, Resumed,
    Shaping, Started, Unshaped, Verbs,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{DockerWorld, link};
use crate::agent::protocol::Command;

/// What an agent answers to a start.
#[derive(Deserialize)]
struct Start {
    pid: u32,
    #[serde(default)]
    running: bool,
}

impl DockerWorld {
    async fn ask<T: DeserializeOwned>(&self, node: &str, command: Command) -> Answer<T> {
        self.read(self.node(node)?.call(command).await?)
    }

    fn addresses(&self, nodes: &[String]) -> Result<Vec<Ipv4Addr>, NotDone> {
        nodes.iter().map(|node| Ok(self.node(node)?.address)).collect()
    }

    /// An answer as the type that the agent wrote, on the run's clock.
    fn read<T: DeserializeOwned>(&self, done: link::Done) -> Answer<T> {
        let shown = serde_json::from_value(Value::Object(done.result));
        let shown = shown.map_err(|error| format!("an answer of its agent cannot be read: {error}"))?;
        Ok(Done { at: self.since_start(done.now_ns), shown })
    }
}

#[async_trait(?Send)]
impl Verbs for DockerWorld {
    async fn pause(&self, node: &str) -> Answer<Paused> {
        self.ask(node, Command::Pause).await
    }

    async fn resume(&self, node: &str) -> Answer<Resumed> {
        self.ask(node, Command::Resume).await
    }

    async fn kill(&self, node: &str) -> Answer<Killed> {
        self.ask(node, Command::Kill).await
    }

    async fn start(&self, node: &str, process: Option<u32>) -> Answer<Started> {
        let started = match process {
            Some(_) => self.start_client(node, process).await,
            None => self.start_server(node).await,
        };
        let started: Done<Start> = self.read(started?)?;
        Ok(started.map(|Start { pid, running }| match running {
            true => Started::Before { pid, note: RanAlready::RanAlready },
            false => Started::Anew { new_pid: pid },
        }))
    }

    async fn cut(&self, rules: u32, cut: &Cut) -> Answer<Cutting> {
        let peers = self.addresses(&cut.peers)?;
        self.ask(&cut.node, Command::Cut { fault: rules, peers, direction: cut.direction }).await
    }

    async fn mend(&self, rules: u32, node: &str) -> Answer<Mended> {
        self.ask(node, Command::Mend { fault: rules }).await
    }

    async fn shape(&self, rules: u32, of: &Cut, delay: Delay) -> Answer<Shaping> {
        let (peers, direction) = (self.addresses(&of.peers)?, of.direction);
        self.ask(&of.node, Command::Shape { fault: rules, peers, direction, delay }).await
    }

    async fn unshape(&self, rules: u32, node: &str) -> Answer<Unshaped> {
        self.ask(node, Command::Unshape { fault: rules }).await
    }

    /// All nodes have the same kernel.
    async fn can_shape(&self) -> Result<(), NotDone> {
        self.node("resource")?.call(Command::CanShape).await?;
        Ok(())
    }

    async fn set_clock(&self, node: &str, offset_ns: i64) -> Answer<ClockSet> {
        self.ask(node, Command::Clock { offset_ns }).await
    }
}
