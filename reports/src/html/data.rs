//! The run as the page's script reads it: arrays instead of objects, strings and shapes written once.
//!
//! | field | meaning |
//! |---|---|
//! | `end` | ns |
//! | `lanes` | `[name, 1 for a client or 0]` |
//! | `locks`, `fs`, `errors` | strings, referred to by position |
//! | `shapes` | lists of keys: a value `[shape, a, b]` is an object with these keys |
//! | `ops` | `[lane, process, f, start, duration or -1, outcome 0 ok 1 fail 2 info 3 open, invoke index or -1, complete index or -1, asked, got, error or -1]` |
//! | `holds` | `[lane, operation, lock, token or null, start, duration, promised duration or -1, end 0 released 1 lapsed 2 run ended]` |
//! | `faults` | `[id, kind, lanes, start, end or -1, result, healed, evidence]` |
//! | `violations` | `[check, text, start, end, overlap ms or -1, operations, faults, indexes]` |
//! | `lost` | operations whose writes the damage check names |

use std::collections::HashMap;

use checkers::history::Event;
use serde_json::{Value, json};

use crate::{
    run::RunData,
    timeline::{Hold, HoldEnd, LaneKind, Operation, Outcome, Timeline},
    violations::{Numbered, numbered},
};

/// Operations whose values are embedded; beyond these only those that a violation names keep theirs.
const DETAILED: usize = 50_000;

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
        "end": timeline.end_ns,
        "lanes": timeline.lanes.iter().map(|lane| json!([lane.name, u8::from(lane.kind == LaneKind::Client)])).collect::<Vec<_>>(),
        "locks": timeline.locks,
        "holds": timeline.holds.iter().map(hold).collect::<Vec<_>>(),
        "faults": run.judgement.faults.iter().map(|fault| {
            let lanes: Vec<_> = fault.targets.iter().filter_map(|target| timeline.lane_of(target)).collect();
            let end = fault.end_ns.map_or(json!(-1), Value::from);
            json!([fault.id, fault.kind, lanes, fault.start_ns, end, fault.result, fault.healed, fault.evidence])
        }).collect::<Vec<_>>(),
        "violations": violations.iter().zip(&named).map(|(violation, ops)| of_violation(violation, ops)).collect::<Vec<_>>(),
        "lost": violations.iter().zip(&named).filter(|(v, _)| v.check == "damage").flat_map(|(_, ops)| ops)
            .filter(|op| timeline.operations[**op].f == "write").collect::<Vec<_>>(),
        "detailed": DETAILED,
        "fs": pack.fs.list,
        "errors": pack.errors.list,
        "shapes": pack.shapes.list.iter().map(|keys| keys.split('\u{0}').collect::<Vec<_>>()).collect::<Vec<_>>(),
        "ops": operations,
    });
    script_safe(&data.to_string())
}

/// `<` is what ends a script element or opens a comment; the separators end a line in old JavaScript.
fn script_safe(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn operations_of(timeline: &Timeline, violation: &Numbered) -> Vec<usize> {
    let mut operations: Vec<usize> =
        violation.violation.operations.iter().filter_map(|index| timeline.operation_of(*index)).collect();
    operations.dedup();
    operations
}

fn hold(hold: &Hold) -> Value {
    let promised = hold.promised_ns.map_or(-1, |at| at.saturating_sub(hold.start_ns) as i64);
    let end = match hold.end {
        HoldEnd::Released => 0,
        HoldEnd::Lapsed => 1,
        HoldEnd::RunEnded => 2,
    };
    json!([
        hold.lane,
        hold.operation,
        hold.lock,
        hold.token,
        hold.start_ns,
        hold.end_ns - hold.start_ns,
        promised,
        end
    ])
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
        let repeated =
            asked.is_some() && got.is_some_and(|got| asked.is_some_and(|asked| contains(got, asked)));
        let asked = if repeated { json!(1) } else { self.value(asked) };
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
            Some(Value::Object(fields))
                if !fields.is_empty() && fields.keys().all(|key| !key.contains('\u{0}')) =>
            {
                let keys = fields.keys().map(String::as_str).collect::<Vec<_>>().join("\u{0}");
                let shape = json!(self.shapes.place(&keys));
                Value::Array(std::iter::once(shape).chain(fields.values().cloned()).collect())
            }
            Some(other) => json!([-1, other]),
        }
    }
}

/// Whether the completion repeats everything that the invocation said.
fn contains(got: &Value, asked: &Value) -> bool {
    match (got.as_object(), asked.as_object()) {
        (Some(got), Some(asked)) => asked.iter().all(|(key, value)| got.get(key) == Some(value)),
        _ => got == asked,
    }
}
