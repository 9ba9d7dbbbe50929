//! Keys with values and expiries. Times are milliseconds since 1970 on the server's wall clock: Redis stores
//! absolute expiries and compares them with the wall clock (`keyIsExpired` in its `db.c`: gone once now > when).

use std::{collections::BTreeMap, time::Duration};

use workloads::api::redis::Keys;

/// What a change leaves behind, as the append-only file and replicas get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whose.
    pub key: String,
    /// Value and absolute expiry; `None`: deleted.
    pub now: Option<(String, Option<i64>)>,
}

#[derive(Clone, Debug)]
struct Entry {
    value: String,
    expires: Option<i64>,
}

/// All keys of one server. A command first sets the time, which stands still while it runs.
#[derive(Debug, Default)]
pub struct Keyspace {
    entries: BTreeMap<String, Entry>,
    now: i64,
    changes: Vec<Change>,
}

impl Keyspace {
    /// What the append-only file says.
    pub fn load(changes: impl IntoIterator<Item = Change>) -> Keyspace {
        let mut keyspace = Keyspace::default();
        changes.into_iter().for_each(|change| keyspace.apply(change));
        keyspace
    }

    /// Makes a change that was decided elsewhere; it is not among [`Keyspace::take_changes`].
    pub fn apply(&mut self, change: Change) {
        match change.now {
            Some((value, expires)) => self.entries.insert(change.key, Entry { value, expires }),
            None => self.entries.remove(&change.key),
        };
    }

    /// Everything there is, expired keys too: a full resynchronisation carries them.
    pub fn snapshot(&self) -> Vec<Change> {
        let change = |(key, entry): (&String, &Entry)| Change {
            key: key.clone(),
            now: Some((entry.value.clone(), entry.expires)),
        };
        self.entries.iter().map(change).collect()
    }

    /// The value, and milliseconds left if it expires. What has expired is hidden, and left for the primary to delete.
    pub fn peek(&self, key: &str) -> Option<(&str, Option<i64>)> {
        let entry = self.entries.get(key)?;
        let hidden = entry.expires.is_some_and(|when| self.now > when);
        (!hidden).then(|| (entry.value.as_str(), entry.expires.map(|when| when - self.now)))
    }

    /// The wall clock as the current command sees it, milliseconds.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// The wall clock as the next command sees it, in nanoseconds.
    pub fn set_time(&mut self, wall: i64) {
        self.now = wall.div_euclid(1_000_000);
    }

    /// What the commands since the last call changed, in order.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Milliseconds left; `None` without key or without expiry.
    pub fn pttl(&mut self, key: &str) -> Option<i64> {
        self.live(key)?.expires.map(|when| when - self.now)
    }

    /// Deletes what has expired without being asked for (Redis' active cycle); returns how many.
    pub fn expire_actively(&mut self) -> usize {
        let now = self.now;
        let due = |entry: &Entry| entry.expires.is_some_and(|when| now > when);
        let keys: Vec<_> =
            self.entries.iter().filter(|(_, entry)| due(entry)).map(|(key, _)| key.clone()).collect();
        keys.iter().for_each(|key| assert!(self.remove(key), "what expired was there"));
        debug_assert!(!self.entries.values().any(due), "nothing that expired is left");
        keys.len()
    }

    fn live(&mut self, key: &str) -> Option<&Entry> {
        let expired = self.entries.get(key)?.expires.is_some_and(|when| self.now > when);
        if expired {
            assert!(self.remove(key), "what expired was there");
        }
        self.entries.get(key)
    }

    fn remove(&mut self, key: &str) -> bool {
        let was = self.entries.remove(key).is_some();
        if was {
            self.changes.push(Change { key: key.to_owned(), now: None });
        }
        was
    }

    fn put(&mut self, key: &str, value: String, expires: Option<i64>) {
        assert!(expires.is_none_or(|when| when >= self.now), "what is put lives at least now");
        self.changes.push(Change { key: key.to_owned(), now: Some((value.clone(), expires)) });
        self.entries.insert(key.to_owned(), Entry { value, expires });
    }

    fn deadline(&self, ttl: Duration) -> i64 {
        self.now.saturating_add(i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX))
    }
}

impl Keys for Keyspace {
    fn get(&mut self, key: &str) -> Option<&str> {
        self.live(key).map(|entry| entry.value.as_str())
    }

    fn set(&mut self, key: &str, value: &str, ttl: Option<Duration>) {
        let expires = ttl.map(|ttl| self.deadline(ttl));
        self.put(key, value.to_owned(), expires);
    }

    fn del(&mut self, key: &str) -> bool {
        self.live(key).is_some() && self.remove(key)
    }

    fn pexpire(&mut self, key: &str, ttl: Duration) -> bool {
        let Some(value) = self.get(key).map(str::to_owned) else { return false };
        let expires = Some(self.deadline(ttl));
        self.put(key, value, expires);
        true
    }

    fn incr(&mut self, key: &str) -> i64 {
        let (old, expires) = match self.live(key) {
            Some(entry) => (entry.value.parse().unwrap_or(0), entry.expires),
            None => (0i64, None),
        };
        let new = old.saturating_add(1);
        self.put(key, new.to_string(), expires);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_millis(100);

    fn at(ms: i64) -> Keyspace {
        let mut keyspace = Keyspace::default();
        keyspace.set_time(ms * 1_000_000);
        keyspace
    }

    #[test]
    fn a_key_lives_through_its_last_millisecond() {
        let mut keys = at(0);
        keys.set("a", "1", Some(TTL));
        keys.set_time(100_999_999);
        assert_eq!((keys.pttl("a"), keys.get("a")), (Some(0), Some("1")));
        keys.set_time(101_000_000);
        assert_eq!((keys.pttl("a"), keys.del("a"), keys.get("a")), (None, false, None));
    }

    #[test]
    fn the_log_rebuilds_the_keys() {
        let mut keys = at(0);
        keys.set("a", "1", Some(TTL));
        assert_eq!((keys.incr("n"), keys.incr("n")), (1, 2));
        assert!(keys.del("a") && !keys.pexpire("a", TTL) && keys.pexpire("n", TTL));
        let mut copy = Keyspace::load(keys.take_changes());
        assert_eq!((copy.pttl("a"), copy.pttl("n"), copy.get("n")), (None, Some(100), Some("2")));
    }

    #[test]
    fn expiry_is_logged_whether_lazy_or_active() {
        let gone = vec![Change { key: "a".into(), now: None }];
        for active in [true, false] {
            let mut keys = at(0);
            keys.set("a", "1", Some(TTL));
            keys.take_changes();
            keys.set_time(200_000_000);
            match active {
                true => assert_eq!(keys.expire_actively(), 1),
                false => assert_eq!(keys.get("a"), None),
            }
            assert_eq!(keys.take_changes(), gone);
        }
    }
}
