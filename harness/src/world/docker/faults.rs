//! Faults on containers: what each asks of the agents, and what their answers prove.

use std::{collections::BTreeMap, net::Ipv4Addr};

use futures_util::future::join_all;
use nemesis::{
    evidence::{Evidence, FaultResult},
    kind::FaultKind,
    partition::Cut,
};
use serde_json::{Value, json};

use super::{DockerWorld, link};
use crate::{
    agent::protocol::Command,
    world::{Applied, Healed, Injection, RUNS, touched},
};

/// Faults under way, by node and kind, oldest first: two pauses of one node end with the later one.
pub type Active = BTreeMap<(String, FaultKind), Vec<(u32, i64)>>;

/// What heals have done, by fault and node: one that is tried again does the rest.
pub type Done = BTreeMap<u32, BTreeMap<String, link::Done>>;

type Outcomes = Vec<(String, Result<link::Done, String>)>;

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
        self.sum_up(fault.kind, outcomes)
    }

    pub(super) async fn heal_fault(&self, injection: &Injection) -> Healed {
        let fault = &injection.fault;
        let mut left = self.end_of(injection);
        let mut cuts = injection.cuts.clone();
        {
            let inner = self.inner.borrow();
            let is_done =
                |node: &String| inner.healed.get(&fault.id).is_some_and(|done| done.contains_key(node));
            left.retain(|(node, _)| !is_done(node));
            cuts.retain(|cut| !is_done(&cut.node));
        }
        let (free, held): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, others)| others.is_empty());
        // What still stands still or lies dead under another fault is that one's to heal.
        let names = |nodes: &[(String, _)]| nodes.iter().map(|(node, _)| node.clone()).collect::<Vec<_>>();
        let is_clock = fault.kind == FaultKind::Clock;
        let outcomes = match fault.kind {
            FaultKind::Pause => self.on_each(&names(&free), |_| Command::Resume).await,
            FaultKind::Kill => self.start_again(&names(&free), injection).await,
            FaultKind::Partition => self.on_cuts(&cuts, |_| Ok(Command::Mend { fault: fault.id })).await,
            FaultKind::Clock => {
                let all = [names(&free), names(&held)].concat();
                self.on_each(&all, |node| Command::Clock { offset_ns: self.offset_of(node) * 1_000_000 })
                    .await
            }
        };
        let outcomes = self.with_earlier(fault.id, outcomes);
        let healed = outcomes.iter().all(|(_, outcome)| outcome.is_ok());
        let Applied { at, result, evidence: mut after, .. } = self.sum_up(fault.kind, outcomes);
        if fault.kind == FaultKind::Partition {
            // Only a cut shows at its end whether it met anything.
            return Healed { fault: Applied { at, result, evidence: after, hit: Vec::new() }, healed };
        }
        if !is_clock {
            after.extend(held.into_iter().map(|(node, others)| (node, json!({ "left_to": others }))));
        }
        let result = match (healed, is_clock) {
            (false, _) => FaultResult::Failed,
            (true, true) => result,
            (true, false) => FaultResult::Installed,
        };
        // Beside what the start showed, not in its place.
        let evidence = after.into_iter().map(|(node, after)| (node, json!({ "after": after }))).collect();
        Healed { fault: Applied { at, result, evidence, hit: Vec::new() }, healed }
    }

    /// Keeps what a heal has done, and puts what earlier tries did beside it.
    fn with_earlier(&self, fault: u32, outcomes: Outcomes) -> Outcomes {
        let mut inner = self.inner.borrow_mut();
        let done = inner.healed.entry(fault).or_default();
        let mut failed = Outcomes::new();
        for (node, outcome) in outcomes {
            match outcome {
                Ok(now) => drop(done.insert(node, now)),
                Err(why) => failed.push((node, Err(why))),
            }
        }
        done.iter().map(|(node, done)| (node.clone(), Ok(done.clone()))).chain(failed).collect()
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
                Some(process) => self.start_client(node, Some(*process)).await,
                None => self.start_server(node).await,
            };
            let shown = started.map(|link::Done { result, now_ns }| {
                let pid = &result["pid"];
                let shown = match result.contains_key("running") {
                    true => json!({ "pid": pid, "note": RUNS }),
                    false => json!({ "new_pid": pid }),
                };
                link::Done { result: shown.as_object().cloned().unwrap_or_default(), now_ns }
            });
            (node.clone(), shown)
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
    fn sum_up(&self, kind: FaultKind, outcomes: Outcomes) -> Applied {
        let (mut evidence, mut hit) = (Evidence::new(), Vec::new());
        let (mut at, mut has_failed) = (None, false);
        for (node, outcome) in outcomes {
            let shown = match outcome {
                Ok(done) => {
                    at = at.max(Some(self.since_start(done.now_ns)));
                    Value::Object(done.result)
                }
                Err(why) => {
                    has_failed = true;
                    json!({ "error": why })
                }
            };
            if touched(kind, &shown) {
                hit.push(node.clone());
            }
            evidence.insert(node, shown);
        }
        let result = match (has_failed, hit.is_empty()) {
            (true, _) => FaultResult::Failed,
            (false, true) => FaultResult::NoEffect,
            (false, false) => FaultResult::Installed,
        };
        Applied { at: at.unwrap_or_else(|| self.env.now()), result, evidence, hit }
    }
}
