//! Faults on containers: what each asks of the agents, and what their answers prove.

use std::{collections::BTreeMap, net::Ipv4Addr};

use futures_util::future::join_all;
use nemesis::{
    evidence::{Evidence, FaultResult},
    kind::FaultKind,
    partition::Cut,
};
use serde_json::{Value, json};

use super::{DockerWorld, link::Done};
use crate::{
    agent::protocol::Command,
    world::{Applied, Healed, Injection},
};

/// Faults under way, by node and kind, oldest first: two pauses of one node end with the later one.
pub type Active = BTreeMap<(String, FaultKind), Vec<(u32, i64)>>;

/// Whether a clock was moved, or set right, in a process that runs: one that was started meanwhile has it too.
fn has_process(evidence: &Evidence) -> bool {
    evidence.get("pids").and_then(Value::as_array).is_some_and(|pids| !pids.is_empty())
}

type Outcomes = Vec<(String, Result<Done, String>)>;

impl DockerWorld {
    pub(super) async fn apply_fault(&self, injection: &Injection) -> Applied {
        let fault = &injection.fault;
        let offset_ms = fault.params.by_ms.unwrap_or_default();
        for target in &injection.targets {
            let key = (target.clone(), fault.kind);
            self.inner.borrow_mut().active.entry(key).or_default().push((fault.id, offset_ms));
        }
        let outcomes = match fault.kind {
            FaultKind::Pause => self.on_each(&injection.targets, |_| Command::Pause).await,
            FaultKind::Kill => self.on_each(&injection.targets, |_| Command::Kill).await,
            FaultKind::Partition => self.on_cuts(&injection.cuts, |cut| self.cut(fault.id, cut)).await,
            FaultKind::Clock => {
                self.on_each(&injection.targets, |_| Command::Clock { offset_ns: offset_ms * 1_000_000 })
                    .await
            }
        };
        match fault.kind {
            FaultKind::Clock => self.sum_up(outcomes, has_process),
            _ => self.sum_up(outcomes, |_| true),
        }
    }

    pub(super) async fn heal_fault(&self, injection: &Injection) -> Healed {
        let fault = &injection.fault;
        let left = self.end_of(injection);
        // What still stands still or lies dead under another fault is that one's to heal.
        let free: Vec<String> =
            left.iter().filter(|(_, others)| others.is_empty()).map(|(node, _)| node.clone()).collect();
        let outcomes = match fault.kind {
            FaultKind::Pause => self.on_each(&free, |_| Command::Resume).await,
            FaultKind::Kill => self.start_again(&free, injection).await,
            FaultKind::Partition => {
                self.on_cuts(&injection.cuts, |_| Ok(Command::Mend { fault: fault.id })).await
            }
            FaultKind::Clock => {
                self.on_each(&injection.targets, |node| Command::Clock {
                    offset_ns: self.offset_of(node) * 1_000_000,
                })
                .await
            }
        };
        let healed = outcomes.iter().all(|(_, outcome)| outcome.is_ok());
        if fault.kind == FaultKind::Partition {
            // Only a cut shows at its end whether it met anything.
            let touched =
                |evidence: &Evidence| evidence.get("packets").and_then(Value::as_u64).unwrap_or_default() > 0;
            return Healed { fault: self.sum_up(outcomes, touched), healed };
        }
        let is_clock = fault.kind == FaultKind::Clock;
        let touched = |evidence: &Evidence| !is_clock || has_process(evidence);
        let Applied { at, result, evidence: mut after } = self.sum_up(outcomes, touched);
        if !is_clock {
            let held = left.into_iter().filter(|(_, others)| !others.is_empty());
            after.extend(held.map(|(node, others)| (node, json!({ "left_to": others }))));
        }
        let result = match (healed, is_clock) {
            (false, _) => FaultResult::Failed,
            (true, true) => result,
            (true, false) => FaultResult::Installed,
        };
        // Beside what the start showed, not in its place.
        let evidence = after.into_iter().map(|(node, after)| (node, json!({ "after": after }))).collect();
        Healed { fault: Applied { at, result, evidence }, healed }
    }

    /// Takes the fault off the nodes it hit; returns the other faults of its kind that are left on each.
    fn end_of(&self, injection: &Injection) -> Vec<(String, Vec<u32>)> {
        let active = &mut self.inner.borrow_mut().active;
        let ended = |node: &String| {
            let left = active.entry((node.clone(), injection.fault.kind)).or_default();
            left.retain(|(fault, _)| *fault != injection.fault.id);
            (node.clone(), left.iter().map(|(fault, _)| *fault).collect())
        };
        injection.targets.iter().map(ended).collect()
    }

    /// The offset in milliseconds that the latest clock fault still under way wants.
    fn offset_of(&self, node: &str) -> i64 {
        let inner = self.inner.borrow();
        let left = inner.active.get(&(node.to_string(), FaultKind::Clock));
        left.and_then(|left| left.last()).map_or(0, |(_, offset_ms)| *offset_ms)
    }

    async fn start_again(&self, nodes: &[String], injection: &Injection) -> Outcomes {
        join_all(nodes.iter().map(|node| async move {
            let started = match injection.restart_as.get(node) {
                Some(process) => self.start_client(node, Some(*process)).await.map(u64::from),
                None => self.start_server(node).await,
            };
            let now_ns = workloads::real_env::monotonic_ns().wrapping_add_signed(self.ahead_ns.get());
            let done = started
                .map(|pid| Done { result: Evidence::from_iter([("new_pid".into(), json!(pid))]), now_ns });
            (node.clone(), done)
        }))
        .await
    }

    async fn on_each(&self, nodes: &[String], command: impl Fn(&str) -> Command) -> Outcomes {
        join_all(nodes.iter().map(|name| {
            let command = command(name);
            async move {
                let outcome = match self.node(name) {
                    Ok(node) => node.call(command).await,
                    Err(why) => Err(why),
                };
                (name.clone(), outcome)
            }
        }))
        .await
    }

    async fn on_cuts(&self, cuts: &[Cut], command: impl Fn(&Cut) -> Result<Command, String>) -> Outcomes {
        join_all(cuts.iter().map(|cut| {
            let command = command(cut);
            async move {
                let outcome = match (self.node(&cut.node), command) {
                    (Ok(node), Ok(command)) => node.call(command).await,
                    (Err(why), _) | (_, Err(why)) => Err(why),
                };
                (cut.node.clone(), outcome)
            }
        }))
        .await
    }

    fn cut(&self, fault: u32, cut: &Cut) -> Result<Command, String> {
        let address = |peer: &String| self.node(peer).map(|node| node.address);
        let peers = cut.peers.iter().map(address).collect::<Result<Vec<Ipv4Addr>, String>>()?;
        Ok(Command::Cut { fault, peers, direction: cut.direction })
    }

    /// Failed if it failed anywhere; without effect if it touched nothing anywhere.
    fn sum_up(&self, outcomes: Outcomes, touched: impl Fn(&Evidence) -> bool) -> Applied {
        let mut evidence = Evidence::new();
        let mut result = FaultResult::NoEffect;
        let mut at = self.env.now();
        for (index, (node, outcome)) in outcomes.into_iter().enumerate() {
            match outcome {
                Ok(done) => {
                    at = if index == 0 {
                        self.since_start(done.now_ns)
                    } else {
                        at.max(self.since_start(done.now_ns))
                    };
                    if result == FaultResult::NoEffect && touched(&done.result) {
                        result = FaultResult::Installed;
                    }
                    evidence.insert(node, Value::Object(done.result));
                }
                Err(why) => {
                    result = FaultResult::Failed;
                    evidence.insert(node, json!({ "error": why }));
                }
            }
        }
        Applied { at, result, evidence }
    }
}
