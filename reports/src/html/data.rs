//! The run as the page's script reads it: arrays instead of objects, strings and shapes written once.
//!
//! | field | meaning |
//! |---|---|
//! | `start`, `end` | what there is to see, ns |
//! | `lanes` | `[name, 1 for a client or 0]` |
//! | `locks`, `fs`, `errors` | strings, referred to by position |
//! | `shapes` | lists of keys: a value `[shape, a, b]` is an object with these keys; an asked value of -1 - shape: those keys of the one got |
//! | `ops` | `[lane, process, f, start, duration or -1, outcome 0 ok 1 fail 2 info 3 open, invoke index or -1, complete index or -1, asked, got, error or -1]` |
//! | `holds` | `[lane, operation, lock, token or null, start, duration, promised duration or -1, ending in words, 1 if it noticed a loss]` |
//! | `faults` | `[id, kind, lanes, start, end or -1, result, healed, evidence]` |
//! | `stalls` | `[lane or -1 for the harness, start, end]` |
//! | `exits` | servers that ended by themselves: `[lane, time, how]` |
//! | `violations` | `[check, text, start, end, overlap ms or -1, operations, faults, indexes]` |
//! | `lost` | writes that a check says are lost: the first operation of each violation that names a `register` |
//! | `served` | what the resource logged of a write: `[operation, seq, unfenced base, took, fenced base, took]` |

use std::collections::HashMap;

use history::{Event, ResourceEntry, ResourceOp, holds::Ending};
use serde_json::{Map, Number, Value, json};

use crate::{
    plain,
    run::RunData,
    timeline::{Hold, LaneKind, Operation, Outcome, Timeline},
    violations::{Numbered, numbered},
};

/// Operations whose values are embedded; beyond these only those that a violation names keep theirs.
const DETAILED: usize = 50_000;
/// Between the keys of a shape while shapes are told apart.
const SEPARATOR: &str = "\u{0}";

/// JSON that may stand inside a `script` element.
pub(super) fn embed(run: &RunData, timeline: &Timeline) -> String {
    let violations = numbered(&run.judgement);
    let mut pack = Pack::default();
    let named: Vec<Vec<usize>> =
        violations.iter().map(|violation| operations_of(timeline, violation)).collect();
    let operations: Vec<Value> = timeline
        .operations
        .iter()
        .enumerate()
        .map(|(i, op)| {
            pack.operation(&run.events, op, i < DETAILED || named.iter().any(|ops| ops.contains(&i)))
        })
        .collect();
    let data = json!({
        "start": timeline.start_ns,
        "end": timeline.end_ns,
        "lanes": timeline.lanes.iter().map(|lane| json!([lane.name, u8::from(lane.kind == LaneKind::Client)])).collect::<Vec<_>>(),
        "locks": timeline.locks,
        "holds": timeline.holds.iter().map(hold).collect::<Vec<_>>(),
        "faults": run.judgement.faults.iter().map(|fault| {
            let lanes: Vec<_> = fault.targets.iter().filter_map(|target| timeline.lane_of(target)).collect();
            let end = fault.end_ns.map_or(json!(-1), Value::from);
            json!([fault.id, fault.kind, lanes, fault.start_ns, end, fault.result, fault.healed, fault.evidence])
        }).collect::<Vec<_>>(),
        "stalls": timeline.stalls.iter().map(|stall| {
            let lane = timeline.lane_of(&stall.node).map_or(json!(-1), Value::from);
            json!([lane, stall.from_ns, stall.to_ns])
        }).collect::<Vec<_>>(),
        "exits": run.judgement.exits.iter().filter_map(|exit| {
            Some(json!([timeline.lane_of(&exit.node)?, exit.at_ns, exit.status]))
        }).collect::<Vec<_>>(),
        "violations": violations.iter().zip(&named).map(|(violation, ops)| of_violation(violation, ops)).collect::<Vec<_>>(),
        "lost": violations.iter().zip(&named).filter(|(v, _)| v.is_lost_write()).filter_map(|(_, ops)| ops.first())
            .collect::<Vec<_>>(),
        "served": served(run, timeline),
        "detailed": DETAILED,
        "fs": pack.fs.list,
        "errors": pack.errors.list,
        "shapes": pack.shapes.list.iter().map(|keys| keys.split(SEPARATOR).collect::<Vec<_>>()).collect::<Vec<_>>(),
        "ops": operations,
    });
    script_safe(&data.to_string())
}

/// `<` is what ends a script element or opens a comment.
fn script_safe(json: &str) -> String {
    plain::json(&json.replace('<', "\\u003c")).into_owned()
}

fn operations_of(timeline: &Timeline, violation: &Numbered) -> Vec<usize> {
    let mut operations: Vec<usize> =
        violation.violation.operations.iter().filter_map(|index| timeline.operation_of(*index)).collect();
    operations.dedup();
    operations
}

fn hold(hold: &Hold) -> Value {
    let promised = hold.promised_ns.map_or(-1, |at| at.saturating_sub(hold.start_ns) as i64);
    let noticed = matches!(hold.ending, Ending::Lapsed | Ending::Refused);
    let ending = match hold.ending {
        Ending::Released => "given back",
        Ending::Lapsed => "lapsed: the client noticed",
        Ending::Deadline => "its deadline passed",
        Ending::Refused => "a renewal was refused",
        Ending::Reacquired => "asked for again",
        Ending::Retired => "given up after an unclear outcome",
        Ending::Crashed => "the client was killed",
        Ending::Open => "the run ended",
    };
    let length = hold.end_ns - hold.start_ns;
    json!([
        hold.lane,
        hold.operation,
        hold.lock,
        hold.token.and_then(Number::from_i128),
        hold.start_ns,
        length,
        promised,
        ending,
        u8::from(noticed)
    ])
}

/// Writes that the resource's log and the history tell of, joined by process and id.
fn served(run: &RunData, timeline: &Timeline) -> Vec<Value> {
    let Some(log) = &run.resource else { return Vec::new() };
    let writes = log.iter().filter(|entry| entry.op == ResourceOp::Write);
    let by_key: HashMap<(u32, &str), &ResourceEntry> =
        writes.filter_map(|entry| Some(((entry.process, entry.id.as_deref()?), entry))).collect();
    let entry_of = |op: &Operation| {
        let id = op.events().find_map(|event| run.events[event].value.get("id")?.as_str())?;
        by_key.get(&(op.process, id))
    };
    let writes = timeline.operations.iter().enumerate().filter(|(_, op)| op.f == "write");
    writes
        .filter_map(|(i, op)| {
            let e = entry_of(op)?;
            Some(json!([i, e.seq, e.unfenced_base, e.unfenced, e.fenced_base, e.fenced]))
        })
        .collect()
}

fn of_violation(numbered: &Numbered, operations: &[usize]) -> Value {
    let violation = numbered.violation;
    let overlap = numbered.overlap_ms().unwrap_or(-1.0);
    json!([
        numbered.check,
        violation.text,
        violation.start_ns,
        violation.end_ns.max(violation.start_ns),
        overlap,
        operations,
        violation.faults,
        violation.operations
    ])
}

#[derive(Default)]
struct Names {
    list: Vec<String>,
    places: HashMap<String, usize>,
}

impl Names {
    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.places.insert(name.to_owned(), self.list.len());
        self.list.push(name.to_owned());
        self.list.len() - 1
    }
}

#[derive(Default)]
struct Pack {
    fs: Names,
    errors: Names,
    shapes: Names,
}

impl Pack {
    fn operation(&mut self, events: &[Event], op: &Operation, detailed: bool) -> Value {
        let [invoke, complete] = [op.invoke, op.complete].map(|event| event.map(|event| &events[event]));
        let index = |event: Option<&Event>| event.map_or(-1, |event| event.index as i64);
        let outcome = match op.outcome {
            Outcome::Ok => 0,
            Outcome::Fail => 1,
            Outcome::Info => 2,
            Outcome::Open => 3,
        };
        let duration = op.duration_ns().map_or(-1, |ns| ns as i64);
        let error = complete
            .and_then(|event| event.error.as_deref())
            .map_or(-1, |error| self.errors.place(error) as i64);
        let [asked, got] =
            [invoke, complete].map(|event| event.filter(|_| detailed).map(|event| &event.value));
        let asked = match (asked, got) {
            (Some(Value::Object(asked)), Some(got)) if repeats(got, asked) => {
                json!(-1 - self.shape(asked) as i64)
            }
            _ => self.value(asked),
        };
        let got = self.value(got);
        let f = self.fs.place(&op.f);
        json!([
            op.lane,
            op.process,
            f,
            op.start_ns,
            duration,
            outcome,
            index(invoke),
            index(complete),
            asked,
            got,
            error
        ])
    }

    /// 0 for none; an array whose first item is a shape; anything else under shape -1.
    fn value(&mut self, value: Option<&Value>) -> Value {
        match value {
            None | Some(Value::Null) => json!(0),
            Some(Value::Object(fields)) if is_packable(fields) => {
                let shape = json!(self.shape(fields));
                Value::Array(std::iter::once(shape).chain(fields.values().cloned()).collect())
            }
            Some(other) => json!([-1, other]),
        }
    }

    fn shape(&mut self, fields: &Map<String, Value>) -> usize {
        self.shapes.place(&fields.keys().map(String::as_str).collect::<Vec<_>>().join(SEPARATOR))
    }
}

fn is_packable(fields: &Map<String, Value>) -> bool {
    !fields.is_empty() && fields.keys().all(|key| !key.contains(SEPARATOR))
}

/// Whether the completion repeats everything that the invocation said.
fn repeats(got: &Value, asked: &Map<String, Value>) -> bool {
    is_packable(asked) && asked.iter().all(|(key, value)| got.get(key) == Some(value))
}
