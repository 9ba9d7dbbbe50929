use super::{Datum, Meaning, Unfit, convert};
use crate::{
    history::{History, Row, Value},
    model::OpOf,
    models::multi_register::{Micro, MultiRegister},
};

/// Transactions on several registers, for [`MultiRegister`](crate::models::MultiRegister). A read of `nil` says
/// nothing, as in Knossos.
///
/// # Errors
/// The first operation that is no transaction of reads and writes.
pub fn transactions(history: &History) -> Result<Vec<OpOf<MultiRegister<Datum, Datum>>>, Unfit> {
    convert(history, |operation| {
        let invoke = operation.invoke;
        if invoke.f() != "txn" {
            return Err(Unfit::unknown(invoke, "multi-register", "txn"));
        }
        let steps = invoke.value().items().map(|step| micro(invoke, step)).collect::<Result<Vec<_>, _>>()?;
        let is_read: Vec<bool> = steps.iter().map(|step| matches!(step, Micro::Read(_))).collect();
        Meaning::of(operation, steps, None, |completion| {
            if completion.value().items().count() != is_read.len() {
                return Err(Unfit::new(completion, "expected as many steps as were invoked"));
            }
            let answer = |(step, is_read): (Value<'_>, &bool)| {
                Some(Datum::from(step.at(2))).filter(|read| *is_read && *read != Datum::Nil)
            };
            Ok(completion.value().items().zip(&is_read).map(answer).collect())
        })
    })
}

fn micro(row: Row<'_>, step: Value<'_>) -> Result<Micro<Datum, Datum>, Unfit> {
    match step.at(0).as_str() {
        Some("read" | "r") => Ok(Micro::Read(step.at(1).into())),
        Some("write" | "w") => Ok(Micro::Write(step.at(1).into(), step.at(2).into())),
        _ => Err(Unfit::new(row, format!("expected [:r key nil] or [:w key value], found {step}"))),
    }
}
