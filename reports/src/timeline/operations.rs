use std::collections::HashMap;

use history::{Event, EventKind, Process, is_notice};

use super::lanes::{Lane, name_of};

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It happened.
    Ok,
    /// It certainly did not.
    Fail,
    /// Nobody knows.
    Info,
    /// The history ends before it did.
    Open,
}

/// An invocation with its completion. Events are positions in the run's list of events.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Position in the timeline's lanes.
    pub lane: usize,
    /// The process number it ran under.
    pub process: u32,
    /// `acquire`, `write`, …
    pub f: String,
    /// The invocation; none for a completion that nothing invoked.
    pub invoke: Option<usize>,
    /// The completion, unless it is open.
    pub complete: Option<usize>,
    /// Nanoseconds since the run began.
    pub start_ns: u64,
    /// Nanoseconds since the run began; none while open.
    pub end_ns: Option<u64>,
    /// How it ended.
    pub outcome: Outcome,
}

impl Operation {
    /// Its one or two events.
    pub fn events(&self) -> impl Iterator<Item = usize> {
        self.invoke.into_iter().chain(self.complete)
    }

    /// From invocation to completion in nanoseconds; none while open.
    pub fn duration_ns(&self) -> Option<u64> {
        self.end_ns.map(|end| end.saturating_sub(self.start_ns))
    }
}

/// Pairs events. A history that breaks the rules is still drawn: what has no partner stands alone.
pub(super) fn of(events: &[Event], lanes: &[Lane]) -> Vec<Operation> {
    let lane_by_name: HashMap<&str, usize> =
        lanes.iter().enumerate().map(|(i, lane)| (lane.name.as_str(), i)).collect();
    let mut operations: Vec<Operation> = Vec::with_capacity(events.len() / 2);
    // What a client learns may come while an operation of its is pending: it pairs by itself.
    let mut pending: HashMap<(u32, bool), usize> = HashMap::new();
    for (position, event) in events.iter().enumerate() {
        let Process::Client(process) = event.process else { continue };
        let place = (process, is_notice(&event.f));
        let partner = pending.remove(&place).filter(|&i| operations[i].f == event.f);
        if event.kind == EventKind::Invoke {
            pending.insert(place, operations.len());
        } else if let Some(i) = partner {
            complete(&mut operations[i], position, event);
            continue;
        }
        let Some(&lane) = lane_by_name.get(name_of(event.node.as_deref(), process).as_str()) else {
            continue;
        };
        operations.push(begin(lane, process, position, event));
    }
    operations
}

fn begin(lane: usize, process: u32, position: usize, event: &Event) -> Operation {
    let mut operation = Operation {
        lane,
        process,
        f: event.f.clone(),
        invoke: Some(position),
        complete: None,
        start_ns: event.time,
        end_ns: None,
        outcome: Outcome::Open,
    };
    if event.kind != EventKind::Invoke {
        operation.invoke = None;
        complete(&mut operation, position, event);
    }
    operation
}

fn complete(operation: &mut Operation, position: usize, event: &Event) {
    operation.complete = Some(position);
    operation.end_ns = Some(event.time);
    operation.outcome = match event.kind {
        EventKind::Ok => Outcome::Ok,
        EventKind::Fail => Outcome::Fail,
        EventKind::Info | EventKind::Invoke => Outcome::Info,
    };
}
