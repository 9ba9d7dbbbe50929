//! When sessions end: known to the leader alone. Ends are rounded up to whole ticks (ZooKeeper's
//! `SessionTrackerImpl`), and a new leader gives every session its whole time-out.

use std::collections::BTreeMap;

use super::tree::Tree;

#[derive(Debug, Default)]
pub(super) struct Tracker {
    /// The term in which this server became leader.
    term: Option<u64>,
    ends: BTreeMap<i64, u64>,
}

impl Tracker {
    /// Brings the tracker in line with whether this server leads, and with the sessions that exist.
    pub(super) fn follow(&mut self, leads: Option<u64>, tick_ns: u64, now: u64, tree: &Tree) {
        assert!(
            self.term.is_none() || leads.is_none() || self.term <= leads,
            "who leads again leads in a later term"
        );
        if self.term != leads {
            self.term = leads;
            self.ends.clear();
            if leads.is_some() {
                let sessions: Vec<_> = tree.sessions.keys().copied().collect();
                sessions.into_iter().for_each(|id| self.touch(id, tick_ns, now, tree));
            }
        }
        self.ends.retain(|id, _| tree.sessions.contains_key(id));
    }

    /// The session's client was heard.
    pub(super) fn touch(&mut self, id: i64, tick_ns: u64, now: u64, tree: &Tree) {
        if let (true, Some(session)) = (self.term.is_some(), tree.sessions.get(&id)) {
            let end = (now + session.timeout_ms * 1_000_000).next_multiple_of(tick_ns);
            let before = self.ends.insert(id, end);
            assert!(before.is_none_or(|before| before <= end), "who is heard lives no shorter for it");
        }
    }

    /// Sessions whose time is over.
    pub(super) fn ended(&self, now: u64) -> Vec<i64> {
        assert!(self.term.is_some() || self.ends.is_empty(), "only a leader ends sessions");
        self.ends.iter().filter(|(_, end)| **end <= now).map(|(id, _)| *id).collect()
    }
}
