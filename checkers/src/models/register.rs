//! A register with compare-and-set.

use rustc_hash::FxHashMap;

use crate::{
    engine::Answer,
    model::{Lookahead, Model, OpOf, Outlook, Timeline},
    special,
};

use super::Value;

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
        let returned = timeline.returned.iter().zip(1..);
        let optional = timeline.optional.iter().map(|placed| (placed, u32::MAX));
        for (placed, until) in returned.chain(optional) {
            let asked = match (&placed.op.input, placed.op.output()) {
                (RegisterInput::Read, Some(RegisterOutput::Value(value))) => value,
                (RegisterInput::Cas { from, .. }, _) => from,
                _ => continue,
            };
            asked_until.insert(Some(asked.clone()), until);
        }
        Some(Box::new(AskedUntil(asked_until)))
    }

    fn shortcut(&self, ops: &[OpOf<Self>]) -> Option<Answer> {
        special::register::judge(&self.initial, ops)
    }

    fn describe(&self, input: &RegisterInput<V>, output: Option<&RegisterOutput<V>>) -> String {
        let asked = match input {
            RegisterInput::Read => "read".to_string(),
            RegisterInput::Write(value) => format!("write({value:?})"),
            RegisterInput::Cas { from, to } => format!("cas({from:?}, {to:?})"),
        };
        match output {
            None => format!("{asked} → ?"),
            Some(RegisterOutput::Value(value)) => format!("{asked} → {value:?}"),
            Some(RegisterOutput::Done) => asked,
            Some(RegisterOutput::Refused) => format!("{asked} → refused"),
        }
    }

    fn describe_state(&self, state: &Option<V>) -> String {
        match state {
            Some(value) => format!("{value:?}"),
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
