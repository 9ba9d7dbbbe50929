//! A register that never takes a value twice.

use rustc_hash::FxHashMap;

use crate::{
    answer::Answer,
    model::OpOf,
    models::{
        Value,
        register::{Register, RegisterInput, RegisterOutput},
        words,
    },
    special::sweep::{proved, refuted, valid},
};

/// Judges a history in which no value is written twice, in O(n log n); leaves others to the search, and those in which a
/// compare-and-set observed a different value.
///
/// After P. Gibbons and E. Korach, *Testing shared memories* (1997): the operations on a value, from its write to its
/// last read, follow each other without another value in between; here, values that lead to each other by
/// compare-and-set make one chain. A chain's *zone* lies between its first return and its last invocation: *forward*, if
/// the return is earlier: then the register certainly has the chain's values all that time. The history is linearizable
/// exactly if every chain is in order, forward zones do not overlap, and no other zone lies inside a forward one.
pub fn judge<V: Value>(initial: &V, ops: &[OpOf<Register<V>>]) -> Option<Answer> {
    let mut values = Values::new(initial, ops)?;
    Some(values.judge().err().unwrap_or_else(valid))
}

struct Values<'a, V: Value> {
    initial: &'a V,
    ops: &'a [OpOf<Register<V>>],
    number: FxHashMap<&'a V, usize>,
    /// The initial value first.
    values: Vec<Written>,
}

#[derive(Default)]
struct Written {
    /// Position of the write; `None` for the initial value.
    write: Option<u32>,
    reads: Vec<u32>,
    /// The value that replaced it by compare-and-set.
    next: Option<usize>,
    /// Whether the register certainly had it.
    is_certain: bool,
}

struct Zone {
    first_return: u64,
    last_call: u64,
    /// Operations with these times; `None` for the beginning of time.
    returning: Option<u32>,
    calling: Option<u32>,
}

impl<'a, V: Value> Values<'a, V> {
    /// `None` for what must be left to the search.
    fn new(initial: &'a V, ops: &'a [OpOf<Register<V>>]) -> Option<Self> {
        let mut values = vec![Written { is_certain: true, ..Written::default() }];
        let mut number = FxHashMap::default();
        number.insert(initial, 0);
        for (position, op) in (0..).zip(ops) {
            let value = match (&op.input, op.output()) {
                (RegisterInput::Read, None | Some(RegisterOutput::Value(_))) => continue,
                (RegisterInput::Write(value), None | Some(RegisterOutput::Done)) => value,
                (RegisterInput::Cas { to, .. }, None | Some(RegisterOutput::Done)) => to,
                _ => return None,
            };
            if number.insert(value, values.len()).is_some() {
                return None;
            }
            values.push(Written { write: Some(position), ..Written::default() });
        }
        Some(Values { initial, ops, number, values })
    }

    fn judge(&mut self) -> Result<(), Answer> {
        self.read()?;
        self.link()?;
        let roots: Vec<usize> = (0..self.values.len())
            .filter(|&value| self.values[value].is_certain && self.replaced(value).is_none())
            .collect();
        let zones = roots.into_iter().map(|root| self.zone(root)).collect::<Result<Vec<Zone>, Answer>>()?;
        self.apart(zones)
    }

    /// Which values were certainly there: those that were read, or whose write returned, and those before them.
    fn read(&mut self) -> Result<(), Answer> {
        for (position, op) in (0..).zip(self.ops) {
            match (&op.input, op.output()) {
                (RegisterInput::Read, Some(RegisterOutput::Value(value))) => {
                    let value =
                        self.find(value).ok_or_else(|| proved(position, [], "nobody wrote what it read"))?;
                    self.values[value].reads.push(position);
                    self.ascertain(value);
                }
                (RegisterInput::Write(value) | RegisterInput::Cas { to: value, .. }, Some(_)) => {
                    self.find(value).into_iter().for_each(|value| self.ascertain(value));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn ascertain(&mut self, value: usize) {
        let mut at = Some(value);
        while let Some(value) = at.filter(|&value| !self.values[value].is_certain) {
            self.values[value].is_certain = true;
            at = self.replaced(value).flatten();
        }
    }

    /// The value that this one replaced by compare-and-set, if it did: `Some(None)` if nobody wrote that.
    fn replaced(&self, value: usize) -> Option<Option<usize>> {
        match &self.ops[self.values[value].write? as usize].input {
            RegisterInput::Cas { from, .. } => Some(self.find(from)),
            _ => None,
        }
    }

    fn find(&self, value: &V) -> Option<usize> {
        self.number.get(value).copied()
    }

    /// Joins values by compare-and-set.
    fn link(&mut self) -> Result<(), Answer> {
        for value in 1..self.values.len() {
            let (true, Some(write)) = (self.values[value].is_certain, self.values[value].write) else {
                continue;
            };
            let Some(from) = self.replaced(value) else { continue };
            let from = from.ok_or_else(|| refuted(write, [], "nobody wrote the value that it replaced"))?;
            if let Some(other) = self.values[from].next.replace(value) {
                let other = self.values[other].write;
                return Err(refuted(
                    write,
                    other,
                    "the value that it replaced was replaced by another one, too",
                ));
            }
        }
        self.refuse_circles()
    }

    fn refuse_circles(&self) -> Result<(), Answer> {
        let mut has_root = vec![false; self.values.len()];
        for root in (0..self.values.len()).filter(|&value| self.replaced(value).is_none()) {
            let mut at = Some(root);
            while let Some(value) = at {
                has_root[value] = true;
                at = self.values[value].next;
            }
        }
        let circle = (0..self.values.len()).find(|&value| self.values[value].is_certain && !has_root[value]);
        let write = circle.and_then(|value| self.values[value].write);
        write.map_or(Ok(()), |write| Err(refuted(write, [], "what it replaced came of what it wrote")))
    }

    /// Goes along a chain: each write, then its reads.
    fn zone(&self, root: usize) -> Result<Zone, Answer> {
        let first_return = if root == 0 { 0 } else { u64::MAX };
        let mut zone = Zone { first_return, last_call: 0, returning: None, calling: None };
        let mut at = Some(root);
        while let Some(value) = at {
            let Written { write, reads, next, .. } = &self.values[value];
            self.step(&mut zone, write.as_slice())?;
            self.step(&mut zone, reads)?;
            at = *next;
        }
        Ok(zone)
    }

    /// Adds operations that may stand in any order among themselves, but after those before.
    fn step(&self, zone: &mut Zone, step: &[u32]) -> Result<(), Answer> {
        // Time 0 is left to the initial value.
        let call = |position: u32| self.ops[position as usize].call.saturating_add(1);
        let deadline = |position: u32| self.ops[position as usize].deadline().saturating_add(1);
        if let Some(&early) = step.iter().find(|&&position| deadline(position) < zone.last_call) {
            return Err(refuted(early, zone.calling, &self.too_early(zone)));
        }
        for &position in step {
            if call(position) > zone.last_call {
                (zone.last_call, zone.calling) = (call(position), Some(position));
            }
            if deadline(position) < zone.first_return {
                (zone.first_return, zone.returning) = (deadline(position), Some(position));
            }
        }
        Ok(())
    }

    /// Why what comes after the zone's last invocation cannot be over before.
    fn too_early(&self, zone: &Zone) -> String {
        let Some(op) = zone.calling.map(|op| &self.ops[op as usize]) else {
            return "it came too early".into();
        };
        match (&op.input, op.output()) {
            (RegisterInput::Read, Some(RegisterOutput::Value(value))) => {
                let value = words::value(value);
                format!("{value} was read after it was over, though written but once and replaced by then")
            }
            (RegisterInput::Write(value) | RegisterInput::Cas { to: value, .. }, _) => {
                format!("it was over before {}, which it needs, was written", words::value(value))
            }
            _ => "it came too early".into(),
        }
    }

    /// The values that a zone begins and ends with.
    fn values_of(&self, zone: &Zone) -> String {
        let value = |op: Option<u32>| {
            let Some(op) = op.map(|op| &self.ops[op as usize]) else { return self.initial };
            match (&op.input, op.output()) {
                (_, Some(RegisterOutput::Value(value))) => value,
                (RegisterInput::Write(value) | RegisterInput::Cas { to: value, .. }, _) => value,
                (RegisterInput::Read, _) => self.initial,
            }
        };
        let (first, last) = (words::value(value(zone.returning)), words::value(value(zone.calling)));
        if first == last { first } else { format!("{first} to {last}") }
    }

    fn apart(&self, zones: Vec<Zone>) -> Result<(), Answer> {
        let (mut forward, other): (Vec<Zone>, Vec<Zone>) =
            zones.into_iter().partition(|zone| zone.first_return < zone.last_call);
        forward.sort_by_key(|zone| zone.first_return);
        let clash = |zone: &Zone, around: &Zone| {
            let with = [around.returning, around.calling, zone.calling].into_iter().flatten();
            let reason = format!("the register was {} all the time", self.values_of(around));
            Err(refuted(zone.returning.or(zone.calling).unwrap_or(0), with, &reason))
        };
        if let Some(pair) = forward.windows(2).find(|pair| pair[1].first_return < pair[0].last_call) {
            return clash(&pair[1], &pair[0]);
        }
        for zone in &other {
            let before = forward.partition_point(|around| around.first_return < zone.last_call);
            if let Some(around) =
                forward[..before].last().filter(|around| zone.first_return < around.last_call)
            {
                return clash(zone, around);
            }
        }
        Ok(())
    }
}
