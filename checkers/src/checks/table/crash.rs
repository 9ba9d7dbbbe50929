use rustc_hash::FxHashMap;

use super::{At, Ending, Hold};
use crate::history::Row;

/// Finds the holds that a client's crash ended.
///
/// The kill of a node is recorded after it took effect, and the operation that it cut off is ended by the harness,
/// perhaps earlier. So a crashed client is certain to have believed only up to its own last event.
#[derive(Default)]
pub(super) struct Crashes<'h> {
    nodes: FxHashMap<&'h str, Node>,
}

#[derive(Default)]
struct Node {
    /// Its client's last own event.
    life: At,
    /// Holds that may still be open.
    holds: Vec<u32>,
    /// Holds that ended with an indeterminate operation, after which nothing was heard of the client.
    retired: Vec<u32>,
}

impl<'h> Crashes<'h> {
    /// The node's client itself wrote an event.
    pub(super) fn alive(&mut self, node: Option<&'h str>, at: At) {
        if let Some(node) = node {
            let node = self.nodes.entry(node).or_default();
            node.life = at;
            node.retired.clear();
        }
    }

    pub(super) fn granted(&mut self, node: Option<&'h str>, hold: u32, holds: &[Hold]) {
        if let Some(node) = node {
            let node = self.nodes.entry(node).or_default();
            node.holds.retain(|&hold| holds[hold as usize].ending == Ending::Open);
            node.holds.push(hold);
        }
    }

    pub(super) fn retired(&mut self, node: Option<&'h str>, hold: u32) {
        if let Some(node) = node {
            self.nodes.entry(node).or_default().retired.push(hold);
        }
    }

    /// Ends the holds of a node, if this row tells that it was killed or may have been.
    pub(super) fn kill(&mut self, row: Row<'h>, holds: &mut [Hold]) {
        if row.f() != "start-kill" || row.value().get("result").as_str() == Some("no-effect") {
            return;
        }
        for target in row.value().get("targets").items().filter_map(|target| target.as_str()) {
            let Some(node) = self.nodes.get_mut(target) else { continue };
            let open = node.holds.drain(..).filter(|&hold| holds[hold as usize].ending == Ending::Open);
            for hold in open.collect::<Vec<_>>().into_iter().chain(node.retired.drain(..)) {
                let hold = &mut holds[hold as usize];
                (hold.end, hold.ending) = (node.life.max(hold.start), Ending::Crashed);
            }
        }
    }
}
