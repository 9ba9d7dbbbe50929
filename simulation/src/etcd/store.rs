//! The state machine behind the log: keys with revisions, leases, and the past that watches read.

use std::collections::{BTreeMap, BTreeSet};

use super::failure::{LEASE_EXISTS, LEASE_NOT_FOUND};
use workloads::api::etcd::{
    Compare, KeyValue, Range, RangeReply, Txn, TxnAnswer, TxnOp, TxnReply, WatchEvent,
};

/// What goes through the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A transaction.
    Txn(Txn),
    /// A new lease.
    Grant {
        /// Its number, chosen by the member that was asked.
        id: i64,
        /// Seconds.
        ttl_s: i64,
    },
    /// The end of a lease.
    Revoke(i64),
}

/// What a change answered, or etcd's message.
pub(super) type Outcome = Result<Done, &'static str>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Txn(TxnReply),
    Granted(i64),
    Revoked,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Lease {
    pub(super) ttl_s: i64,
    keys: BTreeSet<String>,
}

/// The same on every member that has applied the same entries.
#[derive(Debug)]
pub(super) struct Store {
    revision: i64,
    keys: BTreeMap<String, KeyValue>,
    pub(super) leases: BTreeMap<i64, Lease>,
    /// Every change of a key with its revision, in order.
    past: Vec<(i64, WatchEvent)>,
}

impl Default for Store {
    /// An empty etcd is at revision 1.
    fn default() -> Self {
        Store { revision: 1, keys: BTreeMap::new(), leases: BTreeMap::new(), past: Vec::new() }
    }
}

impl Store {
    pub(super) fn revision(&self) -> i64 {
        self.revision
    }

    pub(super) fn apply(&mut self, change: &Change) -> Outcome {
        let before = self.revision;
        let outcome = self.change(change);
        assert!((before..=before + 1).contains(&self.revision), "a change takes one revision, or none");
        assert!(outcome.is_ok() || self.revision == before, "what was refused changes nothing");
        debug_assert!(self.leases_own_their_keys(), "each key is listed by its lease, and no other");
        outcome
    }

    fn leases_own_their_keys(&self) -> bool {
        let owns = |(id, lease): (&i64, &Lease)| {
            let is_of_it = |key: &String| self.keys.get(key).is_some_and(|kv| kv.lease == *id);
            lease.keys.iter().all(is_of_it)
        };
        let is_owned = |kv: &KeyValue| {
            kv.lease == 0 || self.leases.get(&kv.lease).is_some_and(|lease| lease.keys.contains(&kv.key))
        };
        self.leases.iter().all(owns) && self.keys.values().all(is_owned)
    }

    fn change(&mut self, change: &Change) -> Outcome {
        match change {
            Change::Txn(txn) => self.txn(txn).map(Done::Txn),
            Change::Grant { id, ttl_s } => match self.leases.contains_key(id) {
                true => Err(LEASE_EXISTS),
                false => {
                    assert!(*id != 0, "0 is no lease");
                    self.leases.insert(*id, Lease { ttl_s: *ttl_s, keys: BTreeSet::new() });
                    Ok(Done::Granted(*ttl_s))
                }
            },
            Change::Revoke(id) => self.revoke(*id).map(|()| Done::Revoked),
        }
    }

    pub(super) fn range(&self, range: &Range) -> RangeReply {
        let mut keys: Vec<KeyValue> = match range.prefix {
            false => self.keys.get(&range.key).into_iter().cloned().collect(),
            true => {
                let from = self.keys.range(range.key.clone()..);
                from.take_while(|(key, _)| key.starts_with(&range.key)).map(|(_, kv)| kv.clone()).collect()
            }
        };
        keys.sort_by_key(|kv| kv.create_revision);
        RangeReply { revision: self.revision, keys }
    }

    /// Position in the past of the first event at or after `revision`.
    pub(super) fn position(&self, revision: i64) -> usize {
        self.past.partition_point(|(at, _)| *at < revision)
    }

    /// Events on `key` from a position and a revision on, and the next position.
    pub(super) fn events(&self, key: &str, from: usize, revision: i64) -> (Vec<WatchEvent>, usize) {
        let of_key = |event: &WatchEvent| match event {
            WatchEvent::Put(kv) => kv.key == key,
            WatchEvent::Delete { key: deleted, .. } => deleted == key,
        };
        assert!(from <= self.past.len(), "nobody watches beyond the present");
        let wanted = |(at, event): &&(i64, WatchEvent)| *at >= revision && of_key(event);
        let events = self.past[from..].iter().filter(wanted).map(|(_, event)| event.clone()).collect();
        (events, self.past.len())
    }

    fn txn(&mut self, txn: &Txn) -> Result<TxnReply, &'static str> {
        let succeeded = txn.compares.iter().all(|compare| self.holds(compare));
        let branch = if succeeded { &txn.success } else { &txn.failure };
        let missing = |op: &TxnOp| match op {
            TxnOp::Put { lease, .. } => *lease != 0 && !self.leases.contains_key(lease),
            _ => false,
        };
        if branch.iter().any(missing) {
            return Err(LEASE_NOT_FOUND);
        }
        // All writes of a transaction share one new revision; without a write there is none.
        let (revision, events) = (self.revision + 1, self.past.len());
        let answers = branch.iter().map(|op| self.step(op, revision)).collect();
        if self.past.len() > events {
            self.revision = revision;
        }
        Ok(TxnReply { revision: self.revision, succeeded, answers })
    }

    fn holds(&self, compare: &Compare) -> bool {
        match compare {
            Compare::CreateRevision(key, revision) => {
                self.keys.get(key).map_or(0, |kv| kv.create_revision) == *revision
            }
            Compare::ModRevision(key, revision) => {
                self.keys.get(key).map_or(0, |kv| kv.mod_revision) == *revision
            }
            // A comparison of the value of an absent key never holds.
            Compare::Value(key, value) => self.keys.get(key).is_some_and(|kv| kv.value == *value),
        }
    }

    fn step(&mut self, op: &TxnOp, revision: i64) -> TxnAnswer {
        match op {
            TxnOp::Put { key, value, lease } => {
                self.put(key, value, *lease, revision);
                TxnAnswer::Put
            }
            TxnOp::Range(range) => TxnAnswer::Range(self.range(range).keys),
            TxnOp::Delete(key) => TxnAnswer::Deleted(self.delete(key, revision).into()),
        }
    }

    fn put(&mut self, key: &str, value: &str, lease: i64, revision: i64) {
        let old = self.keys.get(key);
        let (create_revision, version, old_lease) =
            old.map_or((revision, 0, 0), |kv| (kv.create_revision, kv.version, kv.lease));
        assert!(lease == 0 || self.leases.contains_key(&lease), "a key is put under a lease that lives");
        if let Some(old) = self.leases.get_mut(&old_lease) {
            assert!(old.keys.remove(key), "a lease lists the keys that it owns");
        }
        if let Some(lease) = self.leases.get_mut(&lease) {
            assert!(lease.keys.insert(key.to_owned()), "a key is under one lease at a time");
        }
        assert!(create_revision <= revision, "a key is changed after it was created");
        let kv = KeyValue {
            key: key.to_owned(),
            value: value.to_owned(),
            create_revision,
            mod_revision: revision,
            version: version + 1,
            lease,
        };
        self.remember(revision, WatchEvent::Put(kv.clone()));
        self.keys.insert(key.to_owned(), kv);
    }

    fn delete(&mut self, key: &str, revision: i64) -> bool {
        let Some(kv) = self.keys.remove(key) else { return false };
        if let Some(lease) = self.leases.get_mut(&kv.lease) {
            assert!(lease.keys.remove(key), "a lease lists the keys that it owns");
        }
        assert!(kv.mod_revision <= revision, "what is deleted was there before");
        let event = WatchEvent::Delete { key: key.to_owned(), mod_revision: revision };
        self.remember(revision, event);
        true
    }

    fn remember(&mut self, revision: i64, event: WatchEvent) {
        assert!(revision == self.revision + 1, "what changes has the next revision");
        assert!(
            self.past.last().is_none_or(|(last, _)| *last <= revision),
            "the past is in order of revisions"
        );
        self.past.push((revision, event));
    }

    /// Deletes all keys of a lease at one revision.
    fn revoke(&mut self, id: i64) -> Result<(), &'static str> {
        let lease = self.leases.remove(&id).ok_or(LEASE_NOT_FOUND)?;
        let revision = self.revision + 1;
        for key in &lease.keys {
            assert!(self.delete(key, revision), "a lease lists only keys that are there");
        }
        if !lease.keys.is_empty() {
            self.revision = revision;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(key: &str, lease: i64) -> TxnOp {
        TxnOp::Put { key: key.into(), value: "v".into(), lease }
    }

    fn txn(compares: Vec<Compare>, success: Vec<TxnOp>) -> Change {
        Change::Txn(Txn { compares, success, failure: vec![] })
    }

    fn range(key: &str, prefix: bool) -> Range {
        Range { key: key.into(), prefix }
    }

    #[test]
    fn a_transaction_has_one_revision() {
        let mut store = Store::default();
        let done = store.apply(&txn(vec![], vec![put("b", 0), put("a", 0)])).unwrap();
        assert!(matches!(done, Done::Txn(TxnReply { revision: 2, succeeded: true, .. })));
        let found = store.range(&range("", true));
        assert!(found.keys.iter().all(|kv| (kv.create_revision, kv.version) == (2, 1)));
        store.apply(&txn(vec![], vec![TxnOp::Delete("x".into())])).unwrap();
        assert_eq!(store.revision(), 2, "nothing was written");
    }

    #[test]
    fn compares_decide() {
        let mut store = Store::default();
        let absent = || Compare::CreateRevision("a".into(), 0);
        let succeeded = |store: &mut Store, compare| match store.apply(&txn(vec![compare], vec![put("a", 0)]))
        {
            Ok(Done::Txn(reply)) => reply.succeeded,
            other => panic!("{other:?}"),
        };
        assert!(
            !succeeded(&mut store, Compare::Value("a".into(), String::new())),
            "absent keys have no value"
        );
        assert!(succeeded(&mut store, absent()));
        assert!(!succeeded(&mut store, absent()));
        assert!(succeeded(&mut store, Compare::Value("a".into(), "v".into())));
        assert!(succeeded(&mut store, Compare::ModRevision("a".into(), 3)));
        assert!(!succeeded(&mut store, Compare::ModRevision("a".into(), 3)));
    }

    #[test]
    fn a_revoked_lease_takes_its_keys_at_one_revision() {
        let mut store = Store::default();
        assert_eq!(store.apply(&txn(vec![], vec![put("a", 7)])), Err(LEASE_NOT_FOUND));
        store.apply(&Change::Grant { id: 7, ttl_s: 2 }).unwrap();
        store.apply(&txn(vec![], vec![put("a", 7), put("b", 7), put("c", 0)])).unwrap();
        store.apply(&txn(vec![], vec![put("b", 0)])).unwrap();
        let from = store.position(4);
        store.apply(&Change::Revoke(7)).unwrap();
        assert_eq!(store.range(&range("", true)).keys.len(), 2, "b had left the lease");
        assert_eq!(store.events("a", from, 4).0, [WatchEvent::Delete { key: "a".into(), mod_revision: 4 }]);
        assert_eq!(store.apply(&Change::Revoke(7)), Err(LEASE_NOT_FOUND));
    }
}
