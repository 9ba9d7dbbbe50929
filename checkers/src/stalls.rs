use super::{table::LockTable, words::Ms};
use history::stalls::Stall;

/// Whose stalls count for a violation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whose<'t> {
    /// Those of the clients whose acts it is about.
    Nodes(&'t [&'t str]),
    /// Those of any node, and of the harness.
    Any,
}

impl LockTable<'_> {
    /// For how long, between two moments, at least one of the nodes stood still though no fault of ours made it; in
    /// nanoseconds.
    pub(super) fn stalled_ns(&self, whose: Whose<'_>, from_ns: u64, to_ns: u64) -> u64 {
        let counts = |node: &str| match whose {
            Whose::Nodes(nodes) => nodes.contains(&node),
            Whose::Any => true,
        };
        let (mut total, mut covered) = (0, from_ns);
        for stall in self.stalls.iter().filter(|stall| counts(&stall.node)) {
            let (from, to) = (stall.from_ns.max(covered), stall.to_ns.min(to_ns));
            if from < to {
                total += to - from;
                covered = to;
            }
        }
        total
    }

    /// The longest stall that lies between two moments in part.
    pub(super) fn longest_stall(&self, from_ns: u64, to_ns: u64) -> Option<&Stall> {
        let within = self.stalls.iter().filter(|stall| stall.from_ns < to_ns && stall.to_ns > from_ns);
        within.max_by_key(|stall| stall.to_ns - stall.from_ns)
    }

    /// Why violations were set aside: the longest stall, and how many there were.
    pub(super) fn stalls_told(&self) -> String {
        let longest = self.stalls.iter().max_by_key(|stall| stall.to_ns.saturating_sub(stall.from_ns));
        longest.map_or_else(String::new, |stall| {
            format!(
                "the machine stood still: {} stalls were measured, the longest of {} on {} at {}",
                self.stalls.len(),
                Ms(stall.to_ns.saturating_sub(stall.from_ns)),
                stall.node,
                Ms(stall.from_ns),
            )
        })
    }
}
