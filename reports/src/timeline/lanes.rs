use std::collections::{BTreeMap, BTreeSet};

use history::{
    Process,
    stalls::{HARNESS, Stall},
};

use crate::run::RunData;

/// What a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// Operations and holds of one client's node.
    Client,
    /// Faults of one server, or of another node that is no client.
    Server,
}

/// One row of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The node's name; `p7` for a process whose node the history does not tell.
    pub name: String,
    /// Client or not.
    pub kind: LaneKind,
    /// Process numbers that ran on it, ascending.
    pub processes: BTreeSet<u32>,
}

/// Clients in natural order, then servers and whatever else a fault hit, stood still or ended by itself; of the harness there is none.
pub(super) fn of(run: &RunData, stalls: &[Stall]) -> Vec<Lane> {
    let mut clients: BTreeMap<(usize, String), BTreeSet<u32>> = BTreeMap::new();
    for event in &run.events {
        if let Process::Client(process) = event.process {
            let name = name_of(event.node.as_deref(), process);
            clients.entry((name.len(), name)).or_default().insert(process);
        }
    }
    let mut servers: BTreeSet<(usize, &str)> =
        run.servers.iter().map(|name| (name.len(), name.as_str())).collect();
    servers.extend(
        run.judgement.faults.iter().flat_map(|fault| &fault.targets).map(|name| (name.len(), name.as_str())),
    );
    let stalled = stalls.iter().map(|stall| stall.node.as_str()).filter(|node| *node != HARNESS);
    servers.extend(stalled.map(|name| (name.len(), name)));
    servers.extend(run.judgement.exits.iter().map(|exit| (exit.node.len(), exit.node.as_str())));
    servers.retain(|(length, name)| !clients.contains_key(&(*length, name.to_string())));

    let clients =
        clients.into_iter().map(|((_, name), processes)| Lane { name, kind: LaneKind::Client, processes });
    let servers = servers.into_iter().map(|(_, name)| Lane {
        name: name.to_owned(),
        kind: LaneKind::Server,
        processes: BTreeSet::new(),
    });
    clients.chain(servers).collect()
}

/// The lane on which an event of `process` belongs.
pub(super) fn name_of(node: Option<&str>, process: u32) -> String {
    node.map_or_else(|| format!("p{process}"), str::to_owned)
}
