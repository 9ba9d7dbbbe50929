use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::history::{Outcome, Row};

/// How often an operation ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// It happened.
    pub ok: u64,
    /// It certainly did not.
    pub fail: u64,
    /// Nobody knows.
    pub info: u64,
}

/// Grants of locks or leaderships.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    /// All of them.
    pub total: u64,
    /// Those for which another client was holding or waiting at the same time.
    pub contended: u64,
}

/// What became of one kind of operation.
#[derive(Clone, Debug, Default)]
pub struct OperationCounts {
    /// How often it ended how.
    pub outcomes: Outcomes,
    /// How long each successful one took, in nanoseconds, shortest first.
    pub latencies_ns: Vec<u64>,
}

/// Counts operations by name; there are few names.
#[derive(Default)]
pub(super) struct Counter<'h> {
    operations: Vec<(u32, &'h str, u64, OperationCounts)>,
}

impl<'h> Counter<'h> {
    pub(super) fn invoke(&mut self, row: Row<'h>) {
        let place = self.operations.iter().position(|&(f, ..)| f == row.f_id());
        let place = place.unwrap_or_else(|| {
            self.operations.push((row.f_id(), row.f(), 0, OperationCounts::default()));
            self.operations.len() - 1
        });
        self.operations[place].2 += 1;
    }

    /// Of an operation that was invoked.
    pub(super) fn complete(&mut self, row: Row<'h>, outcome: Outcome, latency_ns: u64) {
        let Some((.., counts)) = self.operations.iter_mut().find(|(f, ..)| *f == row.f_id()) else { return };
        match outcome {
            Outcome::Ok => {
                counts.outcomes.ok += 1;
                counts.latencies_ns.push(latency_ns);
            }
            Outcome::Fail => counts.outcomes.fail += 1,
            // Counted at the end, with the operations that never completed.
            Outcome::Info => {}
        }
    }

    pub(super) fn finish(self) -> BTreeMap<String, OperationCounts> {
        let count = |(_, f, invoked, mut counts): (u32, &str, u64, OperationCounts)| {
            counts.latencies_ns.sort_unstable();
            counts.outcomes.info = invoked - counts.outcomes.ok - counts.outcomes.fail;
            (f.to_owned(), counts)
        };
        self.operations.into_iter().map(count).collect()
    }
}
