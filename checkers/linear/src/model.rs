//! What a model is: a sequential specification that histories are judged against.

use std::{
    fmt::Debug,
    hash::{BuildHasher, Hash},
};

use crate::{answer::Answer, op::Op};

/// A sequential specification with one successor a step.
///
/// The state belongs to one part of the history where [`Model::partition`] splits it (by key, by lock, by element).
///
/// # A model of one's own
///
/// A ticket machine hands out 1, 2, 3, …; a client whose request timed out may or may not have drawn a ticket.
///
/// ```
/// use linear::{engine::{self, Answer}, limits::Limits, model::Model, op::Op};
///
/// struct Tickets;
///
/// impl Model for Tickets {
///     type State = u64;
///     type Input = ();
///     type Output = u64;
///
///     fn initial(&self) -> u64 {
///         0
///     }
///
///     fn step(&self, last: &u64, _draw: &(), ticket: Option<&u64>) -> Option<u64> {
///         let next = last + 1;
///         ticket.is_none_or(|ticket| *ticket == next).then_some(next)
///     }
/// }
///
/// // Ticket 2 was drawn and returned before ticket 1 was asked for.
/// let wrong = [Op::ok(0, 0, 1, (), 2), Op::ok(1, 2, 3, (), 1)];
/// assert!(matches!(engine::check(&Tickets, &wrong, &Limits::default()), Answer::Invalid(_)));
///
/// // With an indeterminate draw before, 2 and 3 are fine: the first ticket went astray.
/// let right = [Op::info(0, 0, ()), Op::ok(1, 1, 2, (), 2), Op::ok(1, 3, 4, (), 3)];
/// assert!(matches!(engine::check(&Tickets, &right, &Limits::default()), Answer::Valid(_)));
/// ```
pub trait Model: Sync {
    /// What the service remembers.
    type State: Clone + Eq + Hash + Debug + Send + 'static;
    /// What is asked of it.
    type Input: Clone + Eq + Hash + Debug + Sync;
    /// What it answers.
    type Output: Clone + Eq + Hash + Debug + Sync;

    /// Before the first operation.
    fn initial(&self) -> Self::State;

    /// The state after `input` was answered with `output`, or `None` if `state` cannot answer so.
    ///
    /// Without an output (indeterminate operations) any answer will do. If `Some(output)` leads to another state, then
    /// `None` must lead to the same one; an operation that can do nothing here may answer `None` or the state as it is.
    fn step(
        &self,
        state: &Self::State,
        input: &Self::Input,
        output: Option<&Self::Output>,
    ) -> Option<Self::State>;

    /// Whether this operation never changes a state in which it is possible: a read, a failed compare-and-set.
    /// The search takes such an operation as soon as it can. `false` is always right.
    fn observes(&self, _input: &Self::Input, _output: Option<&Self::Output>) -> bool {
        false
    }

    /// Whether there is a [`step`](Model::step): of an operation that only observes, this is all that matters, and costs
    /// less where a state is not cheaply copied.
    fn permits(&self, state: &Self::State, input: &Self::Input, output: Option<&Self::Output>) -> bool {
        self.step(state, input, output).is_some()
    }

    /// Positions in `ops` that can be judged apart, each part with a state of its own.
    fn partition(&self, ops: &[OpOf<Self>]) -> Vec<Vec<u32>> {
        vec![(0..ops.len() as u32).collect()]
    }

    /// Whether [`partition`](Model::partition) may split: models that hold others of this kind must copy the operations to
    /// ask it. `false` is always right.
    fn splits(&self) -> bool {
        false
    }

    /// What can be known about a part's future before its search begins.
    fn lookahead(&self, _timeline: &Timeline<'_, Self>) -> Option<Box<dyn Lookahead<Self::State> + Send>> {
        None
    }

    /// Bytes that a remembered state takes, for the memory limit.
    fn state_bytes(&self, _state: &Self::State) -> usize {
        size_of::<Self::State>()
    }

    /// A faster verdict than the search's, where these operations permit one. See [`crate::special`].
    fn shortcut(&self, _ops: &[OpOf<Self>]) -> Option<Answer> {
        None
    }

    /// The [`shortcut`](Model::shortcut) of a part, in positions of the part.
    fn shortcut_of(&self, ops: &[OpOf<Self>], part: &[u32]) -> Option<Answer> {
        if part.len() == ops.len() && part.is_sorted() {
            return self.shortcut(ops);
        }
        let own: Vec<OpOf<Self>> = part.iter().map(|&op| ops[op as usize].clone()).collect();
        self.shortcut(&own)
    }

    /// Whether [`shortcut`](Model::shortcut) judges most histories in one sweep, which costs less than anything that could
    /// be tried before it. `false` is always right.
    fn sweeps(&self) -> bool {
        false
    }

    /// What an operation is about, each as a number ([`topic`]): elements, registers, owners, values. A history that is
    /// linearizable must stay so when it is looked at as to some topics only, with [`Model::about`]; explanations leave
    /// out what does not matter in this way. An operation without topics, as by default, is never left out.
    fn topics(&self, _input: &Self::Input, _output: Option<&Self::Output>) -> Vec<u64> {
        Vec::new()
    }

    /// The operation as to the topics that are kept; `None` if it says nothing of them. Only asked where some topics
    /// are left out, so what hangs on all of them (a refusal for want of permits) says nothing.
    fn about(&self, op: &OpOf<Self>, _kept: &dyn Fn(u64) -> bool) -> Option<OpOf<Self>> {
        Some(op.clone())
    }

    /// Why the operation at this position cannot have answered as it did, where words say that better than all the
    /// operations which they are made of; for people, and only where it is certain. With the positions of those that are
    /// worth showing.
    fn argue(&self, _ops: &[OpOf<Self>], _op: u32) -> Option<(String, Vec<u32>)> {
        None
    }

    /// What makes the part of the history hard in which the operation at this position is, and what would make it easy;
    /// in sentences, for people whose search reached a limit.
    fn hardness(&self, _ops: &[OpOf<Self>], _op: u32) -> Option<String> {
        None
    }

    /// An operation in words.
    fn describe(&self, input: &Self::Input, output: Option<&Self::Output>) -> String {
        match output {
            Some(output) => format!("{input:?} → {output:?}"),
            None => format!("{input:?} → ?"),
        }
    }

    /// A state in words.
    fn describe_state(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }
}

/// A number for what an operation is about. Different things may get one number: they are then kept or left out together.
pub fn topic(of: &impl Hash) -> u64 {
    rustc_hash::FxBuildHasher.hash_one(of)
}

/// The operations of a model.
pub type OpOf<M> = Op<<M as Model>::Input, <M as Model>::Output>;

/// A part of a history, as [`Model::lookahead`] sees it. Only returns of determinate operations count as time: the
/// *event* `e` is the return of `returned[e]`.
pub struct Timeline<'a, M: Model + ?Sized> {
    /// Determinate operations in order of return.
    pub returned: Vec<Placed<'a, M>>,
    /// Operations that may not have happened, in order of invocation.
    pub optional: Vec<Placed<'a, M>>,
}

/// An operation and where it begins.
pub struct Placed<'a, M: Model + ?Sized> {
    /// The operation.
    pub op: &'a OpOf<M>,
    /// The first event after its invocation.
    pub since: u32,
    /// The event after which it can no longer happen; `u32::MAX` for an indeterminate one.
    pub until: u32,
}

/// Judges states by what is still to come.
///
/// # A look ahead of one's own
///
/// A height that only grows: it is hopeless once it is above what an operation reads that was not even invoked yet.
///
/// ```
/// use linear::{
///     engine::{self, Answer},
///     limits::Limits,
///     model::{Lookahead, Model, Outlook, Timeline},
///     op::Op,
/// };
///
/// struct Height;
///
/// /// By event: the lowest height that is read by an operation invoked there or later.
/// struct Lowest(Vec<u64>);
///
/// impl Model for Height {
///     type State = u64;
///     /// To grow by so much; 0 only reads.
///     type Input = u64;
///     type Output = u64;
///
///     fn initial(&self) -> u64 {
///         0
///     }
///
///     fn step(&self, height: &u64, more: &u64, read: Option<&u64>) -> Option<u64> {
///         let next = height + more;
///         read.is_none_or(|read| *read == next).then_some(next)
///     }
///
///     fn lookahead(&self, timeline: &Timeline<'_, Self>) -> Option<Box<dyn Lookahead<u64> + Send>> {
///         let mut lowest = vec![u64::MAX; timeline.returned.len() + 1];
///         for placed in &timeline.returned {
///             let at = &mut lowest[placed.since as usize];
///             *at = placed.op.output().map_or(*at, |read| *read.min(at));
///         }
///         for event in (0..timeline.returned.len()).rev() {
///             lowest[event] = lowest[event].min(lowest[event + 1]);
///         }
///         Some(Box::new(Lowest(lowest)))
///     }
/// }
///
/// impl Lookahead<u64> for Lowest {
///     fn look(&self, height: &u64, event: u32) -> Outlook<u64> {
///         // Those that are under way may have read before it grew.
///         match *height > self.0[(event as usize + 1).min(self.0.len() - 1)] {
///             true => Outlook::Hopeless,
///             false => Outlook::Keep { until: event + 1 },
///         }
///     }
/// }
///
/// // Of a hundred that may have made it grow, exactly seven did.
/// let mut ops: Vec<_> = (0..100).map(|process| Op::info(process, 0, 1)).collect();
/// ops.push(Op::ok(100, 1, 2, 0, 7));
/// assert!(matches!(engine::check(&Height, &ops, &Limits::default()), Answer::Valid(_)));
/// ```
pub trait Lookahead<S> {
    /// What becomes of `state` when `event` is the next return.
    fn look(&self, state: &S, event: u32) -> Outlook<S>;
}

/// What [`Lookahead::look`] found.
pub enum Outlook<S> {
    /// Nothing changes as long as the next event is before `until`.
    Keep {
        /// An event; `u32::MAX` for ever.
        until: u32,
    },
    /// No operation from here on can tell the state from this one, which is kept for good.
    Same(S),
    /// The next returns cannot be reached from this state.
    Hopeless,
}
