//! Random programs of clients, with the holds and promises that they lead to, noted as they are made.

use checkers::history::{Event, EventKind, History, Process};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Nanoseconds of one tick: few ticks make many equal times.
pub const TICK: u64 = 1_000_000;
pub const CLIENTS: u32 = 3;

/// One round of a client.
#[derive(Clone, Debug)]
pub struct Round {
    think: u64,
    lock: u8,
    wait: u64,
    outcome: EventKind,
    token: Option<u64>,
    ttl: Option<u64>,
    renewals: Vec<(u64, u64, EventKind, u64)>,
    hold: u64,
    ending: Ending,
}

#[derive(Clone, Copy, Debug)]
enum Ending {
    Release(u64, EventKind),
    Lapse,
    LapseAndRelease(u64),
    /// Asks again without a word.
    None,
}

/// What a grant led to, as the program's maker knows it.
#[derive(Clone, Debug)]
pub struct Grant {
    pub lock: u8,
    pub client: u32,
    pub invoke: u64,
    pub start: u64,
    pub end: u64,
    pub token: Option<u64>,
    /// Of the acquire and of each successful renewal.
    pub promises: Vec<Promise>,
    pub released: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct Promise {
    pub invoke: u64,
    /// Position of the ok: in `Run::events` while the program runs, then in the history.
    pub place: usize,
    pub ttl: Option<u64>,
}

#[derive(Default)]
pub struct Run {
    events: Vec<Event>,
    pub grants: Vec<Grant>,
}

impl Run {
    /// Sorts the events, and notes where each ok went.
    fn into_history(mut self) -> (History, Vec<Grant>) {
        for (place, event) in self.events.iter_mut().enumerate() {
            event.value["place"] = json!(place);
        }
        // The nemesis is one process: its events come in the order of their times.
        let (mut kills, clients): (Vec<&Event>, Vec<&Event>) =
            self.events.iter().partition(|event| event.process == Process::Nemesis);
        kills.sort_by_key(|event| event.time);
        let mut history = History::from_events(clients.into_iter().chain(kills));
        history.sort();
        history.check_form().expect("the programs are well formed");
        let mut places = vec![0; self.events.len()];
        for row in history.rows() {
            places[row.value().get("place").as_u64().expect("it was put there") as usize] = row.index();
        }
        let end = history.rows().last().map_or(0, |row| row.time());
        for grant in &mut self.grants {
            grant.end = grant.end.min(end);
            grant.promises.iter_mut().for_each(|promise| promise.place = places[promise.place]);
        }
        (history, self.grants)
    }
}

pub fn programs() -> impl Strategy<Value = Vec<(Vec<Round>, Option<u64>)>> {
    let client = (prop::collection::vec(round(), 1..5), prop::option::weighted(0.2, 5_u64..40));
    prop::collection::vec(client, CLIENTS as usize)
}

fn outcome() -> impl Strategy<Value = EventKind> {
    prop_oneof![8 => Just(EventKind::Ok), 1 => Just(EventKind::Fail), 1 => Just(EventKind::Info)]
}

fn round() -> impl Strategy<Value = Round> {
    let ending = prop_oneof![
        4 => (0_u64..3, outcome()).prop_map(|(took, outcome)| Ending::Release(took, outcome)),
        1 => Just(Ending::Lapse),
        1 => (0_u64..3).prop_map(Ending::LapseAndRelease),
        1 => Just(Ending::None),
    ];
    let renewals = prop::collection::vec((0_u64..4, 0_u64..3, outcome(), 1_u64..10), 0..3);
    let grant = (prop::option::weighted(0.8, 0_u64..6), prop::option::weighted(0.8, 1_u64..12));
    let times = (0_u64..6, 0_u64..8, 0_u64..6);
    (times, 0_u8..2, outcome(), grant, renewals, ending).prop_map(
        |((think, wait, hold), lock, outcome, (token, ttl), renewals, ending)| Round {
            think,
            lock,
            wait,
            outcome,
            token,
            ttl,
            renewals,
            hold,
            ending,
        },
    )
}

/// Runs all programs; a client with a second number is killed at that tick.
pub fn run(programs: &[(Vec<Round>, Option<u64>)]) -> (History, Vec<Grant>) {
    let mut run = Run::default();
    for (client, (rounds, killed)) in programs.iter().enumerate() {
        Client::new(client as u32, *killed, &mut run).play(rounds);
    }
    run.into_history()
}

struct Client<'r> {
    run: &'r mut Run,
    client: u32,
    process: u32,
    now: u64,
    killed: Option<u64>,
    /// The client's last own event.
    life: u64,
    /// Grants whose hold goes on.
    open: Vec<usize>,
    /// Grants whose hold ended with an indeterminate operation, if that was the client's last event.
    retired: Vec<usize>,
}

/// The client is dead: nothing more happens.
struct Dead;

impl<'r> Client<'r> {
    fn new(client: u32, killed: Option<u64>, run: &'r mut Run) -> Self {
        Client {
            run,
            client,
            process: client,
            now: 0,
            killed,
            life: 0,
            open: Vec::new(),
            retired: Vec::new(),
        }
    }

    fn play(mut self, rounds: &[Round]) {
        for round in rounds {
            if self.round(round).is_err() {
                return;
            }
        }
    }

    fn round(&mut self, round: &Round) -> Result<(), Dead> {
        self.sleep(round.think)?;
        let lock = round.lock;
        let invoke = self.now;
        let again = self.open_grant(lock);
        self.end_hold(again);
        let mut fields = json!({});
        round.token.into_iter().for_each(|token| fields["token"] = json!(token));
        round.ttl.into_iter().for_each(|ttl| fields["ttl_ms"] = json!(ttl));
        if self.operation("acquire", lock, round.wait, round.outcome, fields)? != EventKind::Ok {
            return Ok(());
        }
        let grant = self.run.grants.len();
        let promise = self.promise(invoke, round.ttl);
        self.run.grants.push(Grant {
            lock,
            client: self.client,
            invoke,
            start: self.now,
            end: u64::MAX,
            token: round.token,
            promises: vec![promise],
            released: None,
        });
        self.open.push(grant);
        self.hold(round, grant)
    }

    fn hold(&mut self, round: &Round, grant: usize) -> Result<(), Dead> {
        let lock = round.lock;
        for &(sleep, took, outcome, ttl) in &round.renewals {
            self.sleep(sleep)?;
            let invoke = self.now;
            match self.operation("renew", lock, took, outcome, json!({ "ttl_ms": ttl }))? {
                EventKind::Ok => {
                    let promise = self.promise(invoke, Some(ttl));
                    self.run.grants[grant].promises.push(promise);
                }
                EventKind::Fail => self.end_hold(Some(grant)),
                _ => return Ok(()),
            }
        }
        self.sleep(round.hold)?;
        match round.ending {
            Ending::Release(took, outcome) => {
                self.release(grant, lock, took, outcome)?;
            }
            Ending::Lapse => self.lapse(grant, lock)?,
            Ending::LapseAndRelease(took) => {
                self.lapse(grant, lock)?;
                self.release(grant, lock, took, EventKind::Ok)?;
            }
            Ending::None => {}
        }
        Ok(())
    }

    /// What the event just written promises.
    fn promise(&self, invoke: u64, ttl: Option<u64>) -> Promise {
        Promise { invoke, place: self.run.events.len() - 1, ttl: ttl.map(|ttl| ttl * TICK) }
    }

    fn lapse(&mut self, grant: usize, lock: u8) -> Result<(), Dead> {
        self.end_hold(Some(grant));
        self.operation("lapse", lock, 0, EventKind::Ok, json!({}))?;
        Ok(())
    }

    fn release(&mut self, grant: usize, lock: u8, took: u64, outcome: EventKind) -> Result<(), Dead> {
        self.end_hold(Some(grant));
        self.run.grants[grant].released = Some(self.now);
        self.operation("release", lock, took, outcome, json!({}))?;
        Ok(())
    }

    fn sleep(&mut self, ticks: u64) -> Result<(), Dead> {
        match self.killed.map(|tick| tick * TICK) {
            Some(killed) if self.now + ticks * TICK >= killed => {
                self.die(killed);
                Err(Dead)
            }
            _ => {
                self.now += ticks * TICK;
                Ok(())
            }
        }
    }

    fn operation(
        &mut self,
        f: &str,
        lock: u8,
        took: u64,
        outcome: EventKind,
        fields: Value,
    ) -> Result<EventKind, Dead> {
        self.event(EventKind::Invoke, f, lock, json!({}));
        self.live();
        if let Some(killed) =
            self.killed.map(|tick| tick * TICK).filter(|killed| self.now + took * TICK >= *killed)
        {
            // The harness notices the cut connection before it records the kill, or after.
            self.now = if took.is_multiple_of(2) { killed } else { killed + 2 * TICK };
            self.event(EventKind::Info, f, lock, json!({}));
            self.die(killed + TICK);
            return Err(Dead);
        }
        self.now += took * TICK;
        self.event(outcome, f, lock, fields);
        if outcome == EventKind::Info {
            self.process += CLIENTS;
            let now = self.now;
            self.open.iter().for_each(|&grant| self.run.grants[grant].end = now);
            self.retired.append(&mut self.open);
        } else {
            self.live();
        }
        Ok(outcome)
    }

    fn live(&mut self) {
        self.life = self.now;
        self.retired.clear();
    }

    fn die(&mut self, at: u64) {
        let (life, grants) = (self.life, &mut self.run.grants);
        self.open.drain(..).chain(self.retired.drain(..)).for_each(|grant| grants[grant].end = life);
        let node = format!("c{}", self.client + 1);
        let value =
            json!({ "fault": self.client + 1, "targets": [node], "result": "installed", "evidence": {} });
        self.push(Process::Nemesis, at, EventKind::Info, "start-kill", value);
    }

    fn open_grant(&self, lock: u8) -> Option<usize> {
        self.open.iter().copied().find(|&grant| self.run.grants[grant].lock == lock)
    }

    fn end_hold(&mut self, grant: Option<usize>) {
        let Some(place) = self.open.iter().position(|&open| Some(open) == grant) else { return };
        let grant = self.open.swap_remove(place);
        self.run.grants[grant].end = self.now;
    }

    fn event(&mut self, kind: EventKind, f: &str, lock: u8, mut value: Value) {
        value["lock"] = json!(["a", "b"][usize::from(lock)]);
        self.push(Process::Client(self.process), self.now, kind, f, value);
    }

    fn push(&mut self, process: Process, time: u64, kind: EventKind, f: &str, value: Value) {
        let node = (process != Process::Nemesis).then(|| format!("c{}", self.client + 1));
        self.run.events.push(Event {
            index: 0,
            time,
            process,
            node,
            kind,
            f: f.to_owned(),
            value,
            error: None,
        });
    }
}
