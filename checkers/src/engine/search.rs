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

use crate::{
    limits::{Guard, Limit},
    model::{Lookahead, Model, OpOf, Outlook},
};

use super::{
    memo::{Memo, Seen},
    plan::{Place, Plan},
    states::{ILLEGAL, States},
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
/// Up to so many nodes a search does without the model's [`Lookahead`].
const NODES_WITHOUT_LOOKAHEAD: u64 = 64;
/// At a quiescent point a memo larger than this is forgotten.
const MEMO_KEPT_BYTES: usize = 64 << 20;
/// In a choice: the rest of the number is a spare, not a call.
const OPTIONAL: u32 = 1 << 31;
const EMPTY: u32 = u32::MAX;

pub(super) struct Search<'a, 'g, M: Model> {
    plan: Plan<'a, M>,
    states: States<'a, M>,
    memo: Memo<'g>,
    guard: &'g Guard,
    model: &'a M,
    lookahead: Option<Box<dyn Lookahead<M::State> + Send>>,
    /// Whether the model was asked for one: only once a search has proved to take a while.
    is_prepared: bool,
    /// By state: what [`Lookahead`] said holds before this event.
    known_until: Vec<u32>,

    event: u32,
    state: u32,
    /// Room for event and state, then the mask, then the counts of used optional operations.
    config: Vec<u64>,
    /// By slot: the pending call.
    pending: Vec<u32>,
    /// Slots that are occupied, and those whose operation only observes.
    occupied: Vec<u64>,
    observing: Vec<u64>,
    /// By spare: how many were invoked.
    invoked: Vec<u32>,
    /// Whether the current configuration must still be settled and expanded.
    fresh: bool,

    frames: Vec<Frame>,
    /// Mask and used counts of each frame.
    saved: Vec<u64>,
    choices: Vec<u32>,
    /// Operations taken, in order.
    taken: Vec<u32>,
    candidates: Vec<(u32, u32, u32)>,

    nodes: u64,
    next_look: u64,
    deepest: u32,
    reserved_bytes: usize,
}

struct Frame {
    event: u32,
    state: u32,
    choice: u32,
    taken: u32,
}

impl<'a, 'g, M: Model> Search<'a, 'g, M> {
    pub fn new(model: &'a M, ops: &'a [OpOf<M>], part: &[u32], guard: &'g Guard) -> Search<'a, 'g, M> {
        let plan = Plan::new(model, ops, part);
        let mut states = States::new(model, plan.classes.len());
        let state = states.number(model.initial());
        let mut search = Search {
            memo: Memo::new(guard, plan.mask_words, plan.guards()),
            model,
            lookahead: None,
            is_prepared: false,
            known_until: Vec::new(),
            event: 0,
            state,
            config: vec![0; 1 + plan.mask_words + plan.used_words],
            pending: vec![EMPTY; plan.mask_words * 64],
            occupied: vec![0; plan.mask_words],
            observing: vec![0; plan.mask_words],
            invoked: vec![0; plan.spares.len()],
            fresh: true,
            frames: Vec::new(),
            saved: Vec::new(),
            choices: Vec::new(),
            taken: Vec::new(),
            candidates: Vec::new(),
            nodes: 0,
            next_look: NODES_A_LOOK,
            deepest: 0,
            reserved_bytes: 0,
            guard,
            plan,
            states,
        };
        search.enter(0..search.plan.calls_before(0));
        search
    }

    /// Goes on for about `budget` nodes, or until some frame reaches event `target`.
    pub fn run(&mut self, budget: u64, target: u32) -> Progress {
        let pause = self.nodes.saturating_add(budget);
        loop {
            if self.nodes >= self.next_look && !self.look() {
                return Progress::Ended;
            }
            if self.fresh {
                self.fresh = false;
                match self.settle() {
                    Settled::Done => return Progress::Valid,
                    Settled::Dead => {}
                    Settled::Open => {
                        self.expand();
                        if self.event >= target {
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

    /// Clock, flags and memory.
    fn look(&mut self) -> bool {
        self.next_look = self.nodes + NODES_A_LOOK;
        let bytes = self.saved.capacity() * 8
            + (self.choices.capacity() + self.taken.capacity() + self.known_until.capacity()) * 4
            + self.frames.capacity() * size_of::<Frame>()
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
            if self.event as usize == self.plan.returns.len() {
                return Settled::Done;
            }
            let slot = self.plan.returns[self.event as usize].slot;
            if self.mask()[slot as usize / 64] >> (slot % 64) & 1 == 0 {
                break;
            }
            self.config[1 + slot as usize / 64] &= !(1 << (slot % 64));
            self.advance();
            if !self.look_ahead() {
                return Settled::Dead;
            }
            self.observe();
        }
        self.deepest = self.deepest.max(self.event);
        self.config[0] = u64::from(self.event) << 32 | u64::from(self.state);
        if self.memo.bytes() > MEMO_KEPT_BYTES && self.is_quiescent() {
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
            let mut open = self.observing[word] & !self.mask()[word];
            while open != 0 {
                let bit = open.trailing_zeros();
                open &= open - 1;
                let call = self.pending[word * 64 + bit as usize];
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
            self.lookahead = self.model.lookahead(&self.plan.timeline());
            self.is_prepared = true;
        }
        let Some(lookahead) = &self.lookahead else { return true };
        self.known_until.resize(self.states.len(), 0);
        if self.event < self.known_until[self.state as usize] {
            return true;
        }
        match lookahead.look(self.states.get(self.state), self.event) {
            Outlook::Keep { until } => self.known_until[self.state as usize] = until,
            Outlook::Same(state) => self.state = self.states.number(state),
            Outlook::Hopeless => return false,
        }
        true
    }

    /// Pushes a frame with everything that can be taken next: required operations by deadline, then optional ones.
    fn expand(&mut self) {
        let first = self.choices.len() as u32;
        self.require();
        self.choose();
        if self.choices.len() as u32 == first {
            return;
        }
        self.choices[first as usize..].reverse();
        self.frames.push(Frame {
            event: self.event,
            state: self.state,
            choice: first,
            taken: self.taken.len() as u32,
        });
        self.saved.extend_from_slice(&self.config[1..]);
    }

    fn require(&mut self) {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for word in 0..self.plan.mask_words {
            let mut open = self.occupied[word] & !self.mask()[word];
            while open != 0 {
                let slot = word * 64 + open.trailing_zeros() as usize;
                open &= open - 1;
                let call = self.pending[slot];
                let class = self.plan.calls[call as usize].class;
                if self.next(class) == ILLEGAL {
                    continue;
                }
                let Place::Required { deadline, .. } = self.plan.calls[call as usize].place else { continue };
                match candidates.iter_mut().find(|(_, _, other)| *other == class) {
                    Some(twin) if twin.0 > deadline => *twin = (deadline, call, class),
                    Some(_) => {}
                    None => candidates.push((deadline, call, class)),
                }
            }
        }
        candidates.sort_unstable();
        self.choices.extend(candidates.iter().map(|&(_, call, _)| call));
        self.candidates = candidates;
    }

    /// Adds the optional operations; `candidates` still holds the required ones.
    fn choose(&mut self) {
        for spare in 0..self.plan.spares.len() {
            let field = self.plan.spares[spare].field;
            if field.get(self.used()) >= self.invoked[spare] as usize {
                continue;
            }
            let class = self.plan.spares[spare].class;
            let next = self.next(class);
            if next == ILLEGAL || next == self.state {
                continue;
            }
            let input = self.plan.classes[class as usize].input;
            let has_twin = (0..self.candidates.len()).any(|twin| {
                let class = self.candidates[twin].2;
                self.plan.classes[class as usize].input == input && self.next(class) == next
            });
            if !has_twin {
                self.choices.push(OPTIONAL | spare as u32);
            }
        }
    }

    /// Goes to the next untried choice, back from where there is none; `false` if none is left at all.
    fn take_next(&mut self) -> bool {
        while let Some(frame) = self.frames.last() {
            let (event, state, first, taken) = (frame.event, frame.state, frame.choice, frame.taken);
            let words = self.config.len() - 1;
            if self.choices.len() as u32 == first {
                self.frames.pop();
                self.saved.truncate(self.saved.len() - words);
                continue;
            }
            let choice = self.choices.pop().expect("a choice is left");
            self.retreat(event);
            self.state = state;
            self.taken.truncate(taken as usize);
            let start = self.saved.len() - words;
            self.config[1..].copy_from_slice(&self.saved[start..]);
            self.take(choice);
            return true;
        }
        false
    }

    fn take(&mut self, choice: u32) {
        let class = if choice & OPTIONAL != 0 {
            let spare = &self.plan.spares[(choice & !OPTIONAL) as usize];
            let count = spare.field.get(self.used());
            self.taken.push(spare.ops[count]);
            spare.field.increment(&mut self.config[1 + self.plan.mask_words..]);
            spare.class
        } else {
            let call = &self.plan.calls[choice as usize];
            if let Place::Required { slot, .. } = call.place {
                self.config[1 + slot as usize / 64] |= 1 << (slot % 64);
            }
            self.taken.push(call.op);
            call.class
        };
        self.state = self.next(class);
        self.fresh = true;
    }

    /// Passes the return at the current event, and the invocations up to the next.
    fn advance(&mut self) {
        let slot = self.plan.returns[self.event as usize].slot as usize;
        self.pending[slot] = EMPTY;
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        self.observing[slot / 64] &= !(1 << (slot % 64));
        let from = self.plan.calls_before(self.event);
        self.event += 1;
        self.enter(from..self.plan.calls_before(self.event));
    }

    fn enter(&mut self, calls: std::ops::Range<usize>) {
        for call in calls {
            let calling = &self.plan.calls[call];
            match calling.place {
                Place::Required { slot, .. } => self.occupy(slot as usize, call as u32),
                Place::Optional { spare } => self.invoked[spare as usize] += 1,
            }
        }
    }

    fn occupy(&mut self, slot: usize, call: u32) {
        self.pending[slot] = call;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        if self.plan.classes[self.plan.calls[call as usize].class as usize].observes {
            self.observing[slot / 64] |= 1 << (slot % 64);
        }
    }

    /// Undoes [`Search::advance`] back to `event`.
    fn retreat(&mut self, event: u32) {
        while self.event > event {
            let before = self.plan.calls_before(self.event);
            self.event -= 1;
            for call in self.plan.calls_before(self.event)..before {
                match self.plan.calls[call].place {
                    Place::Required { slot, .. } => {
                        let slot = slot as usize;
                        self.pending[slot] = EMPTY;
                        self.occupied[slot / 64] &= !(1 << (slot % 64));
                        self.observing[slot / 64] &= !(1 << (slot % 64));
                    }
                    Place::Optional { spare } => self.invoked[spare as usize] -= 1,
                }
            }
            let returning = &self.plan.returns[self.event as usize];
            self.occupy(returning.slot as usize, returning.call);
        }
    }

    fn next(&mut self, class: u32) -> u32 {
        self.states.next(self.state, class, &self.plan.classes, self.plan.ops)
    }

    fn mask(&self) -> &[u64] {
        &self.config[1..1 + self.plan.mask_words]
    }

    fn used(&self) -> &[u64] {
        &self.config[1 + self.plan.mask_words..]
    }

    /// Whether the returning operation was invoked after everything before it had returned, and nothing indeterminate
    /// is about.
    fn is_quiescent(&self) -> bool {
        let newest = match self.event {
            0 => 0,
            event => self.plan.calls_before(event - 1),
        };
        let occupied: u32 = self.occupied.iter().map(|word| word.count_ones()).sum();
        occupied as usize == self.plan.calls_before(self.event) - newest
            && self.invoked.iter().all(|&count| count == 0)
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

    /// The furthest event that could not be passed.
    pub fn deepest(&self) -> u32 {
        self.deepest
    }
}

/// A remembered configuration, for people.
pub(super) struct Snapshot {
    /// State number's text is up to the model.
    pub state: u32,
    /// Pending operations already taken.
    pub taken: Vec<u32>,
    /// Indeterminate operations taken.
    pub used: Vec<u32>,
}

impl<M: Model> Search<'_, '_, M> {
    /// Up to `count_max` configurations at the furthest event.
    pub fn snapshots(&mut self, count_max: usize) -> Vec<Snapshot> {
        self.retreat(0);
        while self.event < self.deepest {
            self.advance();
        }
        let entries: Vec<&[u64]> = self.memo.entries_at(self.deepest).take(count_max).collect();
        entries.into_iter().map(|config| self.snapshot(config)).collect()
    }

    fn snapshot(&self, config: &[u64]) -> Snapshot {
        let is_taken = |slot: usize| config[1 + slot / 64] >> (slot % 64) & 1 == 1;
        let used = &config[1 + self.plan.mask_words..];
        Snapshot {
            state: config[0] as u32,
            taken: (0..self.pending.len())
                .filter(|&slot| self.pending[slot] != EMPTY && is_taken(slot))
                .map(|slot| self.plan.calls[self.pending[slot] as usize].op)
                .collect(),
            used: self
                .plan
                .spares
                .iter()
                .flat_map(|spare| spare.ops[..spare.field.get(used)].iter().copied())
                .collect(),
        }
    }

    pub fn state(&self, number: u32) -> &M::State {
        self.states.get(number)
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
