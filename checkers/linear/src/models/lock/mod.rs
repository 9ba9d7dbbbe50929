//! Locks: anonymous, owner-aware, reentrant, fenced, and reentrant fenced.

mod anonymous;
mod special;

use crate::{
    answer::Answer,
    model::{Model, OpOf, topic},
};

/// What a lock promises.
///
/// `info`: an indeterminate acquire may have been granted, with a token nobody saw; an indeterminate release may have
/// freed the lock. `fail`: either nothing happened, or the lock *refused* at some instant in between: an acquire because
/// it was held (a reentrant one: held by another), a release because the caller did not hold it. Which of the two a
/// history means is chosen where operations are made, with [`crate::op::FailMeans`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Only the holder can release. Otherwise the lock is one bit, as in Knossos' mutex.
    pub owners: bool,
    /// How often the holder can acquire it, 1 unless reentrant.
    pub depth_max: u32,
    /// Tokens increase strictly from hold to hold; nested acquires see the token of their hold.
    pub fenced: bool,
}

impl Lock {
    /// One bit: anybody may release it.
    pub const ANONYMOUS: Lock = Lock { owners: false, depth_max: 1, fenced: false };
    /// Only its holder may release it.
    pub const OWNED: Lock = Lock { owners: true, depth_max: 1, fenced: false };
    /// Its holder may acquire it again, and releases it as often.
    pub const REENTRANT: Lock = Lock { owners: true, depth_max: u32::MAX, fenced: false };
    /// Owned, with tokens.
    pub const FENCED: Lock = Lock { owners: true, depth_max: 1, fenced: true };
    /// Reentrant, with a token a hold.
    pub const REENTRANT_FENCED: Lock = Lock { owners: true, depth_max: u32::MAX, fenced: true };
}

/// What is asked of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockInput {
    /// Who asks.
    pub owner: u32,
    /// For what.
    pub action: LockAction,
}

/// Acquire or release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockAction {
    /// Take it.
    Acquire,
    /// Give it back.
    Release,
}

/// What a lock answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockOutput {
    /// Granted or given back, with the token where there is one. An unknown token imposes nothing.
    Done {
        /// The fencing token of a grant.
        token: Option<u64>,
    },
    /// Not granted because it was held, or not given back because it was not the caller's.
    Refused,
}

/// Who holds a lock, and which token was given last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockState {
    /// The hold, if any.
    pub hold: Option<Hold>,
    /// The highest token known to have been given.
    pub last_token: Option<u64>,
}

/// A lock being held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hold {
    /// By whom; 0 in an anonymous lock.
    pub owner: u32,
    /// How many releases it takes to free it.
    pub depth: u32,
    /// The hold's token, where it is known.
    pub token: Option<u64>,
}

impl Model for Lock {
    type State = LockState;
    type Input = LockInput;
    type Output = LockOutput;

    fn initial(&self) -> LockState {
        LockState::default()
    }

    fn step(&self, state: &LockState, input: &LockInput, output: Option<&LockOutput>) -> Option<LockState> {
        let owner = if self.owners { input.owner } else { 0 };
        match (input.action, output) {
            (LockAction::Acquire, Some(LockOutput::Refused)) => {
                self.acquire(state, owner, None).is_none().then_some(*state)
            }
            (LockAction::Release, Some(LockOutput::Refused)) => {
                release(state, owner).is_none().then_some(*state)
            }
            (LockAction::Acquire, Some(LockOutput::Done { token })) => self.acquire(state, owner, *token),
            (LockAction::Acquire, None) => self.acquire(state, owner, None),
            (LockAction::Release, _) => release(state, owner),
        }
    }

    fn observes(&self, _input: &LockInput, output: Option<&LockOutput>) -> bool {
        output == Some(&LockOutput::Refused)
    }

    fn shortcut(&self, ops: &[OpOf<Lock>]) -> Option<Answer> {
        special::judge(self, ops)
    }

    fn sweeps(&self) -> bool {
        true
    }

    fn topics(&self, input: &LockInput, _output: Option<&LockOutput>) -> Vec<u64> {
        self.owners.then(|| topic(&input.owner)).into_iter().collect()
    }

    fn about(&self, op: &OpOf<Lock>, kept: &dyn Fn(u64) -> bool) -> Option<OpOf<Lock>> {
        // That it was refused may be because of another owner.
        let hangs_on_others =
            op.input.action == LockAction::Acquire && op.output() == Some(&LockOutput::Refused);
        (kept(topic(&op.input.owner)) && !hangs_on_others).then(|| op.clone())
    }

    /// That a lock is one bit is seen by counting all its turns; two clients that held it at once are seen at a glance.
    fn argue(&self, ops: &[OpOf<Lock>], _op: u32) -> Option<(String, Vec<u32>)> {
        if self.owners {
            return None;
        }
        let Some(Answer::Invalid(refutation)) = special::judge(&Lock::OWNED, ops) else { return None };
        let held = "two clients held it at once, each from its acquire's return to its release".to_string();
        let shown = refutation.with.iter().chain([&refutation.op]).copied().collect();
        (!refutation.with.is_empty()).then_some((held, shown))
    }

    fn describe(&self, input: &LockInput, output: Option<&LockOutput>) -> String {
        let LockInput { owner, action } = input;
        let action = match action {
            LockAction::Acquire => "acquire",
            LockAction::Release => "release",
        };
        match output {
            None => format!("{action} by {owner}: ?"),
            Some(LockOutput::Refused) => format!("{action} by {owner}: refused"),
            Some(LockOutput::Done { token: Some(token) }) => format!("{action} by {owner} → token {token}"),
            Some(LockOutput::Done { token: None }) => format!("{action} by {owner}"),
        }
    }

    fn describe_state(&self, state: &LockState) -> String {
        let mut words = match state.hold {
            None => "free".to_string(),
            Some(_) if !self.owners => "held".to_string(),
            Some(Hold { owner, depth: 1, .. }) => format!("held by {owner}"),
            Some(Hold { owner, depth, .. }) => format!("held by {owner}, {depth} deep"),
        };
        if let Some(token) = state.last_token {
            words.push_str(&format!(", last token {token}"));
        }
        words
    }
}

impl Lock {
    fn acquire(&self, state: &LockState, owner: u32, token: Option<u64>) -> Option<LockState> {
        let token = token.filter(|_| self.fenced);
        let is_newer = token.is_none_or(|token| state.last_token.is_none_or(|last| last < token));
        let last_token = token.or(state.last_token);
        match state.hold {
            None => is_newer.then_some(LockState { hold: Some(Hold { owner, depth: 1, token }), last_token }),
            Some(hold) if hold.owner == owner && hold.depth < self.depth_max => {
                let fits = token.is_none() || hold.token == token || (hold.token.is_none() && is_newer);
                let hold = Hold { depth: hold.depth + 1, token: hold.token.or(token), ..hold };
                fits.then_some(LockState { hold: Some(hold), last_token })
            }
            Some(_) => None,
        }
    }
}

fn release(state: &LockState, owner: u32) -> Option<LockState> {
    let hold = state.hold.filter(|hold| hold.owner == owner)?;
    let hold = (hold.depth > 1).then_some(Hold { depth: hold.depth - 1, ..hold });
    Some(LockState { hold, ..*state })
}
