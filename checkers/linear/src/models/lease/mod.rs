//! A lease: a lock that ends by itself.

mod special;

use crate::{
    answer::Answer,
    model::{Model, OpOf},
    op::Op,
};

/// A lease that its service ends a time to live after it was granted or renewed, on the clock of the history's times.
///
/// The service grants at some instant within the operation's interval; the state keeps the span of instants that are
/// still possible, so that a search over orders finds the instants too.
///
/// `info`: a grant, renewal or release may have taken effect. `fail`: nothing happened, or the service *refused* at some
/// instant in between: a grant because the lease was held, a renewal or release because it was not the caller's.
#[derive(Clone, Copy, Debug)]
pub struct Lease;

/// What is asked, by whom and when; the operation's own times again, since instants matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseInput {
    /// Who asks.
    pub owner: u32,
    /// For what.
    pub action: LeaseAction,
    /// The operation's invocation.
    pub call: u64,
    /// Its return; `u64::MAX` if it is indeterminate.
    pub until: u64,
}

/// Take, extend or give back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeaseAction {
    /// Take it.
    Acquire {
        /// How long it lasts, in the unit of the history's times.
        ttl: u64,
    },
    /// Have it last from now on.
    Renew {
        /// How long it lasts.
        ttl: u64,
    },
    /// Give it back.
    Release,
}

/// What a lease service answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeaseOutput {
    /// Granted, renewed, or given back before it ended.
    Done,
    /// Not granted because it was held; not renewed or given back because it was not, or no longer, the caller's.
    Refused,
}

impl Lease {
    /// An operation on a lease: it answered `output` at `until`, or is indeterminate.
    pub fn op(
        process: u32,
        call: u64,
        action: LeaseAction,
        answer: Option<(u64, LeaseOutput)>,
    ) -> OpOf<Lease> {
        let until = answer.map_or(u64::MAX, |(at, _)| at.max(call));
        let input = LeaseInput { owner: process, action, call, until };
        match answer {
            Some((_, output)) => Op::ok(process, call, until, input, output),
            None => Op::info(process, call, input),
        }
    }
}

/// What the service remembers, as spans of instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseState {
    /// The earliest instant at which the next operation can act.
    pub now: u64,
    /// The last grant or renewal that was not given back or refused since.
    pub term: Option<Term>,
}

/// A grant or renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    /// Whose.
    pub owner: u32,
    /// The earliest instant at which it can have acted.
    pub from: u64,
    /// The latest.
    pub to: u64,
    /// How long it lasts.
    pub ttl: u64,
}

impl Model for Lease {
    type State = LeaseState;
    type Input = LeaseInput;
    type Output = LeaseOutput;

    fn initial(&self) -> LeaseState {
        LeaseState { now: 0, term: None }
    }

    fn step(
        &self,
        state: &LeaseState,
        input: &LeaseInput,
        output: Option<&LeaseOutput>,
    ) -> Option<LeaseState> {
        let is_refused = output == Some(&LeaseOutput::Refused);
        match input.action {
            LeaseAction::Acquire { .. } if is_refused => refuse_grant(state, input),
            LeaseAction::Acquire { ttl } => grant(state, input, ttl),
            _ if is_refused => refuse_holder(state, input),
            LeaseAction::Renew { ttl } => {
                let (from, to) = while_held(state, input)?;
                Some(LeaseState { now: from, term: Some(Term { owner: input.owner, from, to, ttl }) })
            }
            LeaseAction::Release => while_held(state, input).map(|(now, _)| LeaseState { now, term: None }),
        }
    }

    fn partition(&self, ops: &[OpOf<Lease>]) -> Vec<Vec<u32>> {
        special::clusters(ops)
    }

    fn shortcut(&self, ops: &[OpOf<Lease>]) -> Option<Answer> {
        special::judge(ops)
    }

    fn describe(&self, input: &LeaseInput, output: Option<&LeaseOutput>) -> String {
        let answer = match output {
            None => ": ?",
            Some(LeaseOutput::Done) => "",
            Some(LeaseOutput::Refused) => ": refused",
        };
        match input.action {
            LeaseAction::Acquire { ttl } => format!("acquire by {} for {ttl}{answer}", input.owner),
            LeaseAction::Renew { ttl } => format!("renew by {} for {ttl}{answer}", input.owner),
            LeaseAction::Release => format!("release by {}{answer}", input.owner),
        }
    }

    fn describe_state(&self, state: &LeaseState) -> String {
        match state.term {
            None => format!("free at {}", state.now),
            Some(Term { owner, from, to, ttl }) => {
                format!("granted to {owner} between {from} and {to} for {ttl}, now {} or later", state.now)
            }
        }
    }
}

/// The last term must have ended.
fn grant(state: &LeaseState, input: &LeaseInput, ttl: u64) -> Option<LeaseState> {
    let ended = state.term.map_or(0, |term| term.from.saturating_add(term.ttl));
    let from = state.now.max(input.call).max(ended);
    let term = Term { owner: input.owner, from, to: input.until, ttl };
    (from <= input.until).then_some(LeaseState { now: from, term: Some(term) })
}

/// It is held at an instant of the operation: this narrows the term's own instants.
fn refuse_grant(state: &LeaseState, input: &LeaseInput) -> Option<LeaseState> {
    let term = state.term.filter(|term| term.ttl > 0)?;
    let earliest = state.now.max(input.call).max(term.from);
    let from = term.from.max((earliest + 1).saturating_sub(term.ttl));
    let to = term.to.min(input.until);
    let now = earliest.max(from);
    (from <= to && now <= input.until).then_some(LeaseState { now, term: Some(Term { from, to, ..term }) })
}

/// The caller's term has ended, or it has none.
fn refuse_holder(state: &LeaseState, input: &LeaseInput) -> Option<LeaseState> {
    match state.term {
        Some(term) if term.owner == input.owner => {
            let now = state.now.max(input.call).max(term.from.saturating_add(term.ttl));
            (now <= input.until).then_some(LeaseState { now, term: None })
        }
        _ => {
            let now = state.now.max(input.call);
            (now <= input.until).then_some(LeaseState { now, ..*state })
        }
    }
}

/// The instants of the operation at which the caller can still have the lease.
fn while_held(state: &LeaseState, input: &LeaseInput) -> Option<(u64, u64)> {
    let term = state.term.filter(|term| term.owner == input.owner && term.ttl > 0)?;
    let from = state.now.max(input.call).max(term.from);
    let to = input.until.min(term.to.saturating_add(term.ttl - 1));
    (from <= to).then_some((from, to))
}
