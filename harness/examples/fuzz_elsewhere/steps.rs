//! What each kind of object answers, and what it is in afterwards.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    history::Value,
    objects::{PERMITS, State},
};

/// Of a register, or of a text under a key.
pub fn register(value: &Value, f: &str, input: &Value) -> Option<(Value, State)> {
    let answer = if matches!(f, "read" | "get") { value.clone() } else { Value::Nil };
    let next = match (f, input) {
        ("write" | "put", input) => input.clone(),
        ("append", Value::Text(more)) => match value {
            Value::Text(text) => Value::Text(format!("{text}{more}")),
            _ => Value::Text(more.clone()),
        },
        ("cas", Value::List(pair)) if pair[0] == *value => pair[1].clone(),
        ("cas", _) => return None,
        _ => value.clone(),
    };
    Some((answer, State::Register(next)))
}

/// The answer is the transaction with what was read.
pub fn transaction(values: &BTreeMap<Value, Value>, input: &Value) -> (Value, State) {
    let mut values = values.clone();
    let Value::List(steps) = input else { return (Value::Nil, State::Registers(values)) };
    let answers = steps.iter().map(|step| match step {
        Value::List(parts) if parts[0] == Value::Word("w".into()) => {
            values.insert(parts[1].clone(), parts[2].clone());
            step.clone()
        }
        Value::List(parts) => {
            let read = values.get(&parts[1]).cloned().unwrap_or(Value::Nil);
            Value::List(vec![parts[0].clone(), parts[1].clone(), read])
        }
        other => other.clone(),
    });
    let answers = Value::List(answers.collect());
    (answers, State::Registers(values))
}

/// Of a semaphore; permits belong to processes.
pub fn semaphore(held: &BTreeMap<u32, i64>, process: u32, f: &str, input: &Value) -> Option<(Value, State)> {
    let count = if let Value::Int(count) = input { *count } else { 1 };
    let mut held = held.clone();
    *held.entry(process).or_insert(0) += if f == "acquire" { count } else { -count };
    let fits = held[&process] >= 0 && held.values().sum::<i64>() <= PERMITS;
    fits.then_some((Value::Nil, State::Permits(held)))
}

/// Of a counter.
pub fn counter(number: i64, f: &str, input: &Value) -> (Value, State) {
    let more = if let Value::Int(more) = input { *more } else { 0 };
    let answer = if f == "add" { Value::Nil } else { Value::Int(number + more) };
    (answer, State::Number(number + more))
}

/// Of a queue.
pub fn queue(elements: &[Value], f: &str, input: &Value) -> (Value, State) {
    let mut elements = elements.to_vec();
    if f == "enqueue" {
        elements.push(input.clone());
        return (Value::Nil, State::Queue(elements));
    }
    let head = if elements.is_empty() { Value::Nil } else { elements.remove(0) };
    (head, State::Queue(elements))
}

/// Of a set.
pub fn set(elements: &BTreeSet<Value>, f: &str, input: &Value) -> (Value, State) {
    let mut elements = elements.clone();
    let answer = match f {
        "add" => {
            elements.insert(input.clone());
            Value::Nil
        }
        "remove" => {
            elements.remove(input);
            Value::Nil
        }
        "contains" => Value::Bool(elements.contains(input)),
        _ => Value::Set(elements.iter().cloned().collect()),
    };
    (answer, State::Elements(elements))
}
