//! When leases end: known to the leader alone, on its monotonic clock. A new leader gives every lease its whole
//! TTL and an election timeout more (etcd's `lessor.Promote`).

use std::collections::BTreeMap;

use super::store::Store;

/// etcd proposes to revoke a lease again after this long.
const RETRY_NS: u64 = 3_000_000_000;

#[derive(Debug, Default)]
pub(super) struct Lessor {
    /// The term in which this member became leader; its expiries are of no use in another.
    term: Option<u64>,
    /// By lease: when it ends, and from when on to propose so.
    ends: BTreeMap<i64, (u64, u64)>,
}

fn seconds(ttl_s: i64) -> u64 {
    u64::try_from(ttl_s).unwrap_or(0) * 1_000_000_000
}

impl Lessor {
    /// Brings the lessor in line with whether this member leads, and with the leases that exist.
    pub(super) fn follow(&mut self, leads: Option<u64>, extend_ns: u64, now: u64, store: &Store) {
        assert!(
            self.term.is_none() || leads.is_none() || self.term <= leads,
            "who leads again leads in a later term"
        );
        if self.term != leads {
            self.term = leads;
            self.ends.clear();
            if leads.is_some() {
                for (id, lease) in &store.leases {
                    let end = now + seconds(lease.ttl_s) + extend_ns;
                    self.ends.insert(*id, (end, end));
                }
            }
        }
    }

    /// A lease was granted or renewed on the leader.
    pub(super) fn refresh(&mut self, id: i64, ttl_s: i64, now: u64) {
        if self.term.is_some() {
            let end = now + seconds(ttl_s);
            self.ends.insert(id, (end, end));
        }
    }

    pub(super) fn forget(&mut self, id: i64) {
        self.ends.remove(&id);
    }

    /// Whether it has ended by the leader's clock, revoked or not.
    pub(super) fn has_ended(&self, id: i64, now: u64) -> bool {
        self.ends.get(&id).is_some_and(|(end, _)| *end <= now)
    }

    /// Leases to propose for revocation now.
    pub(super) fn due(&mut self, now: u64) -> Vec<i64> {
        assert!(self.term.is_some() || self.ends.is_empty(), "only a leader ends leases");
        let mut due = Vec::new();
        for (id, (end, propose)) in &mut self.ends {
            if *end <= now && *propose <= now {
                *propose = now + RETRY_NS;
                due.push(*id);
            }
        }
        due
    }
}
