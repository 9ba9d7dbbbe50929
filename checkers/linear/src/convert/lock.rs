use history::{EventKind, History, Operation, Row, names::LOCK};
use rustc_hash::FxHashMap;

use super::{
    Datum, Meaning, Reading, Unfit,
    names::Names,
    process,
    which_lock::{LockValue, Naming, answer, token},
};

use crate::{
    model::OpOf,
    models::lock::{Lock, LockAction, LockInput, LockOutput},
};

/// The locks of a history.
#[derive(Clone, Debug)]
pub struct Locks {
    /// In order of first use, each to be judged apart.
    pub parts: Vec<LockPart>,
    /// How it names them.
    pub naming: Naming,
}

/// The operations on one lock, for [`Lock`](crate::models::Lock).
#[derive(Clone, Debug)]
pub struct LockPart {
    /// Which lock; [`Datum::Nil`] where the history names none.
    pub lock: Datum,
    /// In order of invocation. A process is its own owner, unless values are said to be owners: then the owner is the
    /// first process that bore the value.
    pub ops: Vec<OpOf<Lock>>,
}

/// The locks (and elections, whose terms are tokens) of a history. A lock is named by a field (`:lock`, `:key`, `:name`,
/// also beside the value), first in a tuple, or by the value itself; an operation on several locks is one on each. A
/// release that names none is of the one lock that its process holds.
///
/// # Errors
/// The first operation that is none of a lock's, that names no lock while others do, or a token that is no number.
pub fn locks(history: &History, reading: &Reading) -> Result<Locks, Unfit> {
    let names = Names::of(history, &LOCK)?;
    let naming = Naming::of(history, &names, reading);
    let mut parts = Parts {
        names: &names,
        naming,
        held: FxHashMap::default(),
        owners: FxHashMap::default(),
        of: FxHashMap::default(),
        list: Vec::new(),
    };
    for operation in history.operations().iter() {
        parts.take(&operation, reading)?;
    }
    Ok(Locks { parts: parts.list, naming })
}

struct Parts<'n> {
    names: &'n Names,
    naming: Naming,
    /// By process: what it may hold.
    held: FxHashMap<u32, Vec<Datum>>,
    /// By value: the first process that bore it.
    owners: FxHashMap<Datum, u32>,
    of: FxHashMap<Datum, usize>,
    list: Vec<LockPart>,
}

impl Parts<'_> {
    fn take(&mut self, operation: &Operation<'_>, reading: &Reading) -> Result<(), Unfit> {
        let invoke = operation.invoke;
        let action = match self.names.get(invoke) {
            "acquire" => LockAction::Acquire,
            "release" => LockAction::Release,
            _ => return Ok(()),
        };
        let placed = |owner| Ok(meaning(operation, LockInput { owner, action }, reading)?.placed(operation));
        if self.naming == Naming::One {
            if let Some(op) = placed(process(operation))? {
                self.put(Datum::Nil, op);
            }
            return Ok(());
        }
        let told = self.naming.told(invoke)?;
        let owner = told.owner.map_or(process(operation), |owner| {
            *self.owners.entry(owner.into()).or_insert(process(operation))
        });
        let locks: Vec<Datum> = told.names.into_iter().map(Datum::from).collect();
        let locks = if locks.is_empty() { self.unnamed(invoke, owner, action)? } else { locks };
        let Some(op) = placed(owner)? else { return Ok(()) };
        let held = self.held.entry(owner).or_default();
        match action {
            _ if op.output() == Some(&LockOutput::Refused) => {}
            LockAction::Acquire => held.extend(locks.iter().cloned()),
            LockAction::Release => held.retain(|lock| !locks.contains(lock)),
        }
        locks.into_iter().for_each(|lock| self.put(lock, op.clone()));
        Ok(())
    }

    fn put(&mut self, lock: Datum, op: OpOf<Lock>) {
        let part = *self.of.entry(lock).or_insert_with_key(|lock| {
            self.list.push(LockPart { lock: lock.clone(), ops: Vec::new() });
            self.list.len() - 1
        });
        self.list[part].ops.push(op);
    }

    /// The lock of an operation that names none.
    fn unnamed(&self, invoke: Row<'_>, owner: u32, action: LockAction) -> Result<Vec<Datum>, Unfit> {
        if self.naming == Naming::Unclear(LockValue::Owner) {
            return Ok(vec![Datum::Nil]);
        }
        let held = self.held.get(&owner).map_or(&[][..], Vec::as_slice);
        match (action, held) {
            (LockAction::Release, [lock]) => Ok(vec![lock.clone()]),
            (LockAction::Release, [lock, more @ ..]) if more.iter().all(|other| other == lock) => {
                Ok(vec![lock.clone()])
            }
            _ => Err(Unfit::new(invoke, format!("{} names no lock, as others do", invoke.f()))),
        }
    }
}

fn meaning(
    operation: &Operation<'_>,
    input: LockInput,
    reading: &Reading,
) -> Result<Meaning<LockInput, LockOutput>, Unfit> {
    let refused = reading.fail.answer(LockOutput::Refused);
    let answered = operation.completion.filter(|completion| completion.kind() == EventKind::Ok);
    if answered.is_some_and(|completion| answer(completion.value()).as_bool() == Some(false)) {
        return Ok(Meaning::refused(input, refused));
    }
    Meaning::of(operation, input, refused, |completion| {
        if input.action == LockAction::Release {
            return Ok(LockOutput::Done { token: None });
        }
        let value = answer(completion.value());
        let token = token(value);
        let token = if token.is_null() { value.as_u64() } else { Some(unsigned(completion, token)?) };
        Ok(LockOutput::Done { token })
    })
}

fn unsigned(row: Row<'_>, token: history::Value<'_>) -> Result<u64, Unfit> {
    let message = || format!("expected a token: a whole number from 0, found {token}");
    token.as_u64().ok_or_else(|| Unfit::new(row, message()))
}
