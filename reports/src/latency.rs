//! How long operations took.

use std::collections::BTreeMap;

use history::Action;
use serde_json::Value;

use crate::{
    run::RunData,
    timeline::{Outcome, Timeline},
    words,
};

/// Quantiles of one operation's successes.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// The operation.
    pub f: String,
    /// Milliseconds by quantile, ascending: `p50`, `p90`, `p99`, `max`.
    pub quantiles_ms: Vec<(String, f64)>,
}

impl Latency {
    /// Milliseconds of the quantile with this name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.quantiles_ms.iter().find(|(key, _)| key == name).map(|(_, ms)| *ms)
    }
}

/// As a check states them (`latency_ms`, by operation and quantile); else counted from the history.
pub fn of(run: &RunData, timeline: &Timeline) -> Vec<Latency> {
    let stated = words::figure(&run.judgement, "latency_ms");
    match stated.and_then(Value::as_object) {
        Some(by_f) => by_f.iter().filter_map(|(f, quantiles)| stated_of(f, quantiles)).collect(),
        None => counted(timeline),
    }
}

fn stated_of(f: &str, quantiles: &Value) -> Option<Latency> {
    let mut quantiles_ms: Vec<(String, f64)> =
        quantiles.as_object()?.iter().filter_map(|(name, ms)| Some((name.clone(), ms.as_f64()?))).collect();
    // By name, for values may be equal: p50 before p99, and the maximum last.
    let rank =
        |name: &str| name.strip_prefix('p').and_then(|percent| percent.parse().ok()).unwrap_or(u32::MAX);
    quantiles_ms.sort_by_key(|(name, _)| rank(name));
    Some(Latency { f: f.to_owned(), quantiles_ms })
}

fn counted(timeline: &Timeline) -> Vec<Latency> {
    let mut by_f: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for operation in timeline.operations.iter().filter(|operation| operation.outcome == Outcome::Ok) {
        by_f.entry(&operation.f).or_default().extend(operation.duration_ns());
    }
    by_f.into_iter()
        .filter(|(f, durations)| *f != Action::Lapse.name() && !durations.is_empty())
        .map(|(f, mut durations)| {
            durations.sort_unstable();
            let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)];
            let quantiles_ms =
                quantiles.map(|(name, q)| (name.to_owned(), nearest_rank_ms(&durations, q))).into();
            Latency { f: f.to_owned(), quantiles_ms }
        })
        .collect()
}

/// The smallest value that at least a share `q` of them does not exceed; `sorted_ns` is not empty.
fn nearest_rank_ms(sorted_ns: &[u64], q: f64) -> f64 {
    let rank = (q * sorted_ns.len() as f64).ceil() as usize;
    sorted_ns[rank.clamp(1, sorted_ns.len()) - 1] as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rank_takes_a_value_that_was_measured() {
        let sorted: Vec<u64> = (1..=10).map(|ms| ms * 1_000_000).collect();
        assert_eq!(
            [0.0, 0.5, 0.51, 0.99, 1.0].map(|q| nearest_rank_ms(&sorted, q)),
            [1.0, 5.0, 6.0, 10.0, 10.0]
        );
        assert_eq!(nearest_rank_ms(&[7_500_000], 0.5), 7.5);
    }

    #[test]
    fn stated_quantiles_stand_in_ascending_order() {
        let latency = stated_of("write", &serde_json::json!({"max": 9.0, "p50": 9.0, "p99": 9.0})).unwrap();
        let names: Vec<_> = latency.quantiles_ms.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["p50", "p99", "max"]);
    }
}
