//! Writes a lock history of any size to standard output, to measure readers and checks with.
//!
//! `generate_history OPERATIONS [CLIENTS] [SEED] [valid|invalid] [jsonl|edn]`
//!
//! Clients acquire a fenced lock, hold it for a while and release it; some acquires fail, some end unknown.
//! `invalid` gives the lock to a second client shortly before the end, while the first still holds it.

use std::collections::VecDeque;
use std::io::{self, BufWriter, Write};

use history::{Event, EventKind, History, Process, edn, jsonl};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |position: usize, default: u64| match arguments.get(position) {
        Some(text) => text.parse().unwrap_or_else(|_| usage()),
        None => default,
    };
    let word =
        |position: usize, default: &'static str| arguments.get(position).map_or(default, String::as_str);
    let lock = Lock::new(number(0, 1000), number(1, 10) as u32, number(2, 1), word(3, "valid") == "invalid");
    let mut output = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    match word(4, "jsonl") {
        "jsonl" => jsonl::write(&mut output, lock)?,
        "edn" => edn::write(&mut output, &History::from_events(&lock.collect::<Vec<_>>()))?,
        _ => usage(),
    }
    output.flush()
}

fn usage() -> ! {
    eprintln!("usage: generate_history OPERATIONS [CLIENTS] [SEED] [valid|invalid] [jsonl|edn]");
    std::process::exit(64)
}

/// What a client does next.
#[derive(Clone, Copy)]
enum Client {
    Idle,
    Waiting,
    Holding { token: u64 },
    Releasing { token: u64 },
}

/// A lock service and its clients, one event after another.
struct Lock {
    clients: Vec<(u32, Client)>,
    waiting: VecDeque<usize>,
    holder: Option<usize>,
    token: u64,
    operations_left: u64,
    breaks_at: Option<u64>,
    time: u64,
    index: u64,
    random: u64,
}

impl Lock {
    fn new(operations: u64, clients: u32, seed: u64, invalid: bool) -> Self {
        Self {
            clients: (0..clients).map(|client| (client, Client::Idle)).collect(),
            waiting: VecDeque::new(),
            holder: None,
            token: 0,
            operations_left: operations,
            breaks_at: invalid.then_some(operations / 100),
            time: 1_000_000,
            index: 0,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        }
    }

    /// Xorshift: anything that is the same on every machine will do.
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % bound
    }

    fn event(&mut self, client: usize, kind: EventKind, f: &str, value: Value) -> Event {
        self.time += 1 + self.below(20_000);
        self.index += 1;
        let process = self.clients[client].0;
        Event {
            index: self.index - 1,
            time: self.time,
            process: Process::Client(process),
            node: Some(format!("c{}", process as usize % self.clients.len() + 1)),
            kind,
            f: f.to_owned(),
            value,
            error: (kind == EventKind::Info).then(|| "timed out".to_owned()),
        }
    }

    fn step(&mut self, client: usize) -> Option<Event> {
        let (process, state) = self.clients[client];
        let (next, kind, f, value) = match state {
            Client::Idle if self.operations_left == 0 => return None,
            Client::Idle => {
                self.operations_left -= 1;
                self.waiting.push_back(client);
                (Client::Waiting, EventKind::Invoke, "acquire", json!({"lock": "a"}))
            }
            Client::Waiting if self.below(100) == 0 => {
                self.waiting.retain(|waiting| *waiting != client);
                if self.below(10) == 0 {
                    let event = self.event(client, EventKind::Info, "acquire", json!({"lock": "a"}));
                    self.clients[client] = (process + self.clients.len() as u32, Client::Idle);
                    return Some(event);
                }
                (Client::Idle, EventKind::Fail, "acquire", json!({"lock": "a"}))
            }
            Client::Waiting if self.may_enter(client) => {
                self.waiting.pop_front();
                self.holder = Some(client);
                self.token += 1;
                let value = json!({"lock": "a", "token": self.token, "ttl_ms": 2000});
                (Client::Holding { token: self.token }, EventKind::Ok, "acquire", value)
            }
            Client::Waiting => return None,
            Client::Holding { token } if self.operations_left > 0 => {
                self.operations_left -= 1;
                let value = json!({"lock": "a", "token": token});
                (Client::Releasing { token }, EventKind::Invoke, "release", value)
            }
            Client::Holding { .. } => return None,
            Client::Releasing { token } => {
                if self.holder == Some(client) {
                    self.holder = None;
                }
                (Client::Idle, EventKind::Ok, "release", json!({"lock": "a", "token": token}))
            }
        };
        self.clients[client].1 = next;
        Some(self.event(client, kind, f, value))
    }

    /// The first in the queue enters once the lock is free, or once the service breaks.
    fn may_enter(&mut self, client: usize) -> bool {
        if self.waiting.front() != Some(&client) {
            return false;
        }
        let Some(holder) = self.holder else { return true };
        let is_held = matches!(self.clients[holder].1, Client::Holding { .. });
        let breaks = is_held && self.breaks_at.is_some_and(|left| self.operations_left <= left);
        if breaks {
            self.breaks_at = None;
        }
        breaks
    }
}

impl Iterator for Lock {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let first = self.below(self.clients.len() as u64) as usize;
        let count = self.clients.len();
        (0..count).find_map(|offset| self.step((first + offset) % count))
    }
}
