use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::At;
use crate::history::Row;

/// One fault as it went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FaultRecord {
    /// Number within the run, from 1.
    pub id: u32,
    /// `pause`, `kill`, `partition`, `clock`, …
    pub kind: String,
    /// Nodes it hit.
    pub targets: Vec<String>,
    /// Nanoseconds since the run began.
    pub start_ns: u64,
    /// Nanoseconds since the run began; `null` while it was never ended.
    pub end_ns: Option<u64>,
    /// `installed`, `no-effect` or `failed`.
    pub result: String,
    /// Whether its removal was verified.
    pub healed: bool,
    /// What shows that it took effect.
    pub evidence: Json,
}

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
    phases: Vec<Phase>,
}

impl Faults {
    pub(super) fn row(&mut self, row: Row<'_>, at: At) {
        match row.f().split_once('-') {
            None if row.f() == "phase" => self.phase(row, at),
            Some(("start", kind)) => self.start(kind, row),
            Some(("stop", _)) => self.stop(row),
            _ => {}
        }
    }

    pub(super) fn finish(self) -> (Vec<FaultRecord>, Vec<Phase>) {
        (self.faults, self.phases)
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
