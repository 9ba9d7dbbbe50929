//! What registers hold before the first write, where nobody says.
//!
//! Histories from elsewhere do not tell. A history is then wrong only if it is wrong whatever the registers start with,
//! and only what was seen before any write had certainly taken effect can be it.

use std::collections::BTreeMap;

use checkers::{
    convert::{Datum, Registers},
    model::OpOf,
    models::{
        MultiRegister,
        multi_register::Micro,
        register::{RegisterInput, RegisterOutput},
    },
};

/// Transactions, as histories have them.
pub type Transactions = MultiRegister<Datum, Datum>;

/// A value as EDN writes it: `0`, `nil`, `:x`, `"x"`.
pub fn parse(text: &str) -> Datum {
    match (text.trim(), text.trim().parse()) {
        (_, Ok(number)) => Datum::Int(number),
        ("nil" | "null", _) => Datum::Nil,
        (text, _) => Datum::Text(text.into()),
    }
}

/// What the registers can have started with, the first that was seen first; `nil` stands for all that was never seen.
pub fn of_registers(ops: &[OpOf<Registers>]) -> Vec<Datum> {
    let mut first_change: BTreeMap<&Datum, u64> = BTreeMap::new();
    for op in ops.iter().filter(|op| op.output() == Some(&RegisterOutput::Done)) {
        let at = first_change.entry(&op.input.key).or_insert(u64::MAX);
        *at = (*at).min(op.deadline());
    }
    let is_early = |op: &&OpOf<Registers>| first_change.get(&op.input.key).is_none_or(|at| op.call < *at);
    let seen = ops.iter().filter(is_early).filter_map(|op| match (&op.input.input, op.output()) {
        (RegisterInput::Read, Some(RegisterOutput::Value(value))) => Some(value),
        (RegisterInput::Cas { from, .. }, Some(RegisterOutput::Done)) => Some(from),
        _ => None,
    });
    distinct(seen)
}

/// As [`of_registers`]; all registers start with the same.
pub fn of_transactions(ops: &[OpOf<Transactions>]) -> Vec<Datum> {
    let mut first_change: BTreeMap<&Datum, u64> = BTreeMap::new();
    for op in ops.iter().filter(|op| !op.is_info()) {
        for micro in &op.input {
            if let Micro::Write(key, _) = micro {
                let at = first_change.entry(key).or_insert(u64::MAX);
                *at = (*at).min(op.deadline());
            }
        }
    }
    let reads = ops.iter().flat_map(|op| {
        let answers = op.output().into_iter().flatten();
        op.input.iter().zip(answers).map(move |(micro, answer)| (op.call, micro, answer))
    });
    distinct(reads.filter_map(|(call, micro, answer)| match micro {
        Micro::Read(key) if first_change.get(key).is_none_or(|at| call < *at) => answer.as_ref(),
        _ => None,
    }))
}

/// A model in which every register that is named starts with this.
pub fn transactions(ops: &[OpOf<Transactions>], value: &Datum) -> Transactions {
    let keys = ops.iter().flat_map(|op| &op.input).map(|micro| match micro {
        Micro::Read(key) | Micro::Write(key, _) => key,
    });
    MultiRegister { initial: keys.map(|key| (key.clone(), value.clone())).collect() }
}

fn distinct<'a>(seen: impl Iterator<Item = &'a Datum>) -> Vec<Datum> {
    let mut values: Vec<Datum> = Vec::new();
    for value in seen.chain([&Datum::Nil]) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkers::{
        convert::{Reading, registers},
        history::{Format, ReadOptions, read},
    };

    #[test]
    fn only_what_was_seen_early_can_have_been_there() {
        let text = "{:process 0 :type :invoke :f :read} {:process 0 :type :ok :f :read :value 7}
                    {:process 1 :type :invoke :f :cas :value [8 9]} {:process 1 :type :ok :f :cas :value [8 9]}
                    {:process 2 :type :invoke :f :read} {:process 2 :type :ok :f :read :value 9}";
        let (_, history) = read(text.as_bytes(), &ReadOptions::default()).unwrap();
        let ops = registers(&history, &Reading::of(Format::Edn)).unwrap();
        assert_eq!(of_registers(&ops), [Datum::Int(7), Datum::Int(8), Datum::Nil]);
    }

    #[test]
    fn values_are_read_as_edn_writes_them() {
        let values = ["0", " nil", ":x", "\"x\""].map(parse);
        assert_eq!(values.map(|value| value.to_string()), ["0", "nil", ":x", "\"x\""]);
    }
}
