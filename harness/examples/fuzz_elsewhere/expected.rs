//! What is right of a history: all that its recorder did not say is tried.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    brute::{NilRead, Reading, Twist, is_linearizable},
    history::{End, Operation, Value},
    objects::Object,
};

/// A verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Valid,
    Invalid,
    Unknown,
}

/// The verdicts that are right.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// Any of them.
    pub right: BTreeSet<Verdict>,
    /// Whether the verdict hangs on what a read of `nil` means, which has to be said.
    pub hangs_on_nil: bool,
}

/// What is said beside the history.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    /// Whether failed operations were refused; else they did not happen.
    pub refused: bool,
    /// What all registers start with; else anything.
    pub initial: Option<Value>,
    /// Whether a read of nil saw that nil was there; else it may also say nothing.
    pub nil_is_value: bool,
    /// What is wrong on purpose.
    pub twist: Option<Twist>,
}

/// What is right of these operations on objects of this kind, one a key.
pub fn expected(object: Object, operations: &[Operation], meaning: &Meaning) -> Expected {
    let keys: BTreeSet<_> = operations.iter().map(|operation| &operation.key).collect();
    let of = |key: &Option<Value>| operations.iter().filter(|operation| operation.key == *key).collect();
    let parts: Vec<Vec<&Operation>> = keys.into_iter().map(of).collect();
    let verdict = |nil_read, aborted| {
        let reading = Reading { nil_read, refused: meaning.refused, twist: meaning.twist };
        let right = |part: &Vec<&Operation>| {
            let starts = starts(object, part, aborted, meaning);
            one_is_right(object, part, &starts, reading)
        };
        if parts.iter().all(right) { Verdict::Valid } else { Verdict::Invalid }
    };
    let aborted = meaning.twist == Some(Twist::AbortedIsInitial);
    let nil_reads: &[NilRead] =
        if meaning.nil_is_value { &[NilRead::Value] } else { &[NilRead::Value, NilRead::Nothing] };
    let mut right: BTreeSet<Verdict> = nil_reads.iter().map(|nil_read| verdict(*nil_read, aborted)).collect();
    let hangs_on_nil = right.len() > 1;
    // A read that saw what only a failed write wrote: whoever says that nobody knows is right too.
    let of_failed = || nil_reads.iter().any(|nil_read| verdict(*nil_read, true) == Verdict::Valid);
    let perhaps = || right.contains(&Verdict::Invalid) && of_failed();
    if hangs_on_nil || perhaps() {
        right.insert(Verdict::Unknown);
    }
    Expected { right, hangs_on_nil }
}

/// The same where the operations may be of several kinds; `None` if of none.
pub fn expected_of_any(objects: &[Object], operations: &[Operation], meaning: &Meaning) -> Option<Expected> {
    let each = objects.iter().map(|object| expected(*object, operations, meaning));
    each.reduce(|one, other| Expected {
        hangs_on_nil: one.hangs_on_nil || other.hangs_on_nil,
        right: one.right.into_iter().chain(other.right).collect(),
    })
}

/// Right if it is with anything that the object can have started with.
fn one_is_right(object: Object, operations: &[&Operation], starts: &[Start], reading: Reading) -> bool {
    let is_silent = |operation: &Operation| {
        let read = matches!(&operation.end, End::Ok(_, Value::Nil)) && operation.f == "read";
        read && object.has_initial() && reading.nil_read == NilRead::Nothing
    };
    let counts = |operation: &Operation| match operation.end {
        End::Ok(..) => !is_silent(operation),
        End::Fail(_) => {
            let can_refuse = matches!(operation.f, "cas" | "acquire" | "release" | "dequeue");
            (reading.refused && can_refuse) || reading.twist == Some(Twist::FailedMayHappen)
        }
        End::Open => reading.twist != Some(Twist::DoubtfulNever),
    };
    let counted: Vec<&Operation> = operations.iter().copied().filter(|operation| counts(operation)).collect();
    starts.iter().any(|start| is_linearizable(object, &object.start(start), &counted, reading))
}

/// What each register starts with.
type Start = BTreeMap<Value, Value>;

/// All that the registers can have held at first.
fn starts(object: Object, operations: &[&Operation], aborted: bool, meaning: &Meaning) -> Vec<Start> {
    if !object.has_initial() {
        return vec![Start::new()];
    }
    let touches: Vec<Touch> = operations.iter().flat_map(|operation| touches(operation, meaning)).collect();
    let registers: BTreeSet<&Value> = touches.iter().map(|touch| &touch.register).collect();
    let mut starts = vec![Start::new()];
    for register in registers {
        let own: Vec<&Touch> = touches.iter().filter(|touch| touch.register == *register).collect();
        let values = first_values(&own, aborted, meaning);
        let with = |start: &Start, value: &Value| {
            let mut start = start.clone();
            start.insert(register.clone(), value.clone());
            start
        };
        starts = starts.iter().flat_map(|start| values.iter().map(move |value| with(start, value))).collect();
    }
    starts
}

/// What one register can have held at first.
fn first_values(touches: &[&Touch], aborted: bool, meaning: &Meaning) -> BTreeSet<Value> {
    if let Some(stated) = &meaning.initial {
        return BTreeSet::from([stated.clone()]);
    }
    let seen = touches.iter().filter(|touch| touch.seen.is_some()).map(|touch| &touch.value);
    let nil_only = meaning.twist == Some(Twist::StartsWithNil);
    let can_be = |value: &&Value| !nil_only && (aborted || can_have_been_there(value, touches));
    // A failed compare-and-set may have seen anything else.
    seen.filter(can_be).chain([&Value::Nil, &Value::Word("else".into())]).cloned().collect()
}

/// A register's value in an operation.
struct Touch {
    register: Value,
    value: Value,
    /// When it was certainly seen.
    seen: Option<usize>,
    /// When and how it was asked to be written.
    written: Option<(usize, bool)>,
}

/// Not if only failed writes wrote it, unless it was seen before they were even asked for.
fn can_have_been_there(value: &Value, touches: &[&Touch]) -> bool {
    let of = || touches.iter().filter(|touch| touch.value == *value);
    let written = || of().filter_map(|touch| touch.written);
    let seen = of().filter_map(|touch| touch.seen).min();
    let first = written().map(|(at, _)| at).min();
    first.is_none() || written().any(|(_, failed)| !failed) || seen < first
}

fn touches(operation: &Operation, meaning: &Meaning) -> Vec<Touch> {
    let failed = matches!(operation.end, End::Fail(_));
    let returned = if let End::Ok(at, _) = operation.end { Some(at) } else { None };
    let written = Some((operation.call, failed));
    let touch = |register: &Value, value: &Value, seen, written| Touch {
        register: register.clone(),
        value: value.clone(),
        seen,
        written,
    };
    let only = Value::Nil;
    match (operation.f, &operation.input, &operation.end) {
        ("read", _, End::Ok(_, value)) => vec![touch(&only, value, returned, None)],
        ("write", value, _) => vec![touch(&only, value, None, written)],
        // What was refused because another value was there has certainly written nothing, not even for a while.
        ("cas", Value::List(pair), End::Fail(_)) if meaning.refused => {
            vec![touch(&only, &pair[0], None, None)]
        }
        ("cas", Value::List(pair), _) => {
            vec![touch(&only, &pair[0], returned, None), touch(&only, &pair[1], None, written)]
        }
        ("txn", asked, end) => {
            let steps = if let End::Ok(_, answers) = end { answers } else { asked };
            let Value::List(steps) = steps else { return Vec::new() };
            let step = |step: &Value| match step {
                Value::List(parts) if parts[0] == Value::Word("w".into()) => {
                    Some(touch(&parts[1], &parts[2], None, written))
                }
                Value::List(parts) => Some(touch(&parts[1], &parts[2], returned, None)),
                _ => None,
            };
            steps.iter().filter_map(step).collect()
        }
        _ => vec![touch(&only, &Value::Nil, None, None)],
    }
}
