//! What registers hold before the first write, where nobody says.
//!
//! Histories from elsewhere do not tell. A history is then wrong only if it is wrong whatever the registers start with,
//! and only what was seen before any write had certainly taken effect can be it. What only a failed write ever wrote is
//! no initial value: a read that saw it is one of what never was.

use std::collections::{BTreeMap, BTreeSet};

use linear::{
    convert::{Datum, Registers, Transactions, seen, written},
    model::OpOf,
    models::{MultiRegister, multi_register::Micro, register::RegisterOutput},
};

/// A value as EDN writes it: `0`, `nil`, `:x`, `"x"`.
pub fn parse(text: &str) -> Datum {
    match (text.trim(), text.trim().parse()) {
        (_, Ok(number)) => Datum::Int(number),
        ("nil" | "null", _) => Datum::Nil,
        (text, _) => Datum::Text(text.into()),
    }
}

/// What the register under each key can have started with; never nothing. If something was seen early that nobody wrote,
/// it is that and nothing else. `nil` stands for all that was never seen.
pub fn of_registers(
    ops: &[OpOf<Registers>],
    failed: &BTreeSet<(Datum, Datum)>,
) -> BTreeMap<Datum, Vec<Datum>> {
    let mut first_change: BTreeMap<&Datum, u64> = BTreeMap::new();
    let mut changes: BTreeSet<(&Datum, &Datum)> = BTreeSet::new();
    for op in ops {
        let key = &op.input.key;
        if op.output() == Some(&RegisterOutput::Done) {
            let at = first_change.entry(key).or_insert(u64::MAX);
            *at = (*at).min(op.deadline());
        }
        changes.extend(written(op).map(|value| (key, value)));
    }
    let mut starts: BTreeMap<Datum, Vec<Datum>> = BTreeMap::new();
    for op in ops {
        let key = &op.input.key;
        let early = starts.entry(key.clone()).or_default();
        let is_early = first_change.get(key).is_none_or(|at| op.call < *at);
        let value = seen(op).filter(|value| is_early && !early.contains(value));
        early.extend(value.filter(|value| !failed.contains(&(key.clone(), (*value).clone()))).cloned());
    }
    for (key, early) in &mut starts {
        *early = match early.iter().find(|value| **value != Datum::Nil && !changes.contains(&(key, *value))) {
            Some(of_nobody) => vec![of_nobody.clone()],
            None => distinct([&Datum::Nil].into_iter().chain(&*early)),
        };
    }
    starts
}

/// The first operation that saw what only a failed write ever wrote, and the value.
pub fn aborted<'o>(
    ops: &'o [OpOf<Registers>],
    failed: &BTreeSet<(Datum, Datum)>,
) -> Option<(&'o OpOf<Registers>, &'o Datum)> {
    let saw = |op: &'o OpOf<Registers>| seen(op).map(|value| (op, value));
    ops.iter().filter_map(saw).find(|(op, value)| failed.contains(&(op.input.key.clone(), (*value).clone())))
}

/// Registers that start with what each can have started with. Where something was seen early that nobody wrote, it is
/// that; else `nil`, or what was seen early. What only failed transactions wrote is none.
pub fn of_transactions(ops: &[OpOf<Transactions>], failed: &BTreeSet<(Datum, Datum)>) -> Transactions {
    let mut first_change: BTreeMap<&Datum, u64> = BTreeMap::new();
    let mut changes: BTreeSet<(&Datum, &Datum)> = BTreeSet::new();
    for op in ops {
        for micro in &op.input {
            if let Micro::Write(key, value) = micro {
                changes.insert((key, value));
                let at = first_change.entry(key).or_insert(u64::MAX);
                *at = (*at).min(op.deadline());
            }
        }
    }
    let mut early: BTreeMap<&Datum, Vec<&Datum>> = BTreeMap::new();
    for op in ops {
        let answers = op.output().into_iter().flatten();
        for (micro, answer) in op.input.iter().zip(answers) {
            if let (Micro::Read(key), Some(value)) = (micro, answer)
                && first_change.get(key).is_none_or(|at| op.call < *at)
                && !failed.contains(&(key.clone(), value.clone()))
            {
                early.entry(key).or_default().push(value);
            }
        }
    }
    let mut model = transactions(ops, &Datum::Nil);
    for (key, seen) in early {
        if let Some(of_nobody) =
            seen.iter().find(|value| ***value != Datum::Nil && !changes.contains(&(key, value)))
        {
            model.initial.insert(key.clone(), (*of_nobody).clone());
        } else if seen.iter().any(|value| **value != Datum::Nil) {
            model.initial.remove(key);
            let values = seen.into_iter().chain([&Datum::Nil]).cloned().collect();
            model.open.insert(key.clone(), values);
        }
    }
    model
}

/// What registers start with, in words.
pub fn described(model: &Transactions) -> String {
    let firsts: BTreeSet<&Datum> = model.initial.values().collect();
    match (firsts.first(), firsts.len()) {
        (Some(first), 1) if model.open.is_empty() => first.to_string(),
        (None, _) if model.open.is_empty() => Datum::Nil.to_string(),
        _ => "what was seen first in each register".into(),
    }
}

/// A model in which every register that is named starts with this.
pub fn transactions(ops: &[OpOf<Transactions>], value: &Datum) -> Transactions {
    let keys = ops.iter().flat_map(|op| &op.input).map(|micro| match micro {
        Micro::Read(key) | Micro::Write(key, _) => key,
    });
    MultiRegister::new(keys.map(|key| (key.clone(), value.clone())).collect())
}

fn distinct<'a>(seen: impl Iterator<Item = &'a Datum>) -> Vec<Datum> {
    let mut values: Vec<Datum> = Vec::new();
    for value in seen {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use history::{ReadOptions, read};
    use linear::convert::{Reading, failed_writes, registers};

    /// What the registers can have started with, and what was read though it never was.
    fn told(text: &str) -> (Vec<Vec<Datum>>, Option<Datum>) {
        let (_, history) = read(text.as_bytes(), &ReadOptions::default()).unwrap();
        let reading = Reading::default();
        let ops = registers(&history, &reading).unwrap();
        let failed = failed_writes(&history, &reading).unwrap();
        let starts = of_registers(&ops, &failed).into_values().collect();
        (starts, aborted(&ops, &failed).map(|(_, value)| value.clone()))
    }

    #[test]
    fn only_what_was_seen_early_can_have_been_there() {
        let text = "{:process 0 :type :invoke :f :write :value 7} {:process 0 :type :info :f :write}
                    {:process 3 :type :invoke :f :read} {:process 3 :type :ok :f :read :value 7}
                    {:process 1 :type :invoke :f :cas :value [7 9]} {:process 1 :type :ok :f :cas :value [7 9]}
                    {:process 2 :type :invoke :f :read} {:process 2 :type :ok :f :read :value 9}";
        assert_eq!(told(text), (vec![vec![Datum::Nil, Datum::Int(7)]], None));
    }

    #[test]
    fn what_nobody_wrote_is_what_was_there() {
        let text = "{:process 0 :type :invoke :f :read :value [:x nil]}
                    {:process 0 :type :ok :f :read :value [:x 3]}
                    {:process 0 :type :invoke :f :read :value [:y nil]}
                    {:process 0 :type :ok :f :read :value [:y 4]}";
        assert_eq!(told(text), (vec![vec![Datum::Int(3)], vec![Datum::Int(4)]], None), "each key its own");
    }

    #[test]
    fn what_only_failed_writes_wrote_was_never_there() {
        let failed =
            "{:process 0 :type :invoke :f :write :value 7} {:process 0 :type :fail :f :write :value 7}";
        let read = "{:process 0 :type :invoke :f :read} {:process 0 :type :ok :f :read :value 7}";
        let lost = "{:process 1 :type :invoke :f :write :value 7} {:process 1 :type :info :f :write}";
        let nil = vec![Datum::Nil];
        assert_eq!(told(&format!("{failed} {read}")), (vec![nil.clone()], Some(Datum::Int(7))));
        assert_eq!(told(&format!("{failed} {lost} {read}")), (vec![vec![Datum::Nil, Datum::Int(7)]], None));
    }

    #[test]
    fn values_are_read_as_edn_writes_them() {
        let values = ["0", " nil", ":x", "\"x\""].map(parse);
        assert_eq!(values.map(|value| value.to_string()), ["0", "nil", ":x", "\"x\""]);
    }
}
