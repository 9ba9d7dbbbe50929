//! A register with compare-and-set.

mod origin;
mod special;

use rustc_hash::FxHashMap;

use crate::{
    answer::Answer,
    model::{Lookahead, Model, OpOf, Outlook, Timeline, topic},
    op::{Op, Return},
};

use super::{Value, words};

/// A register that starts with a value; a plain register is one without compare-and-set.
///
/// `info`: a write or compare-and-set may have taken effect, a read says nothing. `fail`: a read or write did not
/// happen; a failed compare-and-set either did not happen (Knossos) or observed another value (Jepsen's etcd logs,
/// [`RegisterOutput::Refused`]), see [`crate::op::FailMeans`]. A read of nothing is a read of the value that stands for
/// nothing; where a history means "unknown" by it (Knossos' `nil`), leave the read out.
#[derive(Clone, Debug)]
pub struct Register<V> {
    /// The value before the first write.
    pub initial: V,
}

/// What is asked of a register.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegisterInput<V> {
    /// Its value.
    Read,
    /// To take a value.
    Write(V),
    /// To take a value if it has another.
    Cas {
        /// The value that it must have.
        from: V,
        /// The one to take.
        to: V,
    },
}

/// What a register answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegisterOutput<V> {
    /// What was read.
    Value(V),
    /// Written, or compared and set.
    Done,
    /// Compared and found different.
    Refused,
}

/// What a register holds: a value, or (`None`) one that no later operation asks about.
pub type RegisterState<V> = Option<V>;

impl<V: Value> Model for Register<V> {
    type State = RegisterState<V>;
    type Input = RegisterInput<V>;
    type Output = RegisterOutput<V>;

    fn initial(&self) -> Option<V> {
        Some(self.initial.clone())
    }

    fn step(
        &self,
        state: &Option<V>,
        input: &RegisterInput<V>,
        output: Option<&RegisterOutput<V>>,
    ) -> Option<Option<V>> {
        match (input, output) {
            (RegisterInput::Read, Some(RegisterOutput::Value(value))) => {
                (state.as_ref() == Some(value)).then(|| state.clone())
            }
            (RegisterInput::Read, None) => Some(state.clone()),
            (RegisterInput::Write(value), None | Some(RegisterOutput::Done)) => Some(Some(value.clone())),
            (RegisterInput::Cas { from, .. }, Some(RegisterOutput::Refused)) => {
                (state.as_ref() != Some(from)).then(|| state.clone())
            }
            (RegisterInput::Cas { from, to }, None | Some(RegisterOutput::Done)) => {
                (state.as_ref() == Some(from)).then(|| Some(to.clone()))
            }
            _ => None,
        }
    }

    fn observes(&self, input: &RegisterInput<V>, output: Option<&RegisterOutput<V>>) -> bool {
        match input {
            RegisterInput::Read => true,
            RegisterInput::Write(_) => false,
            RegisterInput::Cas { from, to } => from == to || output == Some(&RegisterOutput::Refused),
        }
    }

    fn lookahead(&self, timeline: &Timeline<'_, Self>) -> Option<Box<dyn Lookahead<Option<V>> + Send>> {
        let mut asked_until = FxHashMap::default();
        for placed in timeline.returned.iter().chain(&timeline.optional) {
            let asked = match (&placed.op.input, placed.op.output()) {
                (RegisterInput::Read, Some(RegisterOutput::Value(value))) => value,
                (RegisterInput::Cas { from, .. }, _) => from,
                _ => continue,
            };
            let until = asked_until.entry(Some(asked.clone())).or_default();
            *until = placed.until.saturating_add(1).max(*until);
        }
        Some(Box::new(AskedUntil(asked_until)))
    }

    fn shortcut(&self, ops: &[OpOf<Self>]) -> Option<Answer> {
        special::judge(&self.initial, ops).or_else(|| origin::judge(&self.initial, ops))
    }

    fn topics(&self, input: &RegisterInput<V>, output: Option<&RegisterOutput<V>>) -> Vec<u64> {
        match (input, output) {
            (RegisterInput::Read, Some(RegisterOutput::Value(value))) | (RegisterInput::Write(value), _) => {
                vec![topic(value)]
            }
            (RegisterInput::Cas { from, to }, _) => vec![topic(from), topic(to)],
            (RegisterInput::Read, _) => Vec::new(),
        }
    }

    /// Without the writes of some values, what is read between two others' writes stays as it was.
    fn about(&self, op: &OpOf<Self>, kept: &dyn Fn(u64) -> bool) -> Option<OpOf<Self>> {
        let Op { process, call, ref input, ref returned } = *op;
        let kept = |value: &V| kept(topic(value));
        let answered = |input, output| {
            let returned = returned.as_ref().map(|returned| Return { at: returned.at, output });
            Some(Op { process, call, input, returned })
        };
        match (input, op.output()) {
            (RegisterInput::Read, Some(RegisterOutput::Value(value))) | (RegisterInput::Write(value), _) => {
                kept(value).then(|| op.clone())
            }
            // It may have found a value that is left out.
            (RegisterInput::Read, _) | (RegisterInput::Cas { .. }, Some(RegisterOutput::Refused)) => None,
            (RegisterInput::Cas { from, to }, output) => match (kept(from), kept(to)) {
                (true, true) => Some(op.clone()),
                (true, false) if output.is_none() => None,
                (true, false) => answered(RegisterInput::Read, RegisterOutput::Value(from.clone())),
                (false, true) => answered(RegisterInput::Write(to.clone()), RegisterOutput::Done),
                (false, false) => None,
            },
        }
    }

    fn describe(&self, input: &RegisterInput<V>, output: Option<&RegisterOutput<V>>) -> String {
        let asked = match input {
            RegisterInput::Read => "read".to_string(),
            RegisterInput::Write(value) => format!("write {}", words::value(value)),
            RegisterInput::Cas { from, to } => format!("cas {} → {}", words::value(from), words::value(to)),
        };
        match output {
            None if *input == RegisterInput::Read => format!("{asked} → ?"),
            None => format!("{asked}: ?"),
            Some(RegisterOutput::Value(value)) => format!("{asked} → {}", words::value(value)),
            Some(RegisterOutput::Done) => asked,
            Some(RegisterOutput::Refused) => format!("{asked}: refused"),
        }
    }

    fn describe_state(&self, state: &Option<V>) -> String {
        match state {
            Some(value) => words::value(value),
            None => "a value that nobody asks about any more".to_string(),
        }
    }
}

/// After which event nobody asks for a value any more.
struct AskedUntil<V>(FxHashMap<Option<V>, u32>);

impl<V: Value> Lookahead<Option<V>> for AskedUntil<V> {
    fn look(&self, state: &Option<V>, event: u32) -> Outlook<Option<V>> {
        match self.0.get(state) {
            Some(&until) if event < until => Outlook::Keep { until },
            _ if state.is_none() => Outlook::Keep { until: u32::MAX },
            _ => Outlook::Same(None),
        }
    }
}
