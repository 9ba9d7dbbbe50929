//! What can be seen of a run while it goes.

use std::collections::BTreeMap;

use history::{Action, Event, EventKind, Process, is_notice};
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
    /// When its last event was.
    last: u64,
    /// As that had it.
    process: u32,
    /// Whether that event retired it.
    retired: bool,
    open: Option<(String, Value)>,
    holds: BTreeMap<String, Hold>,
}

impl Client {
    /// The hold of the lock that the event ends.
    fn ends(&mut self, lock: &str, event: &Event) -> Option<Hold> {
        let ends = Action::named(&event.f).is_some_and(Action::gives_up);
        ends.then(|| self.holds.remove(lock)).flatten()
    }
}

/// Whether an operation asks for a lock or a leadership.
fn grants(f: &str) -> bool {
    Action::named(f).is_some_and(Action::asks)
}

/// What a client believes to have.
struct Hold {
    /// What names the grant, as the client does.
    token: Value,
    lease: Value,
    since: u64,
    /// Its deadline, where the client looks.
    until: Option<u64>,
}

impl Hold {
    fn new(event: &Event) -> Hold {
        let field = |name: &str| event.value.get(name).cloned().unwrap_or(Value::Null);
        let until = field("deadline_ns").as_u64();
        Hold { token: field("token"), lease: field("lease"), since: event.time, until }
    }
}

impl Live {
    /// Takes the next event.
    pub fn take(&mut self, event: Event) {
        let (Process::Client(process), Some(node)) = (event.process, &event.node) else { return };
        if !self.clients.contains_key(node) {
            self.clients.insert(node.clone(), Client::default());
        }
        let Some(client) = self.clients.get_mut(node) else { return };
        (client.process, client.retired) = (process, event.kind == EventKind::Info);
        client.last = client.last.max(event.time);
        let lock = event.value.get("lock").and_then(Value::as_str);
        let ended = lock.and_then(|lock| client.ends(lock, &event));
        if let Some(lock) = lock.filter(|_| grants(&event.f) && event.kind == EventKind::Ok) {
            client.holds.insert(lock.to_owned(), Hold::new(&event));
            self.counts.grants += 1;
            self.granted_at.insert(lock.to_owned(), event.time);
        }
        let renewed =
            lock.filter(|_| event.f == Action::Renewed.name()).and_then(|lock| client.holds.get_mut(lock));
        renewed.into_iter().for_each(|hold| hold.until = Hold::new(&event).until);
        self.counts.operations += u64::from(event.kind != EventKind::Invoke);
        if let (Some(lock), Some(ended)) = (lock, ended) {
            // Nodes are heard out of step: only the times tell whether another hold began before this one ended.
            let end = ended.until.map_or(event.time, |until| until.min(event.time));
            let others = self.clients.values().filter_map(|client| client.holds.get(lock));
            let overlaps =
                |hold: &&Hold| hold.since < end && hold.until.is_none_or(|until| until > ended.since);
            self.counts.overlaps += others.filter(overlaps).count() as u64;
        }
        // What a client learns may come while an operation is pending.
        if let Some(client) = self.clients.get_mut(node).filter(|_| !is_notice(&event.f)) {
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

    /// When the last event of a client was.
    pub fn last_event(&self, node: &str) -> Option<u64> {
        self.clients.get(node).map(|client| client.last)
    }

    /// The events that end what a client, one of `clients`, was doing when it died. Each of its holds lapses, and its
    /// open operation, if it has one, is indeterminate for the reason given, which retires the process.
    pub fn closing_events(&self, node: &str, time: u64, clients: u32, why: &str) -> Vec<Event> {
        let Some(client) = self.clients.get(node) else { return Vec::new() };
        let process = client.process.saturating_add(if client.retired { clients } else { 0 });
        let event = |kind, f: &str, value: Value, error: Option<String>| Event {
            index: 0,
            time,
            process: Process::Client(process),
            node: Some(node.to_string()),
            kind,
            f: f.to_string(),
            value,
            error,
        };
        let open =
            client.open.iter().map(|(f, value)| event(EventKind::Info, f, value.clone(), Some(why.into())));
        let lapses = client.holds.iter().flat_map(|(lock, hold)| {
            let mut value = json!({ "lock": lock, "cause": "killed" });
            let named = [("token", &hold.token), ("lease", &hold.lease)];
            named.into_iter().filter(|(_, name)| !name.is_null()).for_each(|(field, name)| {
                value[field] = name.clone();
            });
            [
                event(EventKind::Invoke, Action::Lapse.name(), value.clone(), None),
                event(EventKind::Ok, Action::Lapse.name(), value, None),
            ]
        });
        lapses.chain(open).collect()
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
    fn a_renewal_beside_an_operation_puts_the_deadline_off_and_ends_nothing() {
        let with_deadline = |f: &str, time, until: u64| Event {
            value: json!({ "lock": "a", "deadline_ns": until }),
            ..event(0, EventKind::Ok, f, time)
        };
        let mut live = Live::default();
        live.take(with_deadline("acquire", 2, 10));
        live.take(event(0, EventKind::Invoke, "write", 3));
        live.take(with_deadline("renewed", 4, 30));
        assert_eq!(live.holders(), ["c1"]);
        live.take(event(1, EventKind::Ok, "acquire", 35));
        live.take(event(0, EventKind::Ok, "write", 40));
        live.take(event(0, EventKind::Invoke, "lapse", 40));
        assert_eq!(live.counts().overlaps, 0, "its deadline had passed");
        let mut late = Live::default();
        late.take(with_deadline("acquire", 2, 10));
        late.take(with_deadline("renewed", 4, 30));
        late.take(event(1, EventKind::Ok, "acquire", 20));
        late.take(event(0, EventKind::Invoke, "release", 40));
        assert_eq!(late.counts().overlaps, 1);
    }

    #[test]
    fn a_killed_client_gives_its_holds_up_whatever_it_was_doing() {
        let mut live = Live::default();
        live.take(event(0, EventKind::Ok, "acquire", 2));
        live.take(event(0, EventKind::Invoke, "write", 3));
        let closing = live.closing_events("c1", 9, 2, "why");
        let said = |closing: &[Event]| {
            let said = closing.iter().map(|event| (event.process, event.kind, event.f.clone()));
            said.collect::<Vec<_>>()
        };
        let by = Process::Client;
        let lapse = |process| {
            [(by(process), EventKind::Invoke, "lapse".into()), (by(process), EventKind::Ok, "lapse".into())]
        };
        let [first, second] = lapse(0);
        assert_eq!(said(&closing), [first, second, (by(0), EventKind::Info, "write".into())]);
        live.take(event(0, EventKind::Info, "write", 8));
        assert_eq!(live.holders(), ["c1"], "it goes on with its hold under its next number");
        assert_eq!(said(&live.closing_events("c1", 9, 2, "why")), lapse(2));
    }

    #[test]
    fn a_killed_client_leaves_nothing_open() {
        let mut live = Live::default();
        live.take(event(0, EventKind::Invoke, "acquire", 1));
        let closing = live.closing_events("c1", 9, 2, "why");
        assert_eq!((closing.len(), closing[0].kind), (1, EventKind::Info));
        live.take(event(0, EventKind::Ok, "acquire", 2));
        let closing = live.closing_events("c1", 9, 2, "why");
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
