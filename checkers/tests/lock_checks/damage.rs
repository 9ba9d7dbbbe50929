//! A pair of registers that keep the whole list of what was written into them: what is not in the list at the end is
//! lost.

use std::collections::BTreeSet;

use history::{Event, EventKind, History, Process, ResourceEntry, ResourceOp};
use proptest::prelude::*;
use serde_json::json;

const CLIENTS: usize = 4;

/// A client reads both registers, or writes what it read before, under a token and with an outcome.
#[derive(Clone, Debug)]
pub enum Step {
    Read(usize),
    Write(usize, Option<u64>, EventKind),
}

pub struct Simulated {
    pub history: History,
    /// In the unfenced and the fenced register.
    pub lost: [u64; 2],
    /// Whether every write was acknowledged.
    pub all_known: bool,
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let outcome = prop_oneof![5 => Just(EventKind::Ok), 1 => Just(EventKind::Info)];
    let write = (0..CLIENTS, prop::option::weighted(0.8, 1_u64..5), outcome);
    let step = prop_oneof![
        (0..CLIENTS).prop_map(Step::Read),
        write.prop_map(|(client, token, outcome)| Step::Write(client, token, outcome)),
    ];
    prop::collection::vec(step, 0..40)
}

#[derive(Default)]
struct World {
    registers: [Vec<String>; 2],
    seen: [[Vec<String>; 2]; CLIENTS],
    token_max: u64,
    acknowledged: [BTreeSet<String>; 2],
    events: Vec<Event>,
    log: Vec<ResourceEntry>,
}

pub fn simulate(steps: &[Step]) -> Simulated {
    let mut world = World::default();
    for step in steps {
        match *step {
            Step::Read(client) => world.seen[client] = world.registers.clone(),
            Step::Write(client, token, outcome) => world.write(client, token, outcome),
        }
    }
    let lost = [0, 1].map(|register| {
        let survives = |id: &&String| !world.registers[register].contains(*id);
        world.acknowledged[register].iter().filter(survives).count() as u64
    });
    let all_known = world.events.iter().all(|event| event.kind != EventKind::Info);
    let mut history = History::from_events(&world.events);
    history.resource = world.log;
    Simulated { history, lost, all_known }
}

impl World {
    fn write(&mut self, client: usize, token: Option<u64>, outcome: EventKind) {
        let process = (client + CLIENTS * self.log.len()) as u32;
        let id = format!("{process}-0");
        let [unfenced_base, fenced_base] = self.seen[client].clone().map(|list| list.last().cloned());
        let fenced = token.map(|token| token >= self.token_max);
        self.token_max = self.token_max.max(token.unwrap_or(0));
        for (register, took) in [true, fenced == Some(true)].into_iter().enumerate() {
            if took {
                let mut list = self.seen[client][register].clone();
                list.push(id.clone());
                self.registers[register] = list;
            }
            if took && outcome == EventKind::Ok {
                self.acknowledged[register].insert(id.clone());
            }
        }
        let seq = self.log.len() as u64;
        let read = json!({ "lock": "a", "token": token, "unfenced": unfenced_base, "fenced": fenced_base });
        self.event(process, "read", EventKind::Invoke, json!({ "lock": "a", "token": token }));
        self.event(process, "read", EventKind::Ok, read);
        self.event(process, "write", EventKind::Invoke, json!({ "lock": "a", "id": id, "token": token }));
        let refused = fenced == Some(false);
        self.event(
            process,
            "write",
            outcome,
            json!({ "lock": "a", "id": id, "seq": seq, "fenced_refused": refused }),
        );
        self.log.push(ResourceEntry {
            seq,
            time: seq,
            lock: "a".to_owned(),
            op: ResourceOp::Write,
            process,
            id: Some(id),
            token,
            unfenced_base,
            unfenced: true,
            fenced_base,
            fenced,
        });
    }

    fn event(&mut self, process: u32, f: &str, kind: EventKind, value: serde_json::Value) {
        self.events.push(Event {
            index: 0,
            time: self.events.len() as u64,
            process: Process::Client(process),
            node: None,
            kind,
            f: f.to_owned(),
            value,
            error: None,
        });
    }
}
