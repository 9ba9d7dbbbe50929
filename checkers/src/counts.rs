use std::collections::BTreeMap;

use history::{Outcome, Row, judgement::Outcomes};

/// What became of one kind of operation.
#[derive(Clone, Debug, Default)]
pub struct OperationCounts {
    /// How often it ended how.
    pub outcomes: Outcomes,
    /// How long the successful ones took.
    pub latencies: Latencies,
}

/// Times in nanoseconds; those below four seconds in four bytes each.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    short_ns: Vec<u32>,
    long_ns: Vec<u64>,
}

impl Latencies {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.short_ns.len() + self.long_ns.len()
    }

    /// In nanoseconds, from the shortest, which is at 0, on.
    pub fn at(&self, place: usize) -> Option<u64> {
        let long =
            || place.checked_sub(self.short_ns.len()).and_then(|place| self.long_ns.get(place).copied());
        self.short_ns.get(place).map(|&short| short.into()).or_else(long)
    }

    fn push(&mut self, ns: u64) {
        match u32::try_from(ns) {
            Ok(ns) => self.short_ns.push(ns),
            Err(_) => self.long_ns.push(ns),
        }
    }

    fn sort(&mut self) {
        self.short_ns.sort_unstable();
        self.long_ns.sort_unstable();
    }
}

/// Counts operations by name.
#[derive(Default)]
pub(super) struct Counter<'h> {
    operations: Vec<(&'h str, u64, OperationCounts)>,
    /// By name of the history: the operation's place plus 1, or 0.
    places: Vec<u32>,
}

impl<'h> Counter<'h> {
    /// Returns the operation's place.
    pub(super) fn invoke(&mut self, row: Row<'h>) -> u32 {
        let id = row.f_id() as usize;
        if self.places.len() <= id {
            self.places.resize(id + 1, 0);
        }
        if self.places[id] == 0 {
            self.operations.push((row.f(), 0, OperationCounts::default()));
            self.places[id] = self.operations.len() as u32;
        }
        let place = self.places[id] - 1;
        self.operations[place as usize].1 += 1;
        place
    }

    /// Of an operation that was invoked.
    pub(super) fn complete(&mut self, place: u32, outcome: Outcome, latency_ns: u64) {
        let (.., counts) = &mut self.operations[place as usize];
        match outcome {
            Outcome::Ok => {
                counts.outcomes.ok += 1;
                counts.latencies.push(latency_ns);
            }
            Outcome::Fail => counts.outcomes.fail += 1,
            // Counted at the end, with the operations that never completed.
            Outcome::Info => {}
        }
    }

    pub(super) fn finish(self) -> BTreeMap<String, OperationCounts> {
        let count = |(f, invoked, mut counts): (&str, u64, OperationCounts)| {
            counts.latencies.sort();
            counts.outcomes.info = invoked - counts.outcomes.ok - counts.outcomes.fail;
            (f.to_owned(), counts)
        };
        self.operations.into_iter().map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_any_length_come_back_in_order() {
        let mut latencies = Latencies::default();
        let times = [u64::MAX, 7, 1 << 32, 0, (1 << 32) - 1, 7];
        times.iter().for_each(|&ns| latencies.push(ns));
        latencies.sort();
        let sorted: Vec<u64> = (0..latencies.count()).map_while(|place| latencies.at(place)).collect();
        assert_eq!(sorted, [0, 7, 7, (1 << 32) - 1, 1 << 32, u64::MAX]);
        assert_eq!(latencies.at(6), None);
    }
}
