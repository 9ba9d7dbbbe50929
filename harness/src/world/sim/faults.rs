//! Faults on simulated nodes, with the evidence that containers would leave.

use std::{collections::BTreeMap, time::Duration};

use nemesis::{
    evidence::{Evidence, FaultResult},
    kind::{FaultKind, partition::Direction},
    partition::Cut,
};
use serde_json::{Value, json};
use workloads::env::EnvApi;

use super::SimWorld;
use simulation::Node;

use crate::world::{Applied, Healed, Injection, RUNS, touched};

/// What a server takes from its start to its first answer.
const START: Duration = Duration::from_millis(100);

impl SimWorld {
    pub(super) fn apply_fault(&self, injection: &Injection) -> Applied {
        let fault = &injection.fault;
        let offset_ns = fault.params.by_ms.unwrap_or_default().saturating_mul(1_000_000);
        let (mut evidence, mut hit) = (Evidence::new(), Vec::new());
        for target in &injection.targets {
            let key = (target.clone(), fault.kind);
            self.inner.borrow_mut().active.entry(key).or_default().push((fault.id, offset_ns));
            let Some(node) = self.node(target) else { continue };
            let mut shown = strike(&node, fault.kind, offset_ns);
            if touched(fault.kind, &shown) {
                hit.push(target.clone());
            }
            if fault.kind == FaultKind::Kill
                && let Some(lost) = self.cut_power(target)
            {
                shown["unsynced_lost"] = json!(lost);
            }
            evidence.insert(target.clone(), shown);
        }
        for cut in &injection.cuts {
            self.cut(fault.id, cut);
            let rules = json!({ "rules_for": cut.peers, "direction": cut.direction });
            evidence.insert(cut.node.clone(), rules);
        }
        Applied { at: self.run_time(), result: result_of(fault.kind, &evidence), evidence, hit }
    }

    pub(super) async fn heal_fault(&self, injection: &Injection) -> Healed {
        let fault = &injection.fault;
        let mut evidence = Evidence::new();
        let mut healed = true;
        for cut in &injection.cuts {
            evidence.insert(cut.node.clone(), self.mend(fault.id, cut));
        }
        for target in &injection.targets {
            let left = self.end_of(target, injection);
            let (Some(node), false) = (self.node(target), fault.kind == FaultKind::Partition) else {
                continue;
            };
            let after = match fault.kind {
                FaultKind::Pause if left.is_empty() => {
                    node.resume();
                    healed &= !node.is_paused();
                    match node.is_alive() {
                        true => {
                            json!({ "state": if node.is_paused() { "T" } else { "S" }, "pids": [node.starts()] })
                        }
                        false => json!({ "state": "gone", "pids": [] }),
                    }
                }
                FaultKind::Kill if left.is_empty() => {
                    let after = self.start_again(target, &node, injection).await;
                    healed &= node.is_alive();
                    after
                }
                FaultKind::Clock => {
                    let offset = left.last().map_or(0, |(_, offset)| *offset);
                    node.set_clock_offset(offset);
                    healed &= node.clock_offset() == offset;
                    clock_evidence(&node, offset)
                }
                _ => json!({ "left_to": left.iter().map(|(fault, _)| fault).collect::<Vec<_>>() }),
            };
            evidence.insert(target.clone(), json!({ "after": after }));
        }
        let result = match fault.kind {
            FaultKind::Partition | FaultKind::Clock => result_of(fault.kind, &evidence),
            FaultKind::Pause | FaultKind::Kill => FaultResult::Installed,
        };
        Healed { fault: Applied { at: self.run_time(), result, evidence, hit: Vec::new() }, healed }
    }

    /// Where kills are power cuts: loses what the server's disk has not synced; how many records that were.
    fn cut_power(&self, target: &str) -> Option<usize> {
        let inner = self.inner.borrow();
        inner.services.get(target).filter(|_| inner.power_cut)?.lose_unsynced()
    }

    /// Takes the fault off a node; returns what is left of its kind there.
    fn end_of(&self, target: &str, injection: &Injection) -> Vec<(u32, i64)> {
        let mut inner = self.inner.borrow_mut();
        let left = inner.active.entry((target.to_owned(), injection.fault.kind)).or_default();
        left.retain(|(fault, _)| *fault != injection.fault.id);
        left.clone()
    }

    /// Shows the new process; or the one that runs, started by an earlier try or never killed.
    async fn start_again(&self, name: &str, node: &Node, injection: &Injection) -> Value {
        let key = (injection.fault.id, name.to_owned());
        if node.is_alive() {
            let earlier = self.inner.borrow().healed.get(&key).cloned();
            return earlier.unwrap_or_else(|| json!({ "pid": node.starts(), "note": RUNS }));
        }
        if !self.inner.borrow().clients.contains_key(name) {
            self.harness.sleep(START).await;
        }
        let starts = node.revive();
        match injection.restart_as.get(name) {
            Some(process) => self.start_client(name, Some(*process)),
            None => {
                let inner = self.inner.borrow();
                inner.services.get(name).inspect(|service| service.start(node));
            }
        }
        let shown = json!({ "new_pid": starts });
        self.inner.borrow_mut().healed.insert(key, shown.clone());
        shown
    }

    /// What a cut stops: for each peer the ways, and what each would be called as seen by the cut-off node.
    fn ways(&self, cut: &Cut) -> Vec<(String, &'static str, Node, Node)> {
        let Some(node) = self.node(&cut.node) else { return Vec::new() };
        let peers = cut.peers.iter().filter_map(|name| Some((name, self.node(name)?)));
        peers
            .flat_map(|(name, peer)| {
                let out = (name.clone(), "packets_out", node.clone(), peer.clone());
                let back = (name.clone(), "packets_in", peer, node.clone());
                match cut.direction {
                    Direction::In => vec![back],
                    Direction::Out => vec![out],
                    Direction::Both => vec![out, back],
                }
            })
            .collect()
    }

    fn cut(&self, fault: u32, cut: &Cut) {
        let ways = self.ways(cut);
        let before = ways.iter().map(|(_, _, from, to)| from.packets(to.id()).cut).collect();
        self.inner.borrow_mut().packets.insert((fault, cut.node.clone()), before);
        ways.iter().for_each(|(_, _, from, to)| from.cut(to.id()));
    }

    /// Shows the packets that the cut took. Mends once, however often it is called.
    fn mend(&self, fault: u32, cut: &Cut) -> Value {
        let key = (fault, cut.node.clone());
        if let Some(earlier) = self.inner.borrow().healed.get(&key) {
            return earlier.clone();
        }
        let mut dropped: BTreeMap<String, BTreeMap<&str, u64>> = BTreeMap::new();
        let before = self.inner.borrow_mut().packets.remove(&key);
        for ((peer, way, from, to), before) in self.ways(cut).into_iter().zip(before.unwrap_or_default()) {
            from.mend(to.id());
            let both = || BTreeMap::from([("packets_in", 0), ("packets_out", 0)]);
            let of_peer = dropped.entry(peer).or_insert_with(both);
            of_peer.insert(way, from.packets(to.id()).cut - before);
        }
        let packets: u64 = dropped.values().flat_map(BTreeMap::values).sum();
        let shown = json!({ "packets": packets, "dropped": dropped });
        self.inner.borrow_mut().healed.insert(key, shown.clone());
        shown
    }

    fn run_time(&self) -> u64 {
        EnvApi::now(&self.harness)
    }
}

/// Does it to one node, and shows what its agent would show. A simulated process' pid is the number of its start.
fn strike(node: &Node, kind: FaultKind, offset_ns: i64) -> Value {
    let pid = node.starts();
    match kind {
        FaultKind::Pause if node.is_alive() => {
            node.pause();
            json!({ "state": if node.is_paused() { "T" } else { "R" }, "pids": [pid], "threads": 1 })
        }
        FaultKind::Kill if node.kill() => json!({ "pid": pid, "signal": "SIGKILL" }),
        FaultKind::Pause | FaultKind::Kill => json!({ "state": "gone", "pids": [] }),
        FaultKind::Clock => {
            node.set_clock_offset(offset_ns);
            match node.clock_offset() {
                observed_ns if node.is_alive() && observed_ns != offset_ns => {
                    let ms = |ns: i64| ns / 1_000_000;
                    let (observed, wanted) = (ms(observed_ns), ms(offset_ns));
                    json!({ "error": format!("its clock is off by {observed} ms instead of {wanted} ms") })
                }
                _ => clock_evidence(node, offset_ns),
            }
        }
        FaultKind::Partition => json!({}),
    }
}

/// Where the clock was put and, where a process runs that could be asked, where it is.
fn clock_evidence(node: &Node, wanted_ns: i64) -> Value {
    let ms = |ns: i64| ns / 1_000_000;
    match node.is_alive() {
        true => {
            json!({ "offset_ms": ms(wanted_ns), "pids": [node.starts()], "observed_ms": [ms(node.clock_offset())] })
        }
        false => {
            json!({ "offset_ms": ms(wanted_ns), "pids": [], "note": "its process does not run; the next one will have it" })
        }
    }
}

/// Failed if it failed anywhere, as on containers; a cut shows at its end whether it met anything, and a clock whether
/// a process had it.
fn result_of(kind: FaultKind, evidence: &Evidence) -> FaultResult {
    match () {
        () if evidence.values().any(|shown| shown.get("error").is_some()) => FaultResult::Failed,
        () if !evidence.values().any(|shown| touched(kind, shown)) => FaultResult::NoEffect,
        () => FaultResult::Installed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simulation::Sim;

    #[test]
    fn a_clock_that_is_not_where_it_was_put_is_a_failure() {
        let sim = Sim::new(1);
        let node = sim.node("s1");
        let result = |offset_ns: i64| {
            let shown = strike(&node, FaultKind::Clock, offset_ns);
            result_of(FaultKind::Clock, &Evidence::from_iter([("s1".to_owned(), shown)]))
        };
        assert_eq!(result(3_000_000_000), FaultResult::Installed);
        assert_eq!(result(i64::MAX), FaultResult::Failed);
    }
}
