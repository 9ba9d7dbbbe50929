//! Clients that do random things with locks, answered at random.

use history::{Event, EventKind, History, Process};
use serde_json::{Value, json};

use crate::random::Random;

/// Nanoseconds of one tick: few ticks make many equal times.
pub const TICK: u64 = 1_000_000;
const CLIENTS: u32 = 3;

/// A well-formed history: acquires, renewals, keepalives in the background, lapses, releases, reads and writes, kills,
/// with every outcome, some never ending.
pub fn history(seed: u64) -> History {
    let mut random = Random(seed);
    let kind = Kind {
        named: !random.one_in(5),
        sane: !random.one_in(3),
        long: 1 + random.below(4),
        ttl: 2 + random.below(10),
        tokens: random.below(3),
        deadlines: random.below(3),
    };
    let mut story = Story { random, kind, events: Vec::new(), counter: 0 };
    let clients = 2 + story.random.below(u64::from(CLIENTS) - 1) as u32;
    for client in 0..clients {
        Client::new(client, &mut story).play();
    }
    // The nemesis is one process: its events come in the order of their times.
    story.events.sort_by_key(|event| (event.process == Process::Nemesis).then_some(event.time));
    let mut history = History::from_events(&story.events);
    history.sort();
    history.check_form().expect("stories are well formed");
    history
}

/// What all clients of a story have in common.
struct Kind {
    /// Whether events name their node.
    named: bool,
    /// Whether answers mostly make sense.
    sane: bool,
    /// How far apart things are, in ticks.
    long: u64,
    ttl: u64,
    /// 0: none, 1: some, 2: mostly in order of time.
    tokens: u64,
    /// 0: none, 1: some, 2: always.
    deadlines: u64,
}

struct Story {
    random: Random,
    kind: Kind,
    events: Vec<Event>,
    counter: u64,
}

struct Client<'s> {
    story: &'s mut Story,
    client: u32,
    process: u32,
    now: u64,
    lock: &'static str,
    token: Option<u64>,
}

/// The client does nothing more.
struct Gone;

impl<'s> Client<'s> {
    fn new(client: u32, story: &'s mut Story) -> Self {
        Client { story, client, process: client, now: 0, lock: "a", token: None }
    }

    fn play(mut self) {
        for _ in 0..1 + self.below(3) {
            if self.round().is_err() {
                return;
            }
        }
    }

    fn round(&mut self) -> Result<(), Gone> {
        let long = self.story.kind.long;
        self.now += self.below(4 * long);
        self.lock = if self.one_in(8) { "b" } else { "a" };
        if self.one_in(12) {
            self.access()?;
        }
        let outcome = self.outcome();
        let took = self.below(2 + 2 * long);
        let asked = self.now + self.below(took + 1);
        let ok = self.answer(asked, self.now + took, true);
        let f = if self.one_in(10) { "campaign" } else { "acquire" };
        if self.operation(f, took, outcome, json!({}), ok)? != EventKind::Ok {
            if self.one_in(3) {
                self.access()?;
            }
            return Ok(());
        }
        for _ in 0..self.below(4) {
            self.now += self.below(2 * long);
            self.act()?;
        }
        self.now += self.below(2 * long);
        self.end()
    }

    fn act(&mut self) -> Result<(), Gone> {
        match self.below(6) {
            0 | 1 => self.renew(),
            2 => {
                self.renewed(self.now);
                Ok(())
            }
            3 if self.one_in(4) => {
                self.lapse(self.now);
                Ok(())
            }
            _ => self.access(),
        }
    }

    fn end(&mut self) -> Result<(), Gone> {
        match self.below(8) {
            0..4 => {
                self.release()?;
                if self.one_in(5) {
                    self.now += self.below(3);
                    self.release()?;
                }
            }
            4 => self.lapse(self.now),
            5 => {
                self.lapse(self.now);
                self.release()?;
            }
            6 if self.story.kind.named => self.killed(),
            _ => {}
        }
        if self.one_in(6) {
            self.now += self.below(3);
            self.access()?;
        }
        Ok(())
    }

    fn renew(&mut self) -> Result<(), Gone> {
        let (outcome, took) = (self.outcome(), self.below(3));
        let asked = self.now + self.below(took + 1);
        let ok = self.answer(asked, self.now + took, false);
        let named = self.subject();
        self.operation("renew", took, outcome, named, ok).map(drop)
    }

    fn release(&mut self) -> Result<(), Gone> {
        let (outcome, took, named) = (self.outcome(), self.below(3), self.subject());
        self.operation("release", took, outcome, named, json!({})).map(drop)
    }

    fn access(&mut self) -> Result<(), Gone> {
        let (outcome, took) = (self.outcome(), self.below(4));
        let f = if self.one_in(3) { "read" } else { "write" };
        let named = self.subject();
        self.operation(f, took, outcome, named, json!({})).map(drop)
    }

    /// What a grant or a renewal says; of a grant the token is remembered.
    fn answer(&mut self, asked: u64, at: u64, grant: bool) -> Value {
        let mut answer = json!({});
        let ttl = if self.one_in(6) { self.below(9) } else { self.story.kind.ttl };
        let sane = self.story.kind.sane;
        if !self.one_in(8) {
            answer["ttl_ms"] = json!(ttl);
        }
        if sane || !self.one_in(3) {
            answer["asked_ns"] = json!(asked * TICK);
        }
        let stated = match self.story.kind.deadlines {
            0 => false,
            1 => self.one_in(2),
            _ => true,
        };
        if stated {
            let more = if self.one_in(10) { self.below(6) } else { 0 };
            answer["deadline_ns"] = json!((asked + ttl + more) * TICK);
        }
        let token = match self.story.kind.tokens {
            0 => None,
            1 => self.one_in(2).then(|| self.below(6)),
            _ if grant => Some(at * 4 + u64::from(self.client)),
            _ => self.token.map(|token| if self.one_in(12) { self.below(40) } else { token }),
        };
        token.into_iter().for_each(|token| answer["token"] = json!(token));
        if grant {
            self.token = token;
        }
        answer
    }

    fn subject(&mut self) -> Value {
        let named = !self.one_in(4);
        self.token.filter(|_| named).map_or(json!({}), |token| json!({ "token": token }))
    }

    fn outcome(&mut self) -> Option<EventKind> {
        match self.below(24) {
            0..17 => Some(EventKind::Ok),
            17..20 => Some(EventKind::Fail),
            20..23 => Some(EventKind::Info),
            _ => None,
        }
    }

    fn operation(
        &mut self,
        f: &str,
        took: u64,
        outcome: Option<EventKind>,
        invoke: Value,
        ok: Value,
    ) -> Result<EventKind, Gone> {
        self.event(EventKind::Invoke, f, self.now, invoke.clone());
        let begun = self.now;
        self.now += took;
        if f != "acquire" && f != "campaign" && self.one_in(4) {
            let at = begun + self.below(took + 1);
            if self.one_in(5) { self.lapse(at) } else { self.renewed(at) }
        }
        let Some(outcome) = outcome else { return Err(Gone) };
        self.event(outcome, f, self.now, if outcome == EventKind::Ok { ok } else { invoke });
        if outcome == EventKind::Info {
            self.process += CLIENTS;
        }
        Ok(outcome)
    }

    fn renewed(&mut self, at: u64) {
        let asked = at.saturating_sub(self.below(3));
        let mut told = self.answer(asked, at, false);
        if told.get("token").is_none() && self.story.kind.tokens < 2 {
            merge(&mut told, self.subject());
        }
        self.notice("renewed", at, told);
    }

    fn lapse(&mut self, at: u64) {
        let mut told = self.subject();
        told["cause"] = json!(if self.one_in(6) { "killed" } else { "deadline" });
        self.notice("lapse", at, told);
    }

    fn notice(&mut self, f: &str, at: u64, told: Value) {
        if !self.one_in(4) {
            self.event(EventKind::Invoke, f, at, told.clone());
        }
        self.event(EventKind::Ok, f, at, told);
    }

    /// The kill is recorded after it took effect; an operation that it cut off has ended perhaps earlier.
    fn killed(&mut self) {
        if self.one_in(2) {
            let cut_off = self.now + self.below(3);
            self.event(EventKind::Invoke, "read", self.now, json!({}));
            self.event(EventKind::Info, "read", cut_off, json!({}));
        }
        self.process += CLIENTS;
        let result = ["installed", "no-effect", "failed"][self.below(5).saturating_sub(2) as usize];
        let value = json!({ "fault": 1, "targets": [format!("c{}", self.client)], "result": result });
        let at = self.now + self.below(4);
        self.push(Process::Nemesis, at, EventKind::Info, "start-kill", value);
        self.now = at + 1;
    }

    fn event(&mut self, kind: EventKind, f: &str, at: u64, mut value: Value) {
        value["lock"] = json!(self.lock);
        self.push(Process::Client(self.process), at, kind, f, value);
    }

    fn push(&mut self, process: Process, at: u64, kind: EventKind, f: &str, value: Value) {
        let named = self.story.kind.named && process != Process::Nemesis;
        let node = named.then(|| format!("c{}", self.client));
        let (index, time) = (0, at * TICK);
        self.story.counter += 1;
        self.story.events.push(Event {
            index,
            time,
            process,
            node,
            kind,
            f: f.to_owned(),
            value,
            error: None,
        });
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.story.random.below(bound)
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.story.random.one_in(bound)
    }
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}
