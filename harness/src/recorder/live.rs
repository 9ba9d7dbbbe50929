//! What can be seen of a run while it goes.

use std::collections::BTreeMap;

use checkers::history::{Event, EventKind, Process};
use serde_json::{Value, json};

/// What was counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Completed operations.
    pub operations: u64,
    /// Grants of locks or leaderships.
    pub grants: u64,
    /// Pairs of holds that were seen to overlap; counted when the first of the two ends.
    pub overlaps: u64,
}

/// Clients as the history shows them up to now.
#[derive(Default)]
pub struct Live {
    clients: BTreeMap<String, Client>,
    granted_at: BTreeMap<String, u64>,
    counts: Counts,
}

#[derive(Default)]
struct Client {
    process: u32,
    open: Option<(String, Value)>,
    holds: BTreeMap<String, Hold>,
}

impl Client {
    /// Whether the event ends a hold of the lock.
    fn ends(&mut self, lock: &str, event: &Event) -> bool {
        matches!(event.f.as_str(), "release" | "resign" | "lapse") && self.holds.remove(lock).is_some()
    }
}

/// Whether an operation asks for a lock or a leadership.
fn grants(f: &str) -> bool {
    matches!(f, "acquire" | "campaign")
}

/// What a client believes to have.
struct Hold {
    token: Value,
    since: u64,
}

impl Live {
    /// Takes the next event.
    pub fn take(&mut self, event: Event) {
        let (Process::Client(process), Some(node)) = (event.process, &event.node) else { return };
        if !self.clients.contains_key(node) {
            self.clients.insert(node.clone(), Client::default());
        }
        let Some(client) = self.clients.get_mut(node) else { return };
        client.process = process;
        if event.kind == EventKind::Info {
            client.holds.clear();
        }
        let lock = event.value.get("lock").and_then(Value::as_str);
        let ended = lock.is_some_and(|lock| client.ends(lock, &event));
        if let Some(lock) = lock.filter(|_| grants(&event.f) && event.kind == EventKind::Ok) {
            let token = event.value.get("token").cloned().unwrap_or(Value::Null);
            client.holds.insert(lock.to_owned(), Hold { token, since: event.time });
            self.counts.grants += 1;
            self.granted_at.insert(lock.to_owned(), event.time);
        }
        self.counts.operations += u64::from(event.kind != EventKind::Invoke);
        if let Some(lock) = lock.filter(|_| ended) {
            // Nodes are heard out of step: only the times tell whether another hold began before this one ended.
            let others = self.clients.values().filter_map(|client| client.holds.get(lock));
            self.counts.overlaps += others.filter(|hold| hold.since < event.time).count() as u64;
        }
        if let Some(client) = self.clients.get_mut(node) {
            client.open = (event.kind == EventKind::Invoke).then_some((event.f, event.value));
        }
    }

    /// Clients that hold a lock, by node.
    pub fn holders(&self) -> Vec<String> {
        self.nodes(|client| !client.holds.is_empty())
    }

    /// Clients that wait for a lock, by node.
    pub fn waiters(&self) -> Vec<String> {
        let waits = |(f, _): &(String, Value)| grants(f);
        self.nodes(|client| client.open.as_ref().is_some_and(waits))
    }

    fn nodes(&self, which: impl Fn(&Client) -> bool) -> Vec<String> {
        self.clients.iter().filter(|(_, client)| which(client)).map(|(node, _)| node.clone()).collect()
    }

    /// Whether each of the locks seen so far was granted after `time`.
    pub fn all_granted_since(&self, time: u64) -> bool {
        !self.granted_at.is_empty() && self.granted_at.values().all(|at| *at > time)
    }

    /// The next free process number of a client.
    pub fn next_process(&self, node: &str, client: u32, clients: u32) -> u32 {
        self.clients.get(node).map_or(client, |client| client.process.saturating_add(clients))
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The events that end what a killed client was doing. Its open operation is indeterminate, which retires the
    /// process; without one, each of its holds lapses.
    pub fn closing_events(&self, node: &str, time: u64) -> Vec<Event> {
        let Some(client) = self.clients.get(node) else { return Vec::new() };
        let event = |kind, f: &str, value: Value, error: Option<String>| Event {
            index: 0,
            time,
            process: Process::Client(client.process),
            node: Some(node.to_string()),
            kind,
            f: f.to_string(),
            value,
            error,
        };
        if let Some((f, value)) = &client.open {
            return vec![event(EventKind::Info, f, value.clone(), Some("the client was killed".into()))];
        }
        let lapses = client.holds.iter().flat_map(|(lock, hold)| {
            let mut value = json!({ "lock": lock, "cause": "killed" });
            if !hold.token.is_null() {
                value["token"] = hold.token.clone();
            }
            [
                event(EventKind::Invoke, "lapse", value.clone(), None),
                event(EventKind::Ok, "lapse", value, None),
            ]
        });
        lapses.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(process: u32, kind: EventKind, f: &str, time: u64) -> Event {
        Event {
            index: 0,
            time,
            process: Process::Client(process),
            node: Some(format!("c{}", process % 2 + 1)),
            kind,
            f: f.into(),
            value: json!({ "lock": "a", "token": 7 }),
            error: None,
        }
    }

    #[test]
    fn sees_holders_waiters_and_overlaps() {
        let mut live = Live::default();
        live.take(event(0, EventKind::Invoke, "acquire", 1));
        assert_eq!(live.waiters(), ["c1"]);
        live.take(event(0, EventKind::Ok, "acquire", 2));
        assert_eq!((live.holders(), live.waiters()), (vec!["c1".to_string()], vec![]));
        live.take(event(1, EventKind::Invoke, "acquire", 3));
        live.take(event(1, EventKind::Ok, "acquire", 4));
        live.take(event(0, EventKind::Invoke, "release", 5));
        assert_eq!(live.counts(), Counts { operations: 2, grants: 2, overlaps: 1 });
        assert_eq!(live.holders(), ["c2"]);
        assert!(live.all_granted_since(3) && !live.all_granted_since(4));
    }

    #[test]
    fn an_end_that_is_heard_of_late_is_no_overlap() {
        let mut live = Live::default();
        live.take(event(0, EventKind::Ok, "acquire", 2));
        live.take(event(1, EventKind::Ok, "acquire", 6));
        live.take(event(0, EventKind::Invoke, "release", 5));
        assert_eq!(live.counts().overlaps, 0);
    }

    #[test]
    fn a_killed_client_leaves_nothing_open() {
        let mut live = Live::default();
        live.take(event(0, EventKind::Invoke, "acquire", 1));
        let closing = live.closing_events("c1", 9);
        assert_eq!((closing.len(), closing[0].kind), (1, EventKind::Info));
        live.take(event(0, EventKind::Ok, "acquire", 2));
        let closing = live.closing_events("c1", 9);
        assert_eq!(
            closing.iter().map(|event| event.kind).collect::<Vec<_>>(),
            [EventKind::Invoke, EventKind::Ok]
        );
        assert_eq!(closing[0].value["cause"], "killed");
        closing.into_iter().for_each(|event| live.take(event));
        assert!(live.holders().is_empty());
        assert_eq!(live.next_process("c1", 0, 2), 2);
        assert_eq!(live.next_process("c2", 1, 2), 1);
    }
}
