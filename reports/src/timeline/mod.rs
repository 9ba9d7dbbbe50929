//! The history as something that can be drawn: lanes, operations and holds.
//!
//! Holds are those that the checks counted: they come with the run.

mod holds;
mod lanes;
mod operations;

use std::collections::HashMap;

use history::stalls::{self, Stall};

pub use holds::Hold;
pub use lanes::{Lane, LaneKind};
pub use operations::{Operation, Outcome};

use crate::run::RunData;

/// A run's history, ready to draw.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Nanoseconds since the run began: nothing worth drawing happens earlier, such as while servers start.
    pub start_ns: u64,
    /// Nanoseconds since the run began: nothing happens later.
    pub end_ns: u64,
    /// Clients first, then servers.
    pub lanes: Vec<Lane>,
    /// Names of locks and elections, in order of appearance.
    pub locks: Vec<String>,
    /// In order of invocation.
    pub operations: Vec<Operation>,
    /// In order of grant.
    pub holds: Vec<Hold>,
    /// What stood still, in order of its end.
    pub stalls: Vec<Stall>,
    by_index: HashMap<u64, usize>,
}

impl Timeline {
    /// Lays the run's history out.
    pub fn new(run: &RunData) -> Timeline {
        let end_ns = end_of(run);
        let stalls = stalls::of(&run.events);
        let lanes = lanes::of(run, &stalls);
        let operations = operations::of(&run.events, &lanes);
        let holds = holds::of(&run.holds.holds, &operations);
        let by_index = operations
            .iter()
            .enumerate()
            .flat_map(|(i, op)| op.events().map(move |event| (event, i)))
            .map(|(event, i)| (run.events[event].index, i))
            .collect();
        Timeline {
            start_ns: start_of(run, end_ns),
            end_ns,
            lanes,
            locks: run.holds.locks.clone(),
            operations,
            holds,
            stalls,
            by_index,
        }
    }

    /// The operation that the history event with this index belongs to, as a position in [`Timeline::operations`].
    pub fn operation_of(&self, index: u64) -> Option<usize> {
        self.by_index.get(&index).copied()
    }

    /// The lane of a node, as a position in [`Timeline::lanes`].
    pub fn lane_of(&self, node: &str) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.name == node)
    }

    /// How many lanes are of this kind.
    pub fn lanes_of(&self, kind: LaneKind) -> usize {
        self.lanes.iter().filter(|lane| lane.kind == kind).count()
    }
}

/// The first event; the run's own begin where that is hardly earlier.
fn start_of(run: &RunData, end_ns: u64) -> u64 {
    let first = run.events.iter().map(|event| event.time);
    let first = first.chain(run.judgement.faults.iter().map(|fault| fault.start_ns)).min().unwrap_or(0);
    if first < end_ns / 20 { 0 } else { first }
}

fn end_of(run: &RunData) -> u64 {
    let last_event = run.events.iter().map(|event| event.time).max();
    let faults = run.judgement.faults.iter().map(|fault| fault.end_ns.unwrap_or(fault.start_ns));
    faults.chain(last_event).max().unwrap_or(0)
}
