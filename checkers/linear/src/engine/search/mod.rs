//! Depth-first search over the configurations of one part of a history.
//!
//! Only returns of required operations are decision points. A *configuration* is (event, mask, state, used): the next
//! return, which of the pending required operations were already taken, the state, and how many optional operations of
//! each class were taken. What is left out, and why that loses nothing:
//!
//! * An operation that only observes is taken as soon as it can be: it never stands in another's way.
//! * Of pending operations of one class the one with the earliest deadline is taken: they can be exchanged.
//! * An optional one is not taken where a required one with the same input leads to the same state: they can be
//!   exchanged too. Nor where it changes nothing.
//! * A configuration with the same event, mask and state as another that used no more optional operations of any class
//!   can do nothing that the other could not ([`super::memo`]).
//! * States that no later operation can tell apart are one, and a state that cannot lead to the next returns is given
//!   up, both where the model's [`crate::model::Lookahead`] says so.

mod choices;

use choices::Choices;

use crate::{
    limits::{Guard, Limit},
    model::{Lookahead, Model, OpOf, Outlook},
};

use super::{
    memo::{Memo, Seen},
    plan::Plan,
    states::States,
    timeline::EventsOf,
    window::Window,
};

/// How far [`Search::run`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Every event was passed; [`Search::linearization`] shows how.
    Valid,
    /// Nothing is left to try.
    Invalid,
    /// The budget is used up; running again goes on.
    Paused,
    /// The guard said stop.
    Ended,
}

/// Looks at the guard once in so many nodes.
const NODES_A_LOOK: u64 = 1024;
/// And whenever new states have taken so much more memory: some are large.
const GROWN_BYTES_A_LOOK: usize = 1 << 20;
/// Up to so many nodes a search does without the model's [`Lookahead`].
const NODES_WITHOUT_LOOKAHEAD: u64 = 64;
/// At a quiescent point a memo larger than this is forgotten.
const MEMO_KEPT_BYTES: usize = 64 << 20;
pub(super) struct Search<'a, 'g, M: Model> {
    pub(super) plan: Plan<'a, M>,
    states: States<'a, M>,
    pub(super) memo: Memo<'g>,
    guard: &'g Guard,
    model: &'a M,
    lookahead: Option<Box<dyn Lookahead<M::State> + Send>>,
    /// Whether the model was asked for one: only once a search has proved to take a while.
    is_prepared: bool,
    /// By state: what [`Lookahead`] said holds before this event.
    known_until: Vec<u32>,

    pub(super) window: Window,
    pub(super) state: u32,
    /// Room for event and state, then the mask, then the counts of used optional operations.
    pub(super) config: Vec<u64>,
    /// Whether the current configuration must still be settled and expanded.
    pub(super) fresh: bool,
    choices: Choices,
    /// Operations taken, in order.
    pub(super) taken: Vec<u32>,

    nodes: u64,
    next_look: u64,
    pub(super) deepest: u32,
    reserved_bytes: usize,
}

impl<'a, 'g, M: Model> Search<'a, 'g, M> {
    /// `events` are those of the part.
    pub fn new(
        model: &'a M,
        ops: &'a [OpOf<M>],
        part: &[u32],
        events: &EventsOf,
        guard: &'g Guard,
    ) -> Search<'a, 'g, M> {
        let plan = Plan::new(model, ops, part, events);
        let mut states = States::new(model, plan.classes.len());
        let state = states.number(model.initial());
        Search {
            memo: Memo::new(guard, plan.mask_words, plan.guards()),
            model,
            lookahead: None,
            is_prepared: false,
            known_until: Vec::new(),
            window: Window::new(&plan),
            state,
            config: vec![0; 1 + plan.mask_words + plan.used_words],
            fresh: true,
            choices: Choices::new(),
            taken: Vec::with_capacity(plan.calls.len().min(256)),
            nodes: 0,
            next_look: NODES_A_LOOK,
            deepest: 0,
            reserved_bytes: 0,
            guard,
            plan,
            states,
        }
    }

    /// Goes on for about `budget` nodes, or until some frame reaches event `target`.
    pub fn run(&mut self, budget: u64, target: u32) -> Progress {
        let pause = self.nodes.saturating_add(budget);
        loop {
            let is_due = self.nodes >= self.next_look || self.states.grown_bytes() > GROWN_BYTES_A_LOOK;
            if is_due && !self.look() {
                return Progress::Ended;
            }
            if self.fresh {
                self.fresh = false;
                match self.settle() {
                    Settled::Done => return Progress::Valid,
                    Settled::Dead => {}
                    Settled::Open => {
                        self.expand();
                        if self.window.event >= target {
                            return Progress::Paused;
                        }
                    }
                    Settled::Full => {
                        self.guard.end(Limit::Memory);
                        return Progress::Ended;
                    }
                }
            }
            if !self.take_next() {
                return Progress::Invalid;
            }
            if self.nodes >= pause {
                return Progress::Paused;
            }
        }
    }

    /// Asks the model for its [`Lookahead`] although nothing says yet that the search takes a while.
    pub fn look_ahead_at_once(&mut self) {
        self.lookahead = self.model.lookahead(&self.plan.timeline());
        self.is_prepared = true;
    }

    /// Clock, flags and memory.
    fn look(&mut self) -> bool {
        self.next_look = self.nodes + NODES_A_LOOK;
        self.states.look();
        let bytes = self.choices.bytes()
            + (self.taken.capacity() + self.known_until.capacity()) * 4
            + self.states.bytes();
        if bytes > self.reserved_bytes && !self.guard.reserve(bytes - self.reserved_bytes) {
            self.guard.end(Limit::Memory);
        } else {
            self.reserved_bytes = self.reserved_bytes.max(bytes);
        }
        self.guard.go_on()
    }

    /// Takes what can be taken without a choice, then asks whether the configuration is new.
    fn settle(&mut self) -> Settled {
        self.nodes += 1;
        if !self.look_ahead() {
            return Settled::Dead;
        }
        self.observe();
        loop {
            if self.window.event as usize == self.plan.returns.len() {
                return Settled::Done;
            }
            let slot = self.plan.returns[self.window.event as usize].slot;
            if self.mask()[slot as usize / 64] >> (slot % 64) & 1 == 0 {
                break;
            }
            self.config[1 + slot as usize / 64] &= !(1 << (slot % 64));
            self.window.advance(&self.plan);
            if !self.look_ahead() {
                return Settled::Dead;
            }
            self.observe();
        }
        debug_assert!(
            (0..self.plan.mask_words).all(|word| self.mask()[word] & !self.window.occupied[word] == 0),
            "only what is under way counts as taken"
        );
        self.deepest = self.deepest.max(self.window.event);
        self.config[0] = u64::from(self.window.event) << 32 | u64::from(self.state);
        if self.memo.bytes() > MEMO_KEPT_BYTES && self.window.is_quiescent(&self.plan) {
            self.memo.clear();
        }
        match self.memo.insert(&self.config) {
            Seen::Before(steps) => {
                self.nodes += u64::from(steps) / 16;
                Settled::Dead
            }
            Seen::New(steps) => {
                self.nodes += u64::from(steps) / 16;
                Settled::Open
            }
            Seen::Full => Settled::Full,
        }
    }

    /// Takes every pending operation that only observes and can observe this state.
    fn observe(&mut self) {
        for word in 0..self.plan.mask_words {
            let mut open = self.window.observing[word] & !self.mask()[word];
            while open != 0 {
                let bit = open.trailing_zeros();
                open &= open - 1;
                let call = self.window.pending[word * 64 + bit as usize];
                let class = self.plan.calls[call as usize].class;
                if self.next(class) == self.state {
                    self.config[1 + word] |= 1 << bit;
                    self.taken.push(self.plan.calls[call as usize].op);
                }
            }
        }
    }

    /// Asks the model about the new state or event; `false` if there is no hope.
    fn look_ahead(&mut self) -> bool {
        if !self.is_prepared && self.nodes > NODES_WITHOUT_LOOKAHEAD {
            self.look_ahead_at_once();
        }
        let Some(lookahead) = &self.lookahead else { return true };
        let known_until = self.known_until.get(self.state as usize);
        if known_until.is_some_and(|&until| self.window.event < until) {
            return true;
        }
        match lookahead.look(self.states.get(self.state), self.window.event) {
            Outlook::Keep { until } => {
                self.known_until.resize(self.states.len(), 0);
                self.known_until[self.state as usize] = until;
            }
            Outlook::Same(state) => self.state = self.states.number(state),
            Outlook::Hopeless => return false,
        }
        true
    }

    pub(super) fn next(&mut self, class: u32) -> u32 {
        self.states.next(self.state, class, &self.plan.classes, self.plan.ops)
    }

    pub(super) fn mask(&self) -> &[u64] {
        &self.config[1..1 + self.plan.mask_words]
    }

    pub(super) fn used(&self) -> &[u64] {
        &self.config[1 + self.plan.mask_words..]
    }

    pub fn plan(&self) -> &Plan<'a, M> {
        &self.plan
    }

    /// The operations taken on the way to where the search stands.
    pub fn linearization(&self) -> &[u32] {
        &self.taken
    }

    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    pub fn state(&self, number: u32) -> &M::State {
        self.states.get(number)
    }

    /// The furthest event that could not be passed.
    pub fn deepest(&self) -> u32 {
        self.deepest
    }
}

impl<M: Model> Drop for Search<'_, '_, M> {
    fn drop(&mut self) {
        self.guard.release(self.reserved_bytes);
    }
}

enum Settled {
    /// The end was reached.
    Done,
    /// Nothing new can come of it.
    Dead,
    /// To be expanded.
    Open,
    /// No memory is left.
    Full,
}
