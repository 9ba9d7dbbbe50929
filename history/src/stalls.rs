//! What stood still though no fault of the run did that, as the history tells it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Event, Process};

/// The harness' own name among the nodes that stood still.
pub const HARNESS: &str = "harness";

/// One span in which a node, or the harness, stood still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Which node; [`HARNESS`] for the harness.
    pub node: String,
    /// When a tick was due, nanoseconds since the run began.
    pub from_ns: u64,
    /// When it came, likewise.
    pub to_ns: u64,
}

impl Stall {
    /// What an event tells, if it is one of the nemesis about a stall.
    pub fn told_by(event: &Event) -> Option<Stall> {
        if event.process != Process::Nemesis || event.f != "stall" {
            return None;
        }
        let at = |name: &str| event.value.get(name).and_then(Value::as_u64);
        let node = event.value.get("node")?.as_str()?.to_owned();
        let (from_ns, to_ns) = (at("from_ns")?, at("to_ns")?);
        (from_ns < to_ns).then_some(Stall { node, from_ns, to_ns })
    }

    fn length_ms(&self) -> f64 {
        (self.to_ns - self.from_ns) as f64 / 1e6
    }
}

/// All stalls that the events tell, in their order.
pub fn of<'e>(events: impl IntoIterator<Item = &'e Event>) -> Vec<Stall> {
    events.into_iter().filter_map(Stall::told_by).collect()
}

/// The stalls of a run in figures, as `verdict.json` has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stalls {
    /// How many there were, on all nodes and of the harness.
    pub count: u64,
    /// Milliseconds in which anything stood still; what stood still at the same time counts once.
    pub total_ms: f64,
    /// The longest, in milliseconds.
    pub longest_ms: f64,
    /// By node.
    pub nodes: BTreeMap<String, NodeStalls>,
}

/// The stalls of one node, or of the harness.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeStalls {
    /// How many.
    pub count: u64,
    /// Milliseconds in which it stood still.
    pub total_ms: f64,
    /// The longest, in milliseconds.
    pub longest_ms: f64,
}

impl Stalls {
    /// The figures of these stalls.
    pub fn new(stalls: &[Stall]) -> Stalls {
        let mut nodes: BTreeMap<String, Vec<&Stall>> = BTreeMap::new();
        for stall in stalls {
            nodes.entry(stall.node.clone()).or_default().push(stall);
        }
        let all = figures(&stalls.iter().collect::<Vec<_>>());
        Stalls {
            count: all.count,
            total_ms: all.total_ms,
            longest_ms: all.longest_ms,
            nodes: nodes.into_iter().map(|(node, stalls)| (node, figures(&stalls))).collect(),
        }
    }
}

fn figures(stalls: &[&Stall]) -> NodeStalls {
    let mut spans: Vec<(u64, u64)> = stalls.iter().map(|stall| (stall.from_ns, stall.to_ns)).collect();
    spans.sort_unstable();
    let (mut total_ns, mut until) = (0, 0);
    for (from, to) in spans {
        total_ns += to.saturating_sub(from.max(until));
        until = until.max(to);
    }
    NodeStalls {
        count: stalls.len() as u64,
        total_ms: total_ns as f64 / 1e6,
        longest_ms: stalls.iter().map(|stall| stall.length_ms()).fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn stall(node: &str, from_ms: u64, to_ms: u64) -> Stall {
        Stall { node: node.into(), from_ns: from_ms * MS, to_ns: to_ms * MS }
    }

    #[test]
    fn what_stood_still_at_once_counts_once() {
        let stalls = [stall("c2", 100, 240), stall("s1", 200, 300), stall("c2", 1000, 1012)];
        let figures = Stalls::new(&stalls);
        assert_eq!((figures.count, figures.total_ms, figures.longest_ms), (3, 212.0, 140.0));
        let of_c2 = NodeStalls { count: 2, total_ms: 152.0, longest_ms: 140.0 };
        assert_eq!(figures.nodes["c2"], of_c2);
        assert_eq!(Stalls::new(&[]), Stalls::default());
    }

    #[test]
    fn only_the_nemesis_tells_of_stalls() {
        let read = |line: &str| serde_json::from_str::<Event>(line).unwrap();
        let told = read(
            r#"{"index":3,"time":9,"process":"nemesis","type":"info","f":"stall","value":{"node":"c3","from_ns":4,"to_ns":9}}"#,
        );
        let odd = [
            r#"{"index":3,"time":9,"process":0,"type":"info","f":"stall","value":{"node":"c3","from_ns":4,"to_ns":9}}"#,
            r#"{"index":3,"time":9,"process":"nemesis","type":"info","f":"stall","value":{"node":"c3","from_ns":9,"to_ns":9}}"#,
            r#"{"index":3,"time":9,"process":"nemesis","type":"info","f":"stall","value":null}"#,
            r#"{"index":3,"time":9,"process":"nemesis","type":"info","f":"exit","value":{"node":"c3","from_ns":4,"to_ns":9}}"#,
        ]
        .map(read);
        let expected = vec![Stall { node: "c3".into(), from_ns: 4, to_ns: 9 }];
        assert_eq!(of(odd.iter().chain([&told])), expected);
    }
}
