use std::num::NonZeroU32;

use super::{At, LockTable, Without};
use history::{Outcome, Value};

/// What accesses carry, by the place of its name here.
pub(super) const FIELDS: [&str; 3] = ["token", "id", "seq"];
const TOKEN: usize = 0;
const ID: usize = 1;
const SEQ: usize = 2;

/// A read or a write of the protected resource. What it carried stands in the history: [`LockTable::token_of`],
/// [`LockTable::id_of`], [`LockTable::seq_of`].
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Whether it is a write.
    pub write: bool,
    /// Whether the fenced register refused it.
    pub refused: bool,
    /// Its completion, `Info` where there is none.
    pub outcome: Outcome,
    pub(super) answered: bool,
    /// The lock.
    pub lock: u32,
    /// Who.
    pub process: u32,
    /// Its invocation.
    pub invoke: At,
    /// Its completion; the end of the history where there is none.
    pub end: At,
    pub(super) promise: Option<NonZeroU32>,
    pub(super) hold: Option<NonZeroU32>,
    pub(super) without: Option<NonZeroU32>,
}

impl Access {
    /// The last promise that its client had for the lock when it was invoked.
    pub fn promise(&self) -> Option<u32> {
        self.promise.map(|place| place.get() - 1)
    }

    /// The hold in which it was invoked.
    pub fn hold(&self) -> Option<u32> {
        self.hold.map(|place| place.get() - 1)
    }

    /// Whether its client certainly held nothing when it was invoked, where that is known for other reasons than a
    /// deadline.
    pub fn is_without(&self) -> bool {
        self.without.is_some()
    }
}

impl<'h> LockTable<'h> {
    /// The fencing token that the access carried.
    pub fn token_of(&self, access: &Access) -> Option<i128> {
        self.asked(access, TOKEN).and_then(Value::as_whole)
    }

    /// The id that a write carried.
    pub fn id_of(&self, access: &Access) -> Option<&'h str> {
        self.asked(access, ID).and_then(Value::as_str)
    }

    /// The write's id, or a hyphen.
    pub fn name_of(&self, access: &Access) -> &'h str {
        self.id_of(access).unwrap_or("-")
    }

    /// The access' position in the resource's serial order, where its answer tells.
    pub fn seq_of(&self, access: &Access) -> Option<u64> {
        if access.answered { self.field(access.end, SEQ).and_then(Value::as_count) } else { None }
    }

    /// Why the access' client certainly held nothing.
    pub fn without(&self, access: &Access) -> Option<Without> {
        access.without.map(|place| self.withouts[place.get() as usize - 1])
    }

    fn asked(&self, access: &Access, field: usize) -> Option<Value<'h>> {
        self.field(access.invoke, field)
    }

    fn field(&self, event: At, field: usize) -> Option<Value<'h>> {
        let value = self.history.row(event.index() as usize).value();
        self.words.entries(value).find(|&(place, _)| place == field).map(|(_, value)| value)
    }
}
