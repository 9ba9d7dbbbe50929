use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{At, LockTable};
use history::{
    Row,
    judgement::{Exit, FaultRecord},
    node::Role,
    stalls::Stall,
};

/// A phase of the run, which the next one ends.
#[derive(Clone, Debug)]
pub struct Phase {
    /// `faults`, `liveness` or `end`.
    pub name: String,
    /// When it begins.
    pub at: At,
    /// The grants' time to live in nanoseconds, where the phase says.
    pub ttl_ns: Option<u64>,
    /// How long the service may take to recover, in nanoseconds, where the phase says.
    pub bound_ns: Option<u64>,
}

/// Collects the nemesis' events.
#[derive(Default)]
pub(super) struct Faults {
    faults: Vec<FaultRecord>,
    stalls: Vec<Stall>,
    exits: Vec<Exit>,
    phases: Vec<Phase>,
}

impl Faults {
    pub(super) fn row(&mut self, row: Row<'_>, at: At) {
        match row.f().split_once('-') {
            None if row.f() == "phase" => self.phase(row, at),
            None if row.f() == "stall" => self.stall(row),
            None if row.f() == "exit" => self.exit(row, at),
            Some(("start", kind)) => self.start(kind, row),
            Some(("stop", _)) => self.stop(row),
            _ => {}
        }
    }

    /// A stall of a node that a fault of ours had hit meanwhile says nothing of the machine.
    pub(super) fn finish(self, table: &mut LockTable<'_>) {
        let Faults { faults, mut stalls, mut exits, phases } = self;
        let hit = |fault: &FaultRecord, stall: &Stall| {
            let meanwhile =
                fault.start_ns <= stall.to_ns && fault.end_ns.is_none_or(|end| end >= stall.from_ns);
            meanwhile && fault.targets.contains(&stall.node)
        };
        stalls.retain(|stall| !faults.iter().any(|fault| hit(fault, stall)));
        stalls.sort_by_key(|stall| stall.from_ns);
        exits.retain(|exit| !table.nodes().any(|client| client == exit.node));
        (table.faults, table.stalls, table.exits, table.phases) = (faults, stalls, exits, phases);
    }

    /// Of a client or of the resource it is the harness' failure, and no finding. Who told no role named servers `s1`,
    /// `s2` and so on.
    fn exit(&mut self, row: Row<'_>, at: At) {
        let value = row.value();
        let text = |key| value.get(key).as_str();
        let Some(node) = text("node") else { return };
        let by_name = || Role::of(node) == Some(Role::Server);
        if !text("role").map_or_else(by_name, |role| role == Role::Server.name()) {
            return;
        }
        let status = text("status").unwrap_or("nobody knows how").to_owned();
        self.exits.push(Exit { node: node.to_owned(), status, at_ns: at.time, event: at.index() });
    }

    fn stall(&mut self, row: Row<'_>) {
        let value = row.value();
        let ns = |key| value.get(key).as_u64();
        let (Some(node), Some(from_ns)) = (value.get("node").as_str(), ns("from_ns")) else { return };
        let to_ns = ns("to_ns").unwrap_or(row.time());
        self.stalls.push(Stall { node: node.to_owned(), from_ns, to_ns });
    }

    fn phase(&mut self, row: Row<'_>, at: At) {
        let value = row.value();
        let ns = |key| value.get(key).as_u64().map(|ms: u64| ms.saturating_mul(1_000_000));
        self.phases.push(Phase {
            name: value.get("phase").as_str().unwrap_or_default().to_owned(),
            at,
            ttl_ns: ns("ttl_ms"),
            bound_ns: ns("bound_ms"),
        });
    }

    fn start(&mut self, kind: &str, row: Row<'_>) {
        let value = row.value();
        let targets = value.get("targets").items().filter_map(|target| target.as_str());
        self.faults.push(FaultRecord {
            id: fault_id(row),
            kind: kind.to_owned(),
            targets: targets.map(str::to_owned).collect(),
            start_ns: row.time(),
            end_ns: None,
            result: value.get("result").as_str().unwrap_or("failed").to_owned(),
            healed: false,
            evidence: value.get("evidence").to_json(),
            phrase: String::new(),
            shown: BTreeMap::new(),
        });
    }

    fn stop(&mut self, row: Row<'_>) {
        let id = fault_id(row);
        let Some(fault) = self.faults.iter_mut().rev().find(|fault| fault.id == id) else { return };
        let value = row.value();
        fault.end_ns = Some(row.time());
        fault.healed = value.get("healed").as_bool() == Some(true);
        if let Some(result) = value.get("result").as_str() {
            result.clone_into(&mut fault.result);
        }
        merge(&mut fault.evidence, value.get("evidence").to_json());
    }
}

fn fault_id(row: Row<'_>) -> u32 {
    row.value().get("fault").as_u64().and_then(|id| u32::try_from(id).ok()).unwrap_or(0)
}

/// The evidence of the whole span completes that of its start.
fn merge(evidence: &mut Json, more: Json) {
    match (evidence, more) {
        (Json::Object(evidence), Json::Object(more)) => {
            for (key, value) in more {
                merge(evidence.entry(key).or_insert(Json::Null), value);
            }
        }
        (_, Json::Null) => {}
        (evidence, more) => *evidence = more,
    }
}
