//! A search for small parts of a history. It is the search of [`super::search`] with less around it: a configuration is
//! a set of operations and a state, and what was seen is a few short lists.
//!
//! Determinate operations are numbered in order of return, indeterminate ones after them by class. The next return of a configuration is then that of its first operation that was not taken.

use crate::{
    answer::{Configuration, Refutation},
    model::{Lookahead, Model, OpOf, Outlook},
    op::Op,
};

use super::{bits::Bits, layout::Layout};

/// Configurations.
const NODES_MAX: usize = 2048;
/// So many more configurations than events were passed, and the search asks for the model's [`Lookahead`].
const NODES_WITHOUT_LOOKAHEAD: usize = 64;
/// States, at most about; one configuration adds no more than there are operations.
const STATES_MAX: usize = 1024;
/// Bytes of all states, at most about.
const BYTES_MAX: usize = 1 << 20;
/// Lists of configurations, by hash.
const LISTS: usize = 256;
/// The table of states grows by so many more than it must.
const ROWS_AT_ONCE: usize = 7;
const CONFIGURATIONS_MAX: usize = 16;

/// In the table of states: the operation is not possible there, and nobody has asked yet.
pub(super) const ILLEGAL: u16 = u16::MAX;
const UNKNOWN: u16 = u16::MAX - 1;
/// No node.
const NONE: u16 = u16::MAX;

/// Judges a part; `None` if that takes more than a small search.
pub(crate) fn judge<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    part: &[u32],
) -> Option<Result<(), Box<Refutation>>> {
    // Many states that hold memory of their own are better looked up by hash.
    let ops_max = if std::mem::needs_drop::<M::State>() { Bits::<2>::MAX } else { Bits::<4>::MAX };
    match part.len() {
        0 => Some(Ok(())),
        len if len <= Bits::<1>::MAX => Small::<M, 1>::new(model, ops, part).judge(part),
        len if len <= Bits::<2>::MAX => Small::<M, 2>::new(model, ops, part).judge(part),
        len if len <= ops_max => Small::<M, 4>::new(model, ops, part).judge(part),
        _ => None,
    }
}

pub(super) struct Small<'a, M: Model, const W: usize> {
    model: &'a M,
    ops: &'a [OpOf<M>],
    pub(super) layout: Layout<W>,
    states: Vec<M::State>,
    states_bytes: usize,
    /// By state and operation: the state after it.
    next: Vec<u16>,
    /// Once it was asked for, what the model says, and by state what it said holds before this event.
    lookahead: Option<Option<Box<dyn Lookahead<M::State> + Send>>>,
    known_until: Vec<u32>,
    nodes: Vec<Node<W>>,
    /// By hash of state and of what determinate operations were taken: the newest of `nodes`.
    newest: [u16; LISTS],
    frames: Vec<Frame<W>>,
}

/// A configuration that was gone through.
struct Node<const W: usize> {
    taken: Bits<W>,
    state: u16,
    /// Another of the same list.
    older: u16,
}

/// A configuration on the way to the current one.
struct Frame<const W: usize> {
    taken: Bits<W>,
    state: u16,
    /// What can be taken next perhaps.
    untried: Bits<W>,
    tried: Bits<W>,
}

impl<'a, M: Model, const W: usize> Small<'a, M, W> {
    fn new(model: &'a M, ops: &'a [OpOf<M>], part: &[u32]) -> Self {
        let layout = Layout::new(model, ops, part);
        let events = layout.invoked.len();
        let mut search = Small {
            model,
            ops,
            states: Vec::with_capacity(events.min(64) + 1),
            states_bytes: 0,
            next: Vec::with_capacity(layout.ops.len() * (events.min(64) + 1 + ROWS_AT_ONCE)),
            lookahead: None,
            known_until: Vec::new(),
            nodes: Vec::new(),
            newest: [NONE; LISTS],
            frames: Vec::new(),
            layout,
        };
        search.number(model.initial());
        search
    }

    fn judge(&mut self, part: &[u32]) -> Option<Result<(), Box<Refutation>>> {
        match self.run()? {
            true => Some(Ok(())),
            false => Some(Err(Box::new(self.refutation(part)))),
        }
    }

    /// Whether the part is linearizable.
    fn run(&mut self) -> Option<bool> {
        let mut at = Some((Bits::EMPTY, 0));
        while let Some((taken, state)) = at {
            if self.enter(taken, state) {
                return Some(true);
            }
            let (nodes, states) = (self.nodes.len(), self.states.len());
            if nodes >= NODES_MAX || states >= STATES_MAX || self.states_bytes > BYTES_MAX {
                return None;
            }
            at = self.take_next();
        }
        Some(false)
    }

    /// Takes what can be taken without a choice, then makes a frame of the configuration if it is new; `true` at the end.
    fn enter(&mut self, mut taken: Bits<W>, mut state: u16) -> bool {
        let mut observed = Bits::EMPTY;
        loop {
            let event = taken.first_missing();
            if event as usize >= self.layout.invoked.len() {
                return true;
            }
            let Some(same) = self.look_ahead(state, event) else { return false };
            state = same;
            let open = self.layout.invoked[event as usize].minus(taken);
            let observing = open.and(self.layout.observing).minus(observed);
            if !observing.is_empty() {
                observed = observed.or(observing);
                for op in observing.iter() {
                    if self.next(state, op) == state {
                        taken = taken.with(op);
                    }
                }
                continue;
            }
            let untried = open.minus(self.layout.observing);
            match self.only(untried, state) {
                Some((op, next)) => (taken, state, observed) = (taken.with(op), next, Bits::EMPTY),
                None => {
                    if self.is_new(taken, state) && !untried.is_empty() {
                        self.frames.push(Frame { taken, state, untried, tried: Bits::EMPTY });
                    }
                    return false;
                }
            }
        }
    }

    /// What must be taken next for want of another, and the state after it.
    fn only(&mut self, untried: Bits<W>, state: u16) -> Option<(u32, u16)> {
        let op = untried.first().filter(|&op| untried.without(op).is_empty())?;
        let next = self.next(state, op);
        (next != ILLEGAL && self.layout.determinate.has(op)).then_some((op, next))
    }

    /// The state, or one that is the same for all that is to come; `None` if there is no hope.
    #[inline]
    fn look_ahead(&mut self, state: u16, event: u32) -> Option<u16> {
        match &self.lookahead {
            None if self.nodes.len() <= event as usize + NODES_WITHOUT_LOOKAHEAD => return Some(state),
            None => self.lookahead = Some(self.layout.lookahead(self.model, self.ops)),
            Some(_) => {}
        }
        let Some(Some(lookahead)) = &self.lookahead else { return Some(state) };
        if self.known_until.get(state as usize).is_some_and(|&until| event < until) {
            return Some(state);
        }
        match lookahead.look(&self.states[state as usize], event) {
            Outlook::Keep { until } => {
                self.known_until.resize(self.states.len(), 0);
                self.known_until[state as usize] = until;
            }
            Outlook::Same(same) => return Some(self.number(same)),
            Outlook::Hopeless => return None,
        }
        Some(state)
    }

    /// Whether no configuration was seen that could do all that this one can.
    fn is_new(&mut self, taken: Bits<W>, state: u16) -> bool {
        let determinate = self.layout.determinate;
        let hash = taken.and(determinate).mixed() ^ u64::from(state).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let newest = &mut self.newest[(hash >> 32) as usize % LISTS];
        let mut node = *newest;
        while node != NONE {
            let seen = &self.nodes[node as usize];
            let can_do_more =
                || seen.taken.minus(taken).is_empty() && taken.minus(seen.taken).and(determinate).is_empty();
            if seen.state == state && can_do_more() {
                return false;
            }
            node = seen.older;
        }
        let older = std::mem::replace(newest, self.nodes.len() as u16);
        if self.nodes.is_empty() {
            // A history without a choice needs neither.
            self.nodes.reserve(self.layout.invoked.len());
            self.frames.reserve(self.layout.invoked.len());
        }
        self.nodes.push(Node { taken, state, older });
        true
    }

    /// The next choice that makes a difference, back from where there is none.
    fn take_next(&mut self) -> Option<(Bits<W>, u16)> {
        loop {
            let frame = self.frames.last_mut()?;
            let (taken, state, untried, tried) = (frame.taken, frame.state, frame.untried, frame.tried);
            let Some(first) = untried.first() else {
                self.frames.pop();
                continue;
            };
            let promising =
                if tried.is_empty() { self.promising(taken, state, untried) } else { Some(first) };
            let Some(op) = promising else {
                self.frames.pop();
                continue;
            };
            self.frames.last_mut()?.untried = untried.without(op);
            let next = self.next(state, op);
            let is_idle = next == state && !self.layout.determinate.has(op);
            if next == ILLEGAL || is_idle || self.has_twin(op, next, state, tried) {
                continue;
            }
            self.frames.last_mut()?.tried = tried.with(op);
            return Some((taken.with(op), next));
        }
    }

    /// Whether one that was tried in its place does as well: it returns earlier, or was invoked earlier if both may not
    /// have happened.
    fn has_twin(&self, op: u32, next: u16, state: u16, tried: Bits<W>) -> bool {
        tried.iter().any(|other| {
            self.next[self.at(state, other)] == next && {
                let (other, own) = (self.op(other), self.op(op));
                other.input == own.input && (own.is_info() || other.output() == own.output())
            }
        })
    }

    #[inline]
    pub(super) fn next(&mut self, state: u16, op: u32) -> u16 {
        match self.next[self.at(state, op)] {
            UNKNOWN => self.step(state, op),
            next => next,
        }
    }

    #[inline]
    fn at(&self, state: u16, op: u32) -> usize {
        state as usize * self.layout.ops.len() + op as usize
    }

    #[inline(never)]
    fn step(&mut self, state: u16, op: u32) -> u16 {
        let Op { input, returned, .. } = self.op(op);
        let output = returned.as_ref().map(|returned| &returned.output);
        let known = &self.states[state as usize];
        let next = if !self.layout.observing.has(op) {
            self.model.step(known, input, output).map_or(ILLEGAL, |next| self.number(next))
        } else if self.model.permits(known, input, output) {
            state
        } else {
            ILLEGAL
        };
        let at = self.at(state, op);
        self.next[at] = next;
        next
    }

    fn number(&mut self, state: M::State) -> u16 {
        if let Some(number) = self.states.iter().rposition(|known| *known == state) {
            return number as u16;
        }
        self.states_bytes += self.model.state_bytes(&state);
        self.states.push(state);
        let (rows, row) = (self.states.len(), self.layout.ops.len());
        if self.next.len() < rows * row {
            self.next.resize((rows + ROWS_AT_ONCE) * row, UNKNOWN);
        }
        (rows - 1) as u16
    }

    fn op(&self, number: u32) -> &'a OpOf<M> {
        &self.ops[self.layout.ops[number as usize].1 as usize]
    }

    /// Of the event that no configuration got past.
    fn refutation(&self, part: &[u32]) -> Refutation {
        let deepest = self.nodes.iter().map(|node| node.taken.first_missing()).max().unwrap_or(0);
        let determinate = self.layout.determinate;
        let positions = |set: Bits<W>| set.iter().map(|op| self.layout.ops[op as usize].1).collect();
        let at_deepest = self.nodes.iter().filter(|node| node.taken.first_missing() == deepest);
        let configurations = at_deepest.take(CONFIGURATIONS_MAX).map(|node| Configuration {
            state: self.model.describe_state(&self.states[node.state as usize]),
            taken: positions((0..deepest).fold(node.taken.and(determinate), Bits::without)),
            used: positions(node.taken.minus(determinate)),
        });
        Refutation {
            op: self.layout.ops[deepest as usize].1,
            part: part.to_vec(),
            placed: deepest,
            of: self.layout.invoked.len() as u32,
            configurations: configurations.collect(),
            nodes: self.nodes.len() as u64,
            ..Refutation::default()
        }
    }
}
