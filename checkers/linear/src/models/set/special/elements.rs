//! When elements came that are never removed.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    answer::Answer,
    model::OpOf,
    models::{
        Value,
        set::{Set, SetInput, SetOutput},
        words,
    },
    special::sweep::proved,
};

/// A time, and the operation that it comes from.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    pub at: u64,
    pub op: Option<u32>,
}

impl Bound {
    pub const BEGINNING: Bound = Bound { at: 0, op: None };
    pub const END: Bound = Bound { at: u64::MAX, op: None };

    pub fn later(self, other: Bound) -> Bound {
        if other.at > self.at { other } else { self }
    }

    pub fn earlier(self, other: Bound) -> Bound {
        if other.at < self.at { other } else { self }
    }
}

/// An element comes at one instant, by its first addition: not before any addition was invoked, nor before it was
/// found missing; and when an addition returned or it was found, it has come. Any instant in between will do, for the
/// addition that was invoked first had not returned by then.
#[derive(Clone, Copy)]
pub(super) struct Coming {
    pub from: Bound,
    pub to: Bound,
    /// The addition that was invoked first, of those that may have brought it.
    added: Option<u32>,
    /// The addition that says of itself that it brought it.
    brought: Option<u32>,
}

impl Coming {
    const UNKNOWN: Coming = Coming { from: Bound::BEGINNING, to: Bound::END, added: None, brought: None };

    /// Whether some operation of its own tells that it comes.
    pub fn is_certain(&self) -> bool {
        self.to.op.is_some()
    }
}

/// The elements that are never removed, and the whole reads.
pub(super) struct Elements<'a, V: Value> {
    pub coming: FxHashMap<&'a V, Coming>,
    /// Positions of reads of all elements.
    pub reads: Vec<u32>,
}

impl<'a, V: Value> Elements<'a, V> {
    /// `Err` if an element alone has no instant to come.
    pub fn new(ops: &'a [OpOf<Set<V>>], removed: &FxHashSet<&V>) -> Result<Self, Answer> {
        let mut elements = Elements { coming: FxHashMap::default(), reads: Vec::new() };
        for (position, op) in (0..).zip(ops) {
            match &op.input {
                SetInput::Read if !op.is_info() => elements.reads.push(position),
                SetInput::Add(value) | SetInput::Contains(value) if !removed.contains(value) => {
                    elements.coming.entry(value).or_insert(Coming::UNKNOWN).learn(ops, position)?;
                }
                _ => {}
            }
        }
        for coming in elements.coming.values_mut() {
            coming.settle(ops)?;
        }
        elements.refuse_unknown(ops, removed)?;
        Ok(elements)
    }

    /// Refutes reads of what was never added.
    fn refuse_unknown(&self, ops: &[OpOf<Set<V>>], removed: &FxHashSet<&V>) -> Result<(), Answer> {
        for &read in &self.reads {
            let Some(SetOutput::Elements(found)) = ops[read as usize].output() else { continue };
            let is_known = |value: &V| {
                removed.contains(value) || self.coming.get(value).is_some_and(|coming| coming.added.is_some())
            };
            let unknown: Vec<String> =
                found.iter().filter(|value| !is_known(value)).map(words::value).collect();
            if !unknown.is_empty() {
                let unknown = words::list("", "", ", ", unknown.into_iter());
                return Err(proved(read, [], &format!("nobody added {unknown}")));
            }
        }
        Ok(())
    }
}

/// The element that a bound comes from, in words.
pub(super) fn element<V: Value>(ops: &[OpOf<Set<V>>], bound: Bound) -> String {
    match bound.op.map(|op| &ops[op as usize].input) {
        Some(SetInput::Add(value) | SetInput::Remove(value) | SetInput::Contains(value)) => {
            words::value(value)
        }
        Some(SetInput::Read) | None => "an element".to_string(),
    }
}

impl Coming {
    fn learn<V: Value>(&mut self, ops: &[OpOf<Set<V>>], position: u32) -> Result<(), Answer> {
        let op = &ops[position as usize];
        let (called, returned) =
            (Bound { at: op.call, op: Some(position) }, Bound { at: op.deadline(), op: Some(position) });
        let is_addition = matches!(op.input, SetInput::Add(_));
        match op.output() {
            Some(SetOutput::Is(true)) if is_addition => {
                if let Some(other) = self.brought.replace(position) {
                    return Err(proved(position, [other], "it was added twice and never removed"));
                }
                self.to = self.to.earlier(returned);
            }
            Some(SetOutput::Is(false)) if !is_addition => self.from = self.from.later(called),
            Some(_) => self.to = self.to.earlier(returned),
            None => {}
        }
        let may_bring = is_addition && matches!(op.output(), None | Some(SetOutput::Done));
        if may_bring && self.added.is_none_or(|first| op.call < ops[first as usize].call) {
            self.added = Some(position);
        }
        Ok(())
    }

    /// Takes the additions into account.
    fn settle<V: Value>(&mut self, ops: &[OpOf<Set<V>>]) -> Result<(), Answer> {
        self.added = self.brought.or(self.added);
        let Some(added) = self.added else {
            return match self.to.op {
                Some(op) => Err(proved(op, [], "nobody added what is there")),
                None => Ok(()),
            };
        };
        self.from = self.from.later(Bound { at: ops[added as usize].call, op: Some(added) });
        match self.to.op {
            Some(op) if self.from.at > self.to.at => {
                Err(proved(op, self.from.op, "the element was there before it can have come"))
            }
            _ => Ok(()),
        }
    }
}
