//! The holds of a history, for those who draw them.

use checkers::{LockTable, Promise};
use history::{
    History, Reacquire,
    holds::{Held, Holds},
};

/// When clients were entitled to believe that they had a lock, as the checks count it.
pub fn holds(history: &History) -> Holds {
    let table = LockTable::new(history, Reacquire::default());
    let held = |hold: &checkers::Hold| {
        let grant = table.grant_of(hold);
        Held {
            lock: grant.lock as usize,
            token: table.given(grant).token(),
            event: hold.start.index(),
            start_ns: hold.start.time,
            end_ns: hold.end.time,
            promised_ns: table.promises.get(grant.promise as usize).and_then(promised_ns),
            ending: hold.ending,
        }
    };
    Holds {
        locks: table.locks.iter().map(|lock| lock.name.to_owned()).collect(),
        holds: table.holds.iter().map(held).collect(),
    }
}

/// The client's own deadline where it has one, else the latest moment to which the service can have promised.
fn promised_ns(promise: &Promise) -> Option<u64> {
    promise.deadline_ns().or_else(|| Some(promise.ok.time.saturating_add(promise.ttl_ns()?)))
}
