use std::collections::{BTreeMap, BTreeSet};

use history::{EventKind, History, Outcome, Value, names::REGISTER};

use super::{
    Asked, Datum, Meaning, NilRead, Reading, Unfit, convert,
    keys::{Keys, pair, split},
    names::{Names, invocations},
};

use crate::{
    model::OpOf,
    models::{
        Keyed, Register,
        register::{RegisterInput, RegisterOutput},
    },
    op::FailMeans,
};

/// A register under each key.
pub type Registers = Keyed<Datum, Register<Datum>>;

/// Registers with compare-and-set, each under its key; all have the key
/// [`Datum::Nil`] where the history has no keys.
///
/// # Errors
/// The first operation that is none of a register's.
pub fn registers(history: &History, reading: &Reading) -> Result<Vec<OpOf<Registers>>, Unfit> {
    let names = Names::of(history, &REGISTER)?;
    let keys = keys(history, &names);
    convert(history, &names, keys, |asked| match asked.f {
        "read" => read(asked, reading.nil_read),
        "write" => {
            let input = RegisterInput::Write(asked.value.into());
            Meaning::of(&asked.operation, input, None, |_| Ok(RegisterOutput::Done))
        }
        _ => {
            let (from, to) = pair(asked.value).ok_or_else(|| {
                let message = format!("expected a cas' two values, [from to], found {}", asked.value);
                Unfit::new(asked.operation.invoke, message)
            })?;
            let input = RegisterInput::Cas { from: from.into(), to: to.into() };
            let failed = reading.fail.answer(RegisterOutput::Refused);
            if asked.is_refused()? {
                return Ok(Meaning::refused(input, failed));
            }
            Meaning::of(&asked.operation, input, failed, |_| Ok(RegisterOutput::Done))
        }
    })
}

/// What a read says; one that did not end well says nothing.
pub(super) fn read(
    asked: &Asked<'_>,
    nil_read: NilRead,
) -> Result<Meaning<RegisterInput<Datum>, RegisterOutput<Datum>>, Unfit> {
    let completion = asked.operation.completion.filter(|completion| completion.kind() == EventKind::Ok);
    let Some(completion) = completion else { return Ok(Meaning::Nothing) };
    let value = asked.answer(completion)?;
    if value.is_null() && nil_read == NilRead::Nothing {
        return Ok(Meaning::Nothing);
    }
    Ok(Meaning::Certain(RegisterInput::Read, RegisterOutput::Value(value.into())))
}

/// The two values of a compare-and-set are no tuple of key and value: that would have a pair in it.
fn keys(history: &History, names: &Names) -> Keys {
    let is_plain = |value: Value<'_>| split(value).is_some_and(|(_, value)| pair(value).is_none());
    let has_reads = invocations(history).any(|row| names.get(row) == "read");
    let mut cas = invocations(history).filter(|row| names.get(*row) == "cas");
    if !has_reads && cas.any(|row| is_plain(row.value())) {
        return Keys::NONE;
    }
    Keys::of(history, names, &["read"])
}

/// What only failed writes and compare-and-sets wrote, each under its key: a read that saw it read what never was. What
/// was seen before any of them was even asked for is not among it; nor is what refused compare-and-sets would have
/// written, as these wrote nothing even for a while.
///
/// # Errors
/// The first operation that is none of a register's.
pub fn failed_writes(history: &History, reading: &Reading) -> Result<BTreeSet<(Datum, Datum)>, Unfit> {
    let names = Names::of(history, &REGISTER)?;
    let keys = keys(history, &names);
    // Each with the first time that it was asked for.
    let mut failed: BTreeMap<(Datum, Datum), u64> = BTreeMap::new();
    for operation in history.operations().iter() {
        let (key, value) = keys.of_invocation(operation.invoke)?;
        let asked = Asked { operation, f: names.get(operation.invoke), key, value, keys };
        let written = match asked.f {
            "write" if operation.outcome() == Outcome::Fail => Some(value),
            "cas" if reading.fail == FailMeans::Refused => None,
            "cas" if operation.outcome() == Outcome::Fail || asked.is_refused()? => {
                pair(value).map(|(_, to)| to)
            }
            _ => None,
        };
        if let Some(written) = written {
            let at = operation.invoke.index() as u64;
            failed.entry((key.map_or(Datum::Nil, Datum::from), written.into())).or_insert(at);
        }
    }
    if failed.is_empty() {
        return Ok(BTreeSet::new());
    }
    for op in registers(history, reading)? {
        let under = |value: &Datum| (op.input.key.clone(), value.clone());
        written(&op).map(|value| failed.remove(&under(value)));
        if let Some(key) = seen(&op).map(under)
            && failed.get(&key).is_some_and(|asked| op.deadline() < *asked)
        {
            failed.remove(&key);
        }
    }
    Ok(failed.into_keys().collect())
}

/// What an operation may have left in the register, if anything.
pub fn written(op: &OpOf<Registers>) -> Option<&Datum> {
    match (&op.input.input, op.output()) {
        (RegisterInput::Read, _) | (_, Some(RegisterOutput::Refused)) => None,
        (RegisterInput::Write(value) | RegisterInput::Cas { to: value, .. }, _) => Some(value),
    }
}

/// What an operation certainly saw.
pub fn seen(op: &OpOf<Registers>) -> Option<&Datum> {
    match (&op.input.input, op.output()) {
        (RegisterInput::Read, Some(RegisterOutput::Value(value))) => Some(value),
        (RegisterInput::Cas { from, .. }, Some(RegisterOutput::Done)) => Some(from),
        _ => None,
    }
}
