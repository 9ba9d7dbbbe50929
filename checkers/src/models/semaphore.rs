//! A semaphore whose permits have owners.

use std::collections::BTreeMap;

use crate::{
    engine::Answer,
    model::{Model, OpOf},
    special,
};

use super::size;

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
        special::semaphore::judge(self, ops)
    }
}

impl Semaphore {
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
