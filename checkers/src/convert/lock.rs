use rustc_hash::FxHashMap;

use super::{Datum, Meaning, Reading, Unfit, process};
use crate::{
    history::{History, Operation},
    model::OpOf,
    models::lock::{Lock, LockAction, LockInput, LockOutput},
};

/// The operations on one lock, for [`Lock`](crate::models::Lock).
#[derive(Clone, Debug)]
pub struct LockPart {
    /// Which lock; [`Datum::Nil`] where the history names none.
    pub lock: Datum,
    /// In order of invocation. A process is its own owner.
    pub ops: Vec<OpOf<Lock>>,
}

/// The locks (and elections, whose terms are tokens) of a history, in order of first use, each to be judged apart.
///
/// # Errors
/// The first operation that is none of a lock's, or a token that is no number.
pub fn locks(history: &History, reading: &Reading) -> Result<Vec<LockPart>, Unfit> {
    let mut parts: Vec<LockPart> = Vec::new();
    let mut part_of: FxHashMap<&[u8], usize> = FxHashMap::default();
    for operation in history.operations().iter() {
        let Some(op) = meaning(&operation, reading)?.placed(&operation) else { continue };
        let lock = operation.invoke.value().get("lock");
        let part = *part_of.entry(lock.bytes()).or_insert_with(|| {
            parts.push(LockPart { lock: lock.into(), ops: Vec::new() });
            parts.len() - 1
        });
        parts[part].ops.push(op);
    }
    Ok(parts)
}

fn meaning(operation: &Operation<'_>, reading: &Reading) -> Result<Meaning<LockInput, LockOutput>, Unfit> {
    let action = match operation.invoke.f() {
        "acquire" | "campaign" => LockAction::Acquire,
        "release" | "resign" | "lapse" => LockAction::Release,
        "renew" | "read" | "write" | "observe" => return Ok(Meaning::Nothing),
        _ => {
            return Err(Unfit::unknown(
                operation.invoke,
                "lock",
                "acquire, release, lapse, campaign, resign",
            ));
        }
    };
    let input = LockInput { owner: process(operation), action };
    let refused = reading.fail.answer(LockOutput::Refused);
    Meaning::of(operation, input, refused, |completion| {
        if action == LockAction::Release {
            return Ok(LockOutput::Done { token: None });
        }
        let value = completion.value();
        let token = value.get("token");
        let token = if token.is_null() { value.as_u64() } else { Some(unsigned(completion, token)?) };
        Ok(LockOutput::Done { token })
    })
}

fn unsigned(row: crate::history::Row<'_>, token: crate::history::Value<'_>) -> Result<u64, Unfit> {
    let message = || format!("expected a token: a whole number from 0, found {token}");
    token.as_u64().ok_or_else(|| Unfit::new(row, message()))
}
