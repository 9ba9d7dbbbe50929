//! Histories of many kinds, in EDN, that would be right but for one answer (of key-value stores: one of each key).
//!
//! A few clients work on one object, which acts at some instant between invocation and return.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;

/// What a history can be of, with the model that judges it.
pub const KINDS: [(&str, &str); 15] = [
    ("register", "register"),
    ("register-of-few-values", "register"),
    ("cas-register", "cas-register"),
    ("multi-register", "multi-register"),
    ("mutex", "mutex"),
    ("owned-mutex", "owned-mutex"),
    ("semaphore", "semaphore:3"),
    ("counter", "counter"),
    ("counter-of-amounts", "counter"),
    ("queue", "fifo-queue"),
    ("queue-of-few-values", "fifo-queue"),
    ("set-lacks", "set"),
    ("set-invents", "set"),
    ("key-value", "key-value"),
    ("key-value-stale", "key-value"),
];

const CLIENTS: usize = 5;
const KEYS: usize = 10;

/// A history of so many operations. The same for the same seed.
pub fn history(kind: &str, operations: usize, seed: u64) -> String {
    let mut world = World {
        kind: KINDS.iter().find(|(known, _)| *known == kind).expect("a known kind").0,
        random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        clients: (0..CLIENTS).map(|_| Client::default()).collect(),
        wrong_left: if kind.starts_with("key-value") { (1 << KEYS) - 1 } else { 1 },
        ..World::default()
    };
    let mut invoked = 0;
    while invoked < operations || world.clients.iter().any(|client| client.stage != Stage::Idle) {
        world.done = invoked as f64 / operations as f64;
        let client = world.below(CLIENTS as u64) as usize;
        match world.clients[client].stage {
            Stage::Idle if invoked < operations => {
                if let Some((f, asked)) = world.ask(client) {
                    invoked += 1;
                    world.clients[client] =
                        Client { stage: Stage::Invoked, f, asked, ..world.clients[client].clone() };
                    let asked = world.clients[client].asked.clone();
                    world.event(client, "invoke", &asked);
                }
            }
            Stage::Idle => {}
            Stage::Invoked => {
                if let Some(answer) = world.act(client) {
                    world.clients[client].answer = answer;
                    world.clients[client].stage = Stage::Acted;
                    if std::mem::take(&mut world.is_hasty) {
                        world.end(client);
                    }
                } else if invoked >= operations {
                    // Nobody is left who would let it go on.
                    world.clients[client].stage = Stage::Idle;
                }
            }
            Stage::Acted => {
                world.end(client);
            }
        }
    }
    world.text
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Stage {
    #[default]
    Idle,
    Invoked,
    Acted,
}

#[derive(Clone, Default)]
struct Client {
    stage: Stage,
    f: &'static str,
    asked: String,
    answer: Answer,
    /// Of a lock or semaphore.
    holds: bool,
}

#[derive(Default)]
struct World {
    kind: &'static str,
    text: String,
    random: u64,
    clients: Vec<Client>,
    /// The share of operations that were invoked.
    done: f64,
    /// What just went wrong returns at once, so that nothing else can excuse it.
    is_hasty: bool,
    /// Bits: what is still to go wrong.
    wrong_left: u64,
    count: u64,
    /// Values of registers, by register; the first is that of single ones, and a counter's.
    values: [i64; KEYS],
    /// All values that there ever were.
    earlier: [Vec<i64>; KEYS],
    queue: VecDeque<u64>,
    set: BTreeSet<u64>,
    texts: [String; KEYS],
    /// What the texts were some changes ago.
    earlier_texts: [VecDeque<String>; KEYS],
}

impl World {
    /// Xorshift.
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % bound
    }

    fn event(&mut self, client: usize, kind: &str, value: &str) {
        let f = self.clients[client].f;
        let _ = writeln!(self.text, "{{:process {client}, :type :{kind}, :f :{f}, :value {value}}}");
    }

    fn end(&mut self, client: usize) {
        let (end, value) = self.clients[client].answer.clone();
        self.event(client, end, &value);
        self.clients[client].stage = Stage::Idle;
    }

    /// Whether it is time to go wrong, which happens once for each bit.
    fn goes_wrong(&mut self, bit: usize) -> bool {
        let is_time = self.done > 0.5 && self.wrong_left >> bit & 1 == 1;
        self.wrong_left &= !(u64::from(is_time) << bit);
        self.is_hasty |= is_time;
        is_time
    }

    fn fresh(&mut self) -> u64 {
        self.count += 1;
        if self.kind.ends_with("few-values") { self.count % 5 + 1 } else { self.count }
    }

    /// What a client asks for next.
    fn ask(&mut self, client: usize) -> Option<(&'static str, String)> {
        let is_read = self.below(2) == 0;
        let (is_rare, is_cas) = (self.below(10) == 0, self.below(2) == 0);
        let nil = || "nil".to_string();
        Some(match self.kind {
            "mutex" | "owned-mutex" | "semaphore" => {
                (if self.clients[client].holds { "release" } else { "acquire" }, nil())
            }
            "counter" if !is_read => ("add", "1".into()),
            "counter-of-amounts" if !is_read => ("add", (self.below(9) + 1).to_string()),
            "queue" | "queue-of-few-values" if is_read && !is_rare => ("dequeue", nil()),
            "queue" | "queue-of-few-values" => ("enqueue", self.fresh().to_string()),
            kind if kind.starts_with("set") && !is_rare => ("add", self.fresh().to_string()),
            "multi-register" => ("txn", self.transaction()),
            "key-value" | "key-value-stale" => {
                let key = self.below(KEYS as u64);
                match self.below(5) {
                    0 => ("put", format!("{{:key \"k{key}\" :value \"p{}.\"}}", self.fresh())),
                    1 | 2 => ("append", format!("{{:key \"k{key}\" :value \"a{}.\"}}", self.fresh())),
                    _ => ("get", format!("{{:key \"k{key}\"}}")),
                }
            }
            "cas-register" if !is_read && is_cas => {
                let from = self.values[0];
                ("cas", format!("[{from} {}]", self.fresh()))
            }
            "register" | "register-of-few-values" | "cas-register" if !is_read => {
                ("write", self.fresh().to_string())
            }
            _ => ("read", nil()),
        })
    }

    fn transaction(&mut self) -> String {
        let steps: Vec<String> = (0..1 + self.below(3))
            .map(|_| match (self.below(2), self.below(5)) {
                (0, register) => format!("[:r {register} nil]"),
                (_, register) => format!("[:w {register} {}]", self.fresh()),
            })
            .collect();
        format!("[{}]", steps.join(" "))
    }

    /// The object acts and answers; `None` if the client has to wait.
    fn act(&mut self, client: usize) -> Option<Answer> {
        let Client { f, asked, .. } = self.clients[client].clone();
        let holders = self.clients.iter().filter(|client| client.holds).count();
        let is_held =
            self.clients.iter().filter(|client| client.holds && client.stage == Stage::Idle).count();
        let permits = if self.kind == "semaphore" { 3 } else { 1 };
        let number = |text: &str| text.parse::<i64>().expect("a number");
        match f {
            "acquire" if holders < permits || (is_held == permits && self.goes_wrong(0)) => {
                self.clients[client].holds = true
            }
            "acquire" => return None,
            "release" => self.clients[client].holds = false,
            "add" if self.kind.starts_with("set") => _ = self.set.insert(number(&asked) as u64),
            "add" => self.put(0, self.values[0] + number(&asked)),
            "write" => self.put(0, number(&asked)),
            "cas" => {
                let (from, to) = asked[1..asked.len() - 1].split_once(' ').expect("two values");
                if number(from) != self.values[0] {
                    return Some(("fail", asked));
                }
                self.put(0, number(to));
            }
            "read" if self.kind.starts_with("set") => return Some(("ok", self.elements())),
            "read" => return Some(("ok", self.get(0).to_string())),
            "txn" => return Some(("ok", self.transact(&asked))),
            "enqueue" => self.queue.push_back(number(&asked) as u64),
            "dequeue" => return Some(self.dequeue()),
            _ => return Some(("ok", self.on_text(f, &asked))),
        }
        Some(("ok", asked))
    }

    fn put(&mut self, register: usize, value: i64) {
        self.earlier[register].push(self.values[register]);
        self.values[register] = value;
    }

    /// When it goes wrong: a value from long ago, which for few values is none that can have been read.
    fn get(&mut self, register: usize) -> i64 {
        let is_stale = self.earlier[register].len() > 3 && self.goes_wrong(0);
        match is_stale {
            true if self.kind.ends_with("few-values") => 99,
            true => self.earlier[register][1],
            false => self.values[register],
        }
    }

    fn elements(&mut self) -> String {
        let mut seen = self.set.clone();
        if self.goes_wrong(0) {
            match self.kind {
                "set-lacks" => _ = seen.pop_first(),
                _ => _ = seen.insert(1_000_000),
            }
        }
        format!("#{{{}}}", seen.iter().map(u64::to_string).collect::<Vec<_>>().join(" "))
    }

    fn transact(&mut self, asked: &str) -> String {
        let steps = asked[2..asked.len() - 2].split("] [").map(|step| {
            let words: Vec<&str> = step.split(' ').collect();
            let register = words[1].parse().expect("a register");
            if words[0] == ":w" {
                self.put(register, words[2].parse().expect("a number"));
                return format!("[{step}]");
            }
            format!(
                "[:r {register} {}]",
                Some(self.get(register))
                    .filter(|value| *value > 0)
                    .map_or("nil".into(), |value| value.to_string())
            )
        });
        format!("[{}]", steps.collect::<Vec<_>>().join(" "))
    }

    fn dequeue(&mut self) -> Answer {
        let last = self.queue.len().saturating_sub(1);
        let skips = last > 1 && self.queue[0] != self.queue[last] && self.goes_wrong(0);
        match self.queue.remove(if skips { last } else { 0 }) {
            Some(value) => ("ok", value.to_string()),
            None => ("fail", "nil".to_string()),
        }
    }

    fn on_text(&mut self, f: &str, asked: &str) -> String {
        let key: usize = asked[8..9].parse().expect("a key");
        let value = asked.split('"').nth(3);
        if f != "get" {
            self.earlier_texts[key].push_front(self.texts[key].clone());
            self.earlier_texts[key].truncate(4);
        }
        match (f, value) {
            ("put", Some(value)) => self.texts[key] = value.to_string(),
            ("append", Some(value)) => self.texts[key].push_str(value),
            _ => {
                let mut text = self.texts[key].clone();
                let earlier = self.earlier_texts[key].get(3).cloned();
                match (self.kind, earlier) {
                    ("key-value-stale", Some(earlier)) if self.goes_wrong(key) => text = earlier,
                    ("key-value", _) if text.len() > 6 && self.goes_wrong(key) => _ = text.drain(2..4),
                    _ => {}
                }
                return format!("{{:key \"k{key}\" :value \"{text}\"}}");
            }
        }
        asked.to_string()
    }
}

/// How an operation ends, and with which value.
type Answer = (&'static str, String);
