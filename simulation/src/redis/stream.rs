//! The stream of changes that replicas copy: whose history it is, how far it goes, and what is kept of it.
//!
//! Source: `replication.c` of Redis 7.0 (`masterTryPartialResynchronization`, `shiftReplicationId`). An offset counts
//! changes here, bytes there; the backlog holds a number of changes, there a mebibyte.

use std::collections::VecDeque;

use super::keyspace::Change;

/// Changes that are kept for replicas which were away.
const BACKLOG_MAX: usize = 10_000;

/// A change as it travels to a replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) change: Change,
    /// Milliseconds to live from its arrival on, where expiries travel relative to the clock.
    pub(super) ttl: Option<i64>,
}

/// One server's copy of a history.
#[derive(Debug)]
pub(super) struct Stream {
    id: u64,
    /// The history that this one continues, and up to where.
    older: Option<(u64, u64)>,
    offset: u64,
    backlog: VecDeque<Item>,
}

impl Stream {
    /// A history that begins now.
    pub(super) fn new(id: u64) -> Stream {
        Stream { id, older: None, offset: 0, backlog: VecDeque::new() }
    }

    /// Whose history it is.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// How many changes it has had.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn push(&mut self, item: Item) {
        self.offset += 1;
        self.backlog.push_back(item);
        if self.backlog.len() > BACKLOG_MAX {
            self.backlog.pop_front();
        }
        assert!(self.backlog.len() <= BACKLOG_MAX, "the backlog has its bound");
        assert!(self.backlog.len() as u64 <= self.offset, "no more is kept than there was");
    }

    /// Everything after `offset`; `None` when it is no longer, or not yet, there.
    pub(super) fn after(&self, offset: u64) -> Option<impl Iterator<Item = &Item>> {
        let missing = usize::try_from(self.offset.checked_sub(offset)?).ok()?;
        let from = self.backlog.len().checked_sub(missing)?;
        Some(self.backlog.range(from..))
    }

    /// Whether a replica that has this much of that history can go on from there.
    pub(super) fn continues(&self, id: u64, offset: u64) -> bool {
        let of_older = self.older.is_some_and(|(older, end)| older == id && offset <= end);
        (id == self.id || of_older) && self.after(offset).is_some()
    }

    /// From here on it is a history of its own.
    pub(super) fn fork(&mut self, id: u64) {
        assert!(
            self.older.is_none_or(|(_, end)| end <= self.offset),
            "a history begins where the older one ends"
        );
        self.older = Some((self.id, self.offset));
        self.id = id;
    }

    /// The primary's history goes on under this name.
    pub(super) fn rename(&mut self, id: u64) {
        if id != self.id {
            self.fork(id);
        }
    }
}

impl Stream {
    /// The state of another history, taken over as a whole.
    pub(super) fn taken_over(id: u64, offset: u64) -> Stream {
        Stream { offset, ..Stream::new(id) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(key: &str) -> Item {
        Item { change: Change { key: key.into(), now: None }, ttl: None }
    }

    #[test]
    fn a_promoted_replica_continues_the_old_history_and_refuses_what_diverged() {
        let mut replica = Stream::taken_over(1, 10);
        replica.push(item("a"));
        replica.fork(2);
        replica.push(item("b"));
        assert_eq!((replica.id(), replica.offset()), (2, 12));
        assert!(replica.continues(1, 10) && replica.continues(1, 11) && replica.continues(2, 12));
        assert!(!replica.continues(1, 12), "the old primary went on by itself");
        assert!(!replica.continues(1, 9), "from before its backlog");
        assert!(!replica.continues(2, 13) && !replica.continues(3, 11));
        assert_eq!(replica.after(11).unwrap().cloned().collect::<Vec<_>>(), [item("b")]);
    }
}
