use history::{EventKind, verdict::Violation};
use serde_json::{Map, Value, json};

use super::{MS, recording::Recording};

const TTL_MS: u64 = 2_000;

/// One lock handed from client to client.
pub struct Shape {
    pub lock: &'static str,
    pub election: bool,
    /// The first of five clients that want it.
    pub first: u32,
    pub clients: u32,
    pub until_ms: u64,
    pub hold_ms: (u64, u64),
    /// Start and length in ms: whoever holds then is paused.
    pub pauses: Vec<(u64, u64)>,
    /// Start and length in ms of a partition of the last client.
    pub cut_off: Option<(u64, u64)>,
}

impl Shape {
    pub fn lock(lock: &'static str, until_ms: u64) -> Shape {
        Shape {
            lock,
            election: false,
            first: 0,
            clients: 5,
            until_ms,
            hold_ms: (120, 520),
            pauses: vec![],
            cut_off: None,
        }
    }

    pub fn election(lock: &'static str, until_ms: u64) -> Shape {
        Shape { election: true, clients: 4, hold_ms: (1_500, 4_000), ..Shape::lock(lock, until_ms) }
    }
}

struct Stale {
    client: u32,
    acquired: [u64; 2],
    since: u64,
    until: u64,
    fault: u32,
    token: u64,
    base: u64,
}

/// Plays the lock's life from 100 ms on.
pub fn play(recording: &mut Recording, shape: &Shape) {
    let (acquire, release) = if shape.election { ("campaign", "resign") } else { ("acquire", "release") };
    let mut ready: Vec<u64> = (0..shape.clients).map(|i| (100 + 37 * u64::from(i)) * MS).collect();
    let mut pauses = shape.pauses.iter().copied().peekable();
    let mut stale: Option<Stale> = None;
    let (mut free, mut token, mut fault_of_cut) = (100 * MS, 0, None);
    while free < shape.until_ms * MS {
        let Some(next) = (0..shape.clients)
            .filter(|i| stale.as_ref().is_none_or(|s| s.client != *i))
            .min_by_key(|i| ready[*i as usize])
        else {
            break;
        };
        let client = shape.first + next;
        let asked = ready[next as usize];
        if let Some((from, length)) = shape.cut_off.filter(|(from, length)| {
            next + 1 == shape.clients && (from * MS..(from + length) * MS).contains(&asked)
        }) {
            let node = format!("c{}", client + 1);
            fault_of_cut.get_or_insert_with(|| {
                recording.fault(
                    "partition",
                    &[&node],
                    (from, from + length),
                    "installed",
                    json!({"dropped_packets": 38}),
                )
            });
            recording.operation(
                client,
                acquire,
                (asked, asked + 1_000 * MS),
                json!({"lock": shape.lock}),
                (EventKind::Info, json!({"lock": shape.lock})),
            );
            ready[next as usize] = asked + 1_050 * MS;
            continue;
        }
        if free > asked + 1_500 * MS {
            recording.operation(
                client,
                acquire,
                (asked, asked + 1_500 * MS),
                json!({"lock": shape.lock}),
                (EventKind::Fail, json!({"lock": shape.lock})),
            );
            ready[next as usize] = asked + (1_500 + recording.draw(5, 60)) * MS;
            continue;
        }
        token += 1;
        let granted = free.max(asked) + recording.draw(600, 4_000) * 1_000;
        recording.contended += u64::from(ready.iter().filter(|at| **at < granted).count() > 1);
        let grant = json!({"lock": shape.lock, "token": token, "ttl_ms": TTL_MS});
        let acquired = recording.operation(
            client,
            acquire,
            (asked, granted),
            json!({"lock": shape.lock}),
            (EventKind::Ok, grant),
        );
        let held = recording.draw(shape.hold_ms.0, shape.hold_ms.1) * MS;
        if stale.is_none()
            && let Some((_, length)) = pauses.next_if(|(from, _)| from * MS <= granted)
        {
            let from_ms = granted / MS + 20;
            let node = format!("c{}", client + 1);
            let fault = recording.fault(
                "pause",
                &[&node],
                (from_ms, from_ms + length),
                "installed",
                json!({"state": "T", "pid": 19 + client}),
            );
            stale = Some(Stale {
                client: next,
                acquired,
                since: granted,
                until: (from_ms + length) * MS,
                fault,
                token,
                base: token - 1,
            });
            free = granted + TTL_MS * MS + recording.draw(1, 12) * MS;
            continue;
        }
        let work = Work { client, token, base: token.saturating_sub(1) };
        let last_write = work.update(recording, shape.lock, granted, held, false);
        let given = granted + held;
        let done = given + recording.draw(400, 2_000) * 1_000;
        recording.operation(
            client,
            release,
            (given, done),
            json!({"lock": shape.lock, "token": token}),
            (EventKind::Ok, json!({"lock": shape.lock})),
        );
        ready[next as usize] = done + recording.draw(3, 45) * MS;
        free = done;
        if let Some(old) = &stale {
            overlap(recording, shape, old, client, acquired, (granted, given));
        }
        if let Some(old) = stale.take_if(|old| old.until <= free) {
            ready[old.client as usize] = wake(recording, shape, &old, release, last_write);
        }
    }
}

/// The paused holder goes on as if nothing had been: a write, then a release that nobody wants.
fn wake(recording: &mut Recording, shape: &Shape, old: &Stale, release: &str, lost: [u64; 2]) -> u64 {
    let client = shape.first + old.client;
    let write = Work { client, token: old.token, base: old.base }.update(
        recording,
        shape.lock,
        old.until,
        4 * MS,
        true,
    );
    let asked = json!({"lock": shape.lock, "token": old.token});
    let released = old.until + 4 * MS;
    recording.operation(
        client,
        release,
        (released, released + MS),
        asked,
        (EventKind::Fail, json!({"lock": shape.lock})),
    );
    recording.lost.push(Violation {
        text: format!(
            "c{} overwrote newer updates of \"{}\" from its stale read (events {{ops}})",
            client + 1,
            shape.lock
        ),
        operations: vec![lost[0], lost[1], write[0]],
        start_ns: old.until,
        end_ns: released,
        faults: vec![old.fault],
        figures: Map::from_iter([("register".to_owned(), json!("unfenced"))]),
    });
    released + 20 * MS
}

fn overlap(
    recording: &mut Recording,
    shape: &Shape,
    old: &Stale,
    client: u32,
    acquired: [u64; 2],
    hold: (u64, u64),
) {
    let end = hold.1.min(old.until + 4 * MS);
    if end <= hold.0 {
        return;
    }
    let overlap_ms = (end - hold.0) as f64 / 1e6;
    let text = format!(
        "c{} held \"{}\" from {:.3} s, c{} from {:.3} s: {overlap_ms:.1} ms at once (events {{ops}}), c{} being paused (fault {})",
        shape.first + old.client + 1,
        shape.lock,
        old.since as f64 / 1e9,
        client + 1,
        hold.0 as f64 / 1e9,
        shape.first + old.client + 1,
        old.fault
    );
    recording.overlaps.push(Violation {
        text,
        operations: vec![old.acquired[1], acquired[1]],
        start_ns: hold.0,
        end_ns: end,
        faults: vec![old.fault],
        figures: Map::from_iter([("overlap_ms".to_owned(), json!(overlap_ms))]),
    });
}

struct Work {
    client: u32,
    token: u64,
    base: u64,
}

impl Work {
    /// Reads and writes within `held` from `start`; answers the write's events.
    fn update(&self, recording: &mut Recording, lock: &str, start: u64, held: u64, stale: bool) -> [u64; 2] {
        let at = |share: u64| start + held * share / 10;
        let token = json!({"lock": lock, "token": self.token});
        let base = format!("{}-{}", lock, self.base);
        if !stale {
            let seen = json!({"lock": lock, "token": self.token, "seq": 2 * self.token, "unfenced": base, "fenced": base});
            recording.operation(self.client, "read", (at(1), at(2)), token, (EventKind::Ok, seen));
        }
        let id = format!("{}-{}", lock, self.token);
        let asked = json!({"lock": lock, "token": self.token, "id": id});
        let mut took = json!({"lock": lock, "token": self.token, "id": id, "seq": 2 * self.token + 1});
        if stale {
            took["fenced_refused"] = Value::Bool(true);
        }
        recording.operation(
            self.client,
            "write",
            (at(6), at(6) + (held / 10).min(6 * MS)),
            asked,
            (EventKind::Ok, took),
        )
    }
}
