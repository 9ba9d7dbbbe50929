use std::collections::{BTreeMap, BTreeSet};

use history::{EventKind, History, Outcome, Row, Value, View, names::TRANSACTIONS};

use super::{Datum, Meaning, NilRead, Reading, Unfit, keys::Keys, names::Names};

use crate::{
    model::OpOf,
    models::multi_register::{Micro, MultiRegister},
};

/// Registers that transactions are on.
pub type Transactions = MultiRegister<Datum, Datum>;

/// Transactions on several registers, for [`MultiRegister`]. Where a transaction has a key, its registers are those under
/// this key, named `[key register]`.
///
/// # Errors
/// The first operation that is no transaction of reads and writes, or one on lists, which another tool judges.
pub fn transactions(history: &History, reading: &Reading) -> Result<Vec<OpOf<Transactions>>, Unfit> {
    Names::of(history, &TRANSACTIONS)?;
    let keys = Keys::of_transactions(history);
    refuse_lists(history, keys)?;
    let mut ops = Vec::new();
    for operation in history.operations().iter() {
        let (key, value) = keys.of_invocation(operation.invoke)?;
        let asked = micros(operation.invoke, key, value)?;
        let meaning = Meaning::of(&operation, asked.clone(), None, |completion| {
            answers(completion, &asked, key, keys.of_completion(completion, key)?, reading.nil_read)
        })?;
        ops.extend(meaning.placed(&operation));
    }
    Ok(ops)
}

/// What only failed transactions wrote, each with its register: a read that saw it read what never was. What was seen
/// before any of them was even asked for is not among it.
///
/// # Errors
/// As [`transactions`].
pub fn failed_transactions(
    history: &History,
    ops: &[OpOf<Transactions>],
) -> Result<BTreeSet<(Datum, Datum)>, Unfit> {
    let keys = Keys::of_transactions(history);
    let mut failed: BTreeMap<(Datum, Datum), u64> = BTreeMap::new();
    for operation in history.operations().iter().filter(|operation| operation.outcome() == Outcome::Fail) {
        let (key, value) = keys.of_invocation(operation.invoke)?;
        for micro in micros(operation.invoke, key, value)? {
            if let Micro::Write(register, value) = micro {
                failed.entry((register, value)).or_insert(operation.invoke.index() as u64);
            }
        }
    }
    for op in ops {
        let answers = op.output().into_iter().flatten().map(Option::as_ref);
        for (micro, answer) in op.input.iter().zip(answers.chain(std::iter::repeat(None))) {
            match (micro, answer) {
                (Micro::Write(register, value), _) => _ = failed.remove(&(register.clone(), value.clone())),
                (Micro::Read(register), Some(value)) => {
                    let seen = (register.clone(), value.clone());
                    if failed.get(&seen).is_some_and(|asked| op.deadline() < *asked) {
                        failed.remove(&seen);
                    }
                }
                (Micro::Read(_), None) => {}
            }
        }
    }
    Ok(failed.into_keys().collect())
}

/// Registers of this model hold what was written last; lists that grow are checked otherwise.
fn refuse_lists<'h>(history: &'h History, keys: Keys) -> Result<(), Unfit> {
    let is_list = |value: Value<'_>| matches!(value.view(), View::Array(_) | View::List(_));
    let rows = || history.rows().filter(|row| TRANSACTIONS.operation(row.f()).is_some());
    let steps = |row: Row<'h>| keys.strip(row.value()).items();
    let writes_lists = rows().flat_map(steps).any(|step| is_write(step) && is_list(step.at(2)));
    let grows = |row: &Row<'h>| {
        let is_answer = row.kind() == EventKind::Ok;
        let reads_list =
            |step: Value<'h>| is_answer && !writes_lists && !is_write(step) && is_list(step.at(2));
        steps(*row).any(|step| step.at(0).as_str() == Some("append") || reads_list(step))
    };
    rows().find(grows).map_or(Ok(()), |row| {
        let message = "transactions that append to lists are for Elle (https://github.com/jepsen-io/elle); judged here \
                       are those that read and write registers: [:r key nil], [:w key value]";
        Err(Unfit::new(row, message))
    })
}

fn is_write(step: Value<'_>) -> bool {
    matches!(step.at(0).as_str(), Some("write" | "w"))
}

/// The steps of a transaction under this key.
fn micros(row: Row<'_>, key: Option<Value<'_>>, value: Value<'_>) -> Result<Vec<Micro<Datum, Datum>>, Unfit> {
    if !matches!(value.view(), View::Array(_) | View::List(_)) {
        let message = format!("expected a transaction, such as [[:r key nil] [:w key value]], found {value}");
        return Err(Unfit::new(row, message));
    }
    value.items().map(|step| micro(row, key, step)).collect()
}

fn micro(row: Row<'_>, key: Option<Value<'_>>, step: Value<'_>) -> Result<Micro<Datum, Datum>, Unfit> {
    let register = |register: Value<'_>| match key {
        Some(key) => Datum::Text(format!("[{} {}]", Datum::from(key), Datum::from(register)).into()),
        None => register.into(),
    };
    match (step.at(0).as_str(), step.items().count()) {
        (Some("read" | "r"), 2 | 3) => Ok(Micro::Read(register(step.at(1)))),
        (Some("write" | "w"), 3) => Ok(Micro::Write(register(step.at(1)), step.at(2).into())),
        _ => Err(Unfit::new(row, format!("expected [:r key nil] or [:w key value], found {step}"))),
    }
}

/// What was read in each step that reads, as far as it says something.
fn answers(
    row: Row<'_>,
    asked: &[Micro<Datum, Datum>],
    key: Option<Value<'_>>,
    value: Value<'_>,
    nil_read: NilRead,
) -> Result<Vec<Option<Datum>>, Unfit> {
    let is_read = |micro: &Micro<Datum, Datum>| matches!(micro, Micro::Read(_));
    if value.is_null() && !asked.iter().any(is_read) {
        return Ok(vec![None; asked.len()]);
    }
    let answered = micros(row, key, value)?;
    if answered.len() != asked.len() {
        return Err(Unfit::new(row, "expected as many steps as were invoked"));
    }
    let mut reads = Vec::with_capacity(asked.len());
    for ((asked, answered), step) in asked.iter().zip(answered).zip(value.items()) {
        if *asked != answered {
            return Err(Unfit::new(row, format!("{step} is not the step that was invoked")));
        }
        let read = Datum::from(step.at(2));
        let says_nothing = read == Datum::Nil && nil_read == NilRead::Nothing;
        reads.push(Some(read).filter(|_| is_read(asked) && !says_nothing));
    }
    Ok(reads)
}
