//! A semaphore whose permits have owners.

mod special;

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    answer::Answer,
    model::{Model, OpOf, topic},
};

use super::{size, words};

/// A number of permits, taken and given back some at a time. Where permits have no owners, give every operation the
/// same one.
///
/// `info`: permits may have been taken or given back. `fail`: nothing happened, or the semaphore refused at some instant
/// in between: too few were left, or the caller did not have so many.
#[derive(Clone, Copy, Debug)]
pub struct Semaphore {
    /// All permits.
    pub permits: u64,
}

/// What is asked of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SemaphoreInput {
    /// Who asks.
    pub owner: u32,
    /// For what.
    pub action: SemaphoreAction,
}

/// Take or give back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SemaphoreAction {
    /// So many permits at once.
    Acquire(u64),
    /// So many permits.
    Release(u64),
}

/// What a semaphore answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SemaphoreOutput {
    /// Taken or given back.
    Done,
    /// Too few were left, or the caller did not have so many.
    Refused,
}

impl Model for Semaphore {
    /// Permits by owner, without zeroes.
    type State = BTreeMap<u32, u64>;
    type Input = SemaphoreInput;
    type Output = SemaphoreOutput;

    fn initial(&self) -> BTreeMap<u32, u64> {
        BTreeMap::new()
    }

    fn step(
        &self,
        state: &BTreeMap<u32, u64>,
        input: &SemaphoreInput,
        output: Option<&SemaphoreOutput>,
    ) -> Option<BTreeMap<u32, u64>> {
        let next = self.change(state, input);
        match output {
            Some(SemaphoreOutput::Refused) => next.is_none().then(|| state.clone()),
            None | Some(SemaphoreOutput::Done) => next,
        }
    }

    fn observes(&self, _input: &SemaphoreInput, output: Option<&SemaphoreOutput>) -> bool {
        output == Some(&SemaphoreOutput::Refused)
    }

    fn state_bytes(&self, state: &BTreeMap<u32, u64>) -> usize {
        size_of::<BTreeMap<u32, u64>>() + size::b_tree(state.len(), size_of::<(u32, u64)>())
    }

    fn shortcut(&self, ops: &[OpOf<Semaphore>]) -> Option<Answer> {
        special::judge(self, ops)
    }

    fn topics(&self, input: &SemaphoreInput, _output: Option<&SemaphoreOutput>) -> Vec<u64> {
        vec![topic(&input.owner)]
    }

    fn about(&self, op: &OpOf<Semaphore>, kept: &dyn Fn(u64) -> bool) -> Option<OpOf<Semaphore>> {
        // That it was refused may be because of other owners.
        let hangs_on_others = matches!(op.input.action, SemaphoreAction::Acquire(_))
            && op.output() == Some(&SemaphoreOutput::Refused);
        (kept(topic(&op.input.owner)) && !hangs_on_others).then(|| op.clone())
    }

    fn argue(&self, ops: &[OpOf<Semaphore>], op: u32) -> Option<(String, Vec<u32>)> {
        let end = ops[op as usize].deadline();
        let mut out: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
        let (mut taken, mut given) = (0u64, 0u64);
        for (position, other) in
            (0..).zip(ops).filter(|(_, other)| other.output() != Some(&SemaphoreOutput::Refused))
        {
            match other.input.action {
                SemaphoreAction::Acquire(count) if other.deadline() <= end => {
                    taken = taken.saturating_add(count);
                    out.entry(other.input.owner).or_default().push((position, count));
                }
                SemaphoreAction::Release(count) if other.call <= end => given = given.saturating_add(count),
                _ => {}
            }
        }
        (taken.saturating_sub(given) > self.permits).then(|| {
            let words = format!(
                "by its return {taken} permits were acquired, and of {given} the release had begun, so that at least {} \
                 were out",
                taken - given
            );
            (words, self.still_out(ops, out, end))
        })
    }

    fn hardness(&self, ops: &[OpOf<Semaphore>], _op: u32) -> Option<String> {
        let refused = ops.iter().filter(|op| op.output() == Some(&SemaphoreOutput::Refused)).count();
        let mut lost_at = FxHashMap::default();
        for op in ops.iter().filter(|op| op.is_info()) {
            let at = lost_at.entry(op.input.owner).or_insert(op.call);
            *at = op.call.min(*at);
        }
        let goes_on = |op: &&OpOf<Semaphore>| lost_at.get(&op.input.owner).is_some_and(|at| *at < op.call);
        let owners: FxHashSet<u32> = ops.iter().filter(goes_on).map(|op| op.input.owner).collect();
        let why = match (refused, owners.len()) {
            (0, 0) => "owners that do several things at a time: in which order".to_string(),
            (0, owners) => format!("what timed out of {owners} owners that went on: which of it happened"),
            (refused, 0) => format!("{refused} refusals: what the others held then"),
            (refused, owners) => format!(
                "{refused} refusals and what timed out of {owners} owners that went on: what was held, and what happened"
            ),
        };
        Some(format!(
            "It is hard because of {why} is a problem of sums of subsets. Without refusals, and with owners that do one \
             thing at a time and nothing more after an operation of theirs timed out, it takes no search."
        ))
    }

    fn describe(&self, input: &SemaphoreInput, output: Option<&SemaphoreOutput>) -> String {
        let (asked, count) = match input.action {
            SemaphoreAction::Acquire(count) => ("acquire", count),
            SemaphoreAction::Release(count) => ("release", count),
        };
        let answer = match output {
            None => ": ?",
            Some(SemaphoreOutput::Done) => "",
            Some(SemaphoreOutput::Refused) => ": refused",
        };
        format!("{asked} {count} by {}{answer}", input.owner)
    }

    fn describe_state(&self, state: &BTreeMap<u32, u64>) -> String {
        let taken: u64 = state.values().sum();
        let holders = state.iter().map(|(owner, held)| format!("{held} by {owner}"));
        match taken {
            0 => format!("all {} permits free", self.permits),
            _ => words::list(&format!("{taken} of {} permits taken: ", self.permits), "", ", ", holders),
        }
    }
}

impl Semaphore {
    /// The acquires of each owner, by position and permits, but those that its own releases by then account for.
    fn still_out(
        &self,
        ops: &[OpOf<Semaphore>],
        mut out: BTreeMap<u32, Vec<(u32, u64)>>,
        end: u64,
    ) -> Vec<u32> {
        let happened =
            |other: &&OpOf<Semaphore>| other.call <= end && other.output() != Some(&SemaphoreOutput::Refused);
        for other in ops.iter().filter(happened) {
            let (SemaphoreAction::Release(mut count), Some(own)) =
                (other.input.action, out.get_mut(&other.input.owner))
            else {
                continue;
            };
            while let Some((_, permits)) = own.first_mut().filter(|_| count > 0) {
                let given = count.min(*permits);
                (*permits, count) = (*permits - given, count - given);
                if *permits == 0 {
                    own.remove(0);
                }
            }
        }
        out.into_values().flatten().map(|(position, _)| position).collect()
    }

    fn change(&self, state: &BTreeMap<u32, u64>, input: &SemaphoreInput) -> Option<BTreeMap<u32, u64>> {
        let held = state.get(&input.owner).copied().unwrap_or(0);
        let held = match input.action {
            SemaphoreAction::Acquire(count) => {
                let taken: u64 = state.values().sum();
                held.checked_add(count).filter(|_| self.permits - taken >= count)?
            }
            SemaphoreAction::Release(count) => held.checked_sub(count)?,
        };
        let mut next = state.clone();
        match held {
            0 => next.remove(&input.owner),
            _ => next.insert(input.owner, held),
        };
        Some(next)
    }
}
