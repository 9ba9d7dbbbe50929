use std::collections::BTreeMap;

use history::{
    Event, EventKind, Process,
    judgement::{FaultRecord, Grants, Outcomes},
    stalls::{self, Stalls},
    verdict::Violation,
};
use reports::run::RunData;
use serde_json::{Value, json};

use super::{MS, Told, holds, judgement};

/// Events under provisional numbers, put in order at the end.
pub struct Recording {
    pub clients: u32,
    processes: Vec<u32>,
    events: Vec<Event>,
    pub overlaps: Vec<Violation>,
    pub lost: Vec<Violation>,
    faults: Vec<FaultRecord>,
    pub contended: u64,
    state: u64,
}

impl Recording {
    pub fn new(clients: u32) -> Recording {
        Recording {
            clients,
            processes: (0..clients).collect(),
            events: vec![],
            overlaps: vec![],
            lost: vec![],
            faults: vec![],
            contended: 0,
            state: 7,
        }
    }

    /// Evenly from `from..to`, always the same sequence.
    pub fn draw(&mut self, from: u64, to: u64) -> u64 {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        from + (self.state >> 33) % (to - from).max(1)
    }

    /// An operation of `client`; answers the provisional numbers of its two events.
    pub fn operation(
        &mut self,
        client: u32,
        f: &str,
        span: (u64, u64),
        asked: Value,
        end: (EventKind, Value),
    ) -> [u64; 2] {
        let process = Process::Client(self.processes[client as usize]);
        let node = Some(format!("c{}", client + 1));
        let error = match end.0 {
            EventKind::Fail => Some("not granted within 1.5 s".to_owned()),
            EventKind::Info => Some("time-out: no answer within 1 s".to_owned()),
            _ => None,
        };
        let first = self.events.len() as u64;
        let event = |index, time, kind, value, error| Event {
            index,
            time,
            process,
            node: node.clone(),
            kind,
            f: f.into(),
            value,
            error,
        };
        self.events.push(event(first, span.0, EventKind::Invoke, asked, None));
        self.events.push(event(first + 1, span.1, end.0, end.1, error));
        if end.0 == EventKind::Info {
            self.processes[client as usize] += self.clients;
        }
        [first, first + 1]
    }

    /// A fault from and to these milliseconds; answers its id.
    pub fn fault(
        &mut self,
        kind: &str,
        targets: &[&str],
        ms: (u64, u64),
        result: &str,
        evidence: Value,
    ) -> u32 {
        let id = self.faults.len() as u32 + 1;
        let value = json!({"fault": id, "targets": targets, "result": result, "evidence": evidence});
        for (f, time) in [(format!("start-{kind}"), ms.0), (format!("stop-{kind}"), ms.1)] {
            let index = self.events.len() as u64;
            self.events.push(Event {
                index,
                time: time * MS,
                process: Process::Nemesis,
                node: None,
                kind: EventKind::Info,
                f,
                value: value.clone(),
                error: None,
            });
        }
        self.faults.push(FaultRecord {
            id,
            kind: kind.into(),
            targets: targets.iter().map(|target| target.to_string()).collect(),
            start_ns: ms.0 * MS,
            end_ns: Some(ms.1 * MS),
            result: result.into(),
            healed: true,
            evidence,
            phrase: if kind == "pause" {
                format!("{} was paused", targets.join(", "))
            } else {
                String::new()
            },
            shown: BTreeMap::new(),
        });
        id
    }

    /// Something stood still from and to these milliseconds.
    pub fn stall(&mut self, node: &str, ms: (u64, u64)) {
        let index = self.events.len() as u64;
        self.events.push(Event {
            index,
            time: ms.1 * MS,
            process: Process::Nemesis,
            node: None,
            kind: EventKind::Info,
            f: "stall".into(),
            value: json!({"node": node, "from_ns": ms.0 * MS, "to_ns": ms.1 * MS}),
            error: None,
        });
    }

    /// Dense indexes in time order, violations renumbered, everything judged as it was played.
    pub fn finish(mut self, recipe: &str, version: &str) -> RunData {
        self.events.sort_by_key(|event| (event.time, event.kind != EventKind::Invoke, event.index));
        let mut places = vec![0; self.events.len()];
        for (place, event) in self.events.iter_mut().enumerate() {
            places[event.index as usize] = place as u64;
            event.index = place as u64;
        }
        for violation in self.overlaps.iter_mut().chain(&mut self.lost) {
            violation.operations.iter_mut().for_each(|index| *index = places[*index as usize]);
            violation.text = violation.text.replace("{ops}", &format!("{:?}", violation.operations));
        }
        self.overlaps.sort_by_key(|violation| violation.start_ns);
        self.faults.sort_by_key(|fault| fault.start_ns);
        let told = Told {
            grants: Grants { total: self.grants(), contended: self.contended },
            operations: self.outcomes(),
            overlaps: self.overlaps,
            lost: self.lost,
            faults: self.faults,
        };
        let mut judgement = judgement(recipe, version, told);
        judgement.stalls = Stalls::new(&stalls::of(&self.events));
        RunData {
            holds: holds::of(&self.events, &judgement.faults),
            judgement,
            events: self.events,
            resource: None,
            messages: Vec::new(),
            servers: (1..=3).map(|i| format!("n{i}")).collect(),
            metadata: [
                ("seed", "1"),
                ("kernel", "6.1.0-18-amd64"),
                ("engine", "docker 20.10.24"),
                ("image n1", "sha256:5a1f…"),
            ]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
            repeat: format!(
                "fencepost run {recipe} --on docker --faults pause:holder --ttl 2s --time 30s --seed 1"
            ),
            paths: [("report", "store/latest/report.html"), ("history", "store/latest/history.jsonl")]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
        }
    }

    fn grants(&self) -> u64 {
        let granted = |event: &&Event| {
            event.kind == EventKind::Ok && matches!(event.f.as_str(), "acquire" | "campaign")
        };
        self.events.iter().filter(granted).count() as u64
    }

    fn outcomes(&self) -> BTreeMap<String, Outcomes> {
        let mut outcomes: BTreeMap<String, Outcomes> = BTreeMap::new();
        for event in self.events.iter().filter(|event| event.process != Process::Nemesis) {
            let of = outcomes.entry(event.f.clone()).or_default();
            match event.kind {
                EventKind::Ok => of.ok += 1,
                EventKind::Fail => of.fail += 1,
                EventKind::Info => of.info += 1,
                EventKind::Invoke => {}
            }
        }
        outcomes
    }
}
