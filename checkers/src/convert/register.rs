use super::{Datum, Meaning, NilRead, Reading, Unfit, convert};
use crate::{
    history::{EventKind, History, Row, Value, View},
    model::OpOf,
    models::{
        Keyed, Register,
        keyed::At,
        register::{RegisterInput, RegisterOutput},
    },
};

/// A register under each key.
pub type Registers = Keyed<Datum, Register<Datum>>;

/// Registers with compare-and-set, each under its key; all have the key
/// [`Datum::Nil`] where the history has no keys.
///
/// # Errors
/// The first operation that is none of a register's.
pub fn registers(history: &History, reading: &Reading) -> Result<Vec<OpOf<Registers>>, Unfit> {
    let tuples = reading.tuples.unwrap_or_else(|| has_tuples(history));
    convert(history, |operation| {
        let invoke = operation.invoke;
        let (key, value) = split(invoke, tuples)?;
        let at = |input| At { key: Datum::from(key), input };
        match invoke.f() {
            "read" => {
                let completion = operation.completion.filter(|completion| completion.kind() == EventKind::Ok);
                let Some(completion) = completion else { return Ok(Meaning::Nothing) };
                let (_, read) = split(completion, tuples)?;
                if read.is_null() && reading.nil_read == NilRead::Nothing {
                    return Ok(Meaning::Nothing);
                }
                Ok(Meaning::Certain(at(RegisterInput::Read), RegisterOutput::Value(read.into())))
            }
            "write" => {
                let input = at(RegisterInput::Write(value.into()));
                Meaning::of(operation, input, None, |_| Ok(RegisterOutput::Done))
            }
            "cas" => {
                let (from, to) = pair(value).ok_or_else(|| {
                    Unfit::new(invoke, format!("expected a cas' two values, [from to], found {value}"))
                })?;
                let input = at(RegisterInput::Cas { from: from.into(), to: to.into() });
                let failed = reading.fail.answer(RegisterOutput::Refused);
                Meaning::of(operation, input, failed, |_| Ok(RegisterOutput::Done))
            }
            _ => Err(Unfit::unknown(invoke, "register", "read, write, cas")),
        }
    })
}

/// The key, null if there is none, and the value proper.
fn split(row: Row<'_>, tuples: bool) -> Result<(Value<'_>, Value<'_>), Unfit> {
    let value = row.value();
    let key = value.get("key");
    if !key.is_null() {
        return Ok((key, value.get("value")));
    }
    if !tuples {
        return Ok((key, value));
    }
    pair(value).ok_or_else(|| Unfit::new(row, format!("expected a tuple of key and value, found {value}")))
}

fn pair(value: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    let mut items = match value.view() {
        View::Array(items) | View::List(items) => items,
        _ => return None,
    };
    let pair = (items.next()?, items.next()?);
    items.next().is_none().then_some(pair)
}

/// A read is invoked without value, unless that is a tuple that names the key.
fn has_tuples(history: &History) -> bool {
    let mut reads =
        history.rows().filter(|row| row.kind() == EventKind::Invoke && row.f() == "read").peekable();
    reads.peek().is_some() && reads.all(|row| pair(row.value()).is_some())
}
