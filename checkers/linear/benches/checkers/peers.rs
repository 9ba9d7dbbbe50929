//! The same histories for the published checkers `porcupine-rs` and `todc-utils`.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Debug,
    hash::Hash,
};

use linear::{
    model::{Model as _, OpOf},
    models::{
        KeyValue, Lock, MultiRegister,
        keyed::At,
        lock::{LockInput, LockOutput, LockState},
        multi_register::Micro,
        register::{RegisterInput, RegisterOutput},
        text::{TextInput, TextOutput},
    },
};
use porcupine_rs::{Event, EventModel, Model};
use todc_utils::{
    linearizability::history::{Action, History},
    specifications::{
        Specification,
        etcd::{EtcdOperation, EtcdStatus},
    },
};

use crate::vectors::{MultiRegisters, Registers};

type Value = Option<i64>;
type Input = RegisterInput<Value>;
/// `None`: indeterminate.
type Output = Option<RegisterOutput<Value>>;

#[derive(Clone, Copy)]
pub struct PeerRegister;

impl Model for PeerRegister {
    type State = Value;
    type Op = (Input, Output);
    type Metadata = ();

    fn init() -> Value {
        None
    }

    fn step(state: &Value, (input, output): &(Input, Output)) -> (bool, Value) {
        match (input, output) {
            (Input::Read, Some(RegisterOutput::Value(value))) => (state == value, *state),
            (Input::Read, _) => (true, *state),
            (Input::Write(value), _) => (true, *value),
            (Input::Cas { from, to }, output) => {
                let is_set = state == from;
                let fits = output.as_ref().is_none_or(|output| is_set == (*output == RegisterOutput::Done));
                (fits, if is_set { *to } else { *state })
            }
        }
    }
}

impl EventModel for PeerRegister {
    type Input = Input;
    type Output = Output;

    fn combine(input: &Input, output: &Output) -> (Input, Output) {
        (input.clone(), output.clone())
    }
}

#[derive(Clone, Copy)]
pub struct PeerText;

impl Model for PeerText {
    type State = String;
    type Op = (TextInput, Option<TextOutput>);
    type Metadata = ();

    fn init() -> String {
        String::new()
    }

    fn step(state: &String, (input, output): &Self::Op) -> (bool, String) {
        match (input, output) {
            (TextInput::Get, Some(TextOutput::Text(text))) => (state == text, state.clone()),
            (TextInput::Get, _) => (true, state.clone()),
            (TextInput::Put(text), _) => (true, text.clone()),
            (TextInput::Append(text), _) => (true, state.clone() + text),
        }
    }
}

impl EventModel for PeerText {
    type Input = At<String, TextInput>;
    type Output = Option<TextOutput>;

    fn partition_events(history: &[Event<Self>]) -> Vec<Vec<Event<Self>>> {
        let mut parts: HashMap<String, Vec<Event<Self>>> = HashMap::new();
        let mut key_of = HashMap::new();
        for event in history {
            let key = match event {
                Event::Call { value, id, .. } => key_of.entry(*id).or_insert(&value.key),
                Event::Return { id, .. } => {
                    key_of.entry(*id).or_insert_with(|| unreachable!("calls come first"))
                }
            };
            parts.entry(key.to_string()).or_default().push(event.clone());
        }
        parts.into_values().collect()
    }

    fn combine(at: &Self::Input, output: &Option<TextOutput>) -> Self::Op {
        (at.input.clone(), output.clone())
    }
}

/// One of our own models, step by step as it is.
pub trait Provider: Clone + Send + Sync + Debug + 'static {
    type State: Clone + Eq + Hash + Debug + Send + Sync;
    type Input: Clone + Eq + Hash + Debug + Send + Sync;
    type Output: Clone + Eq + Hash + Debug + Send + Sync;
    type M: linear::model::Model<State = Self::State, Input = Self::Input, Output = Self::Output>;
    fn model() -> Self::M;
}

#[derive(Clone, Debug)]
pub struct Peer<P>(std::marker::PhantomData<P>);

impl<P: Provider> Model for Peer<P> {
    type State = P::State;
    type Op = (P::Input, Option<P::Output>);
    type Metadata = ();

    fn init() -> Self::State {
        P::model().initial()
    }

    fn step(state: &Self::State, (input, output): &Self::Op) -> (bool, Self::State) {
        match P::model().step(state, input, output.as_ref()) {
            Some(next) => (true, next),
            None => (output.is_none(), state.clone()),
        }
    }
}

impl<P: Provider> EventModel for Peer<P> {
    type Input = P::Input;
    type Output = Option<P::Output>;

    fn combine(input: &Self::Input, output: &Self::Output) -> Self::Op {
        (input.clone(), output.clone())
    }
}

pub fn porcupine<P: Provider>(ops: &[OpOf<P::M>]) -> Vec<Event<Peer<P>>> {
    let event = |(_, is_return, id): (u64, bool, usize)| match is_return {
        false => Event::Call { client_id: None, value: ops[id].input.clone(), id, metadata: None },
        true => Event::Return { client_id: None, value: ops[id].output().cloned(), id, metadata: None },
    };
    in_order(ops).into_iter().map(event).collect()
}

#[derive(Clone, Debug)]
pub struct Mutex;

impl Provider for Mutex {
    type State = LockState;
    type Input = LockInput;
    type Output = LockOutput;
    type M = Lock;

    fn model() -> Lock {
        Lock::ANONYMOUS
    }
}

#[derive(Clone, Debug)]
pub struct FencedMutex;

impl Provider for FencedMutex {
    type State = LockState;
    type Input = LockInput;
    type Output = LockOutput;
    type M = Lock;

    fn model() -> Lock {
        Lock::FENCED
    }
}

#[derive(Clone, Debug)]
pub struct TwoRegisters;

impl Provider for TwoRegisters {
    type State = BTreeMap<String, i64>;
    type Input = Vec<Micro<String, i64>>;
    type Output = Vec<Option<i64>>;
    type M = MultiRegisters;

    fn model() -> MultiRegisters {
        MultiRegister::new(["x", "y"].map(|key| (key.to_string(), 0)).into())
    }
}

pub struct TodcText;

impl Specification for TodcText {
    type State = String;
    type Operation = <PeerText as Model>::Op;

    fn init() -> String {
        String::new()
    }

    fn apply(operation: &Self::Operation, state: &String) -> (bool, String) {
        PeerText::step(state, operation)
    }
}

/// Events in order of time; as Porcupine wants it, indeterminate operations return at the end.
fn in_order<I, O>(ops: &[linear::op::Op<I, O>]) -> Vec<(u64, bool, usize)> {
    let mut events: Vec<(u64, bool, usize)> = ops
        .iter()
        .enumerate()
        .flat_map(|(id, op)| [(op.call, false, id), (op.deadline(), true, id)])
        .collect();
    events.sort_unstable();
    events
}

pub fn porcupine_register(ops: &[OpOf<Registers>]) -> Vec<Event<PeerRegister>> {
    let event = |(_, is_return, id): (u64, bool, usize)| match is_return {
        false => Event::Call { client_id: None, value: ops[id].input.clone(), id, metadata: None },
        true => Event::Return { client_id: None, value: ops[id].output().cloned(), id, metadata: None },
    };
    in_order(ops).into_iter().map(event).collect()
}

pub fn porcupine_texts(ops: &[OpOf<KeyValue>]) -> Vec<Event<PeerText>> {
    let event = |(_, is_return, id): (u64, bool, usize)| match is_return {
        false => Event::Call { client_id: None, value: ops[id].input.clone(), id, metadata: None },
        true => Event::Return { client_id: None, value: ops[id].output().cloned(), id, metadata: None },
    };
    in_order(ops).into_iter().map(event).collect()
}

pub fn todc_register(ops: &[OpOf<Registers>]) -> History<EtcdOperation> {
    let small = |value: &Value| value.map(|value| value as u32);
    let operation = |id: usize, status: EtcdStatus| match (&ops[id].input, ops[id].output()) {
        (Input::Read, Some(RegisterOutput::Value(value))) => EtcdOperation::Read(status, small(value)),
        (Input::Read, _) => EtcdOperation::Read(status, None),
        (Input::Write(value), _) => EtcdOperation::Write(status, small(value).unwrap_or(0)),
        (Input::Cas { from, to }, _) => {
            EtcdOperation::CompareAndSwap(status, (small(from).unwrap_or(0), small(to).unwrap_or(0)))
        }
    };
    let action = |(_, is_return, id): (u64, bool, usize)| {
        let status = match ops[id].output() {
            _ if !is_return => EtcdStatus::Invoke,
            None => EtcdStatus::Unknown,
            Some(RegisterOutput::Refused) => EtcdStatus::Fail,
            Some(_) => EtcdStatus::Okay,
        };
        (
            id,
            if is_return {
                Action::Response(operation(id, status))
            } else {
                Action::Call(operation(id, status))
            },
        )
    };
    // An indeterminate read says nothing, and this checker does not permit one.
    let says = |&(_, _, id): &(u64, bool, usize)| !(ops[id].is_info() && ops[id].input == Input::Read);
    History::from_actions(in_order(ops).into_iter().filter(says).map(action).collect())
}

/// By key.
pub fn todc_texts(ops: &[OpOf<KeyValue>]) -> Vec<History<<PeerText as Model>::Op>> {
    let history = |part: Vec<u32>| {
        let owned: Vec<OpOf<KeyValue>> = part.iter().map(|&op| ops[op as usize].clone()).collect();
        let action = |(_, is_return, id): (u64, bool, usize)| {
            let operation = (owned[id].input.input.clone(), owned[id].output().cloned());
            (id, if is_return { Action::Response(operation) } else { Action::Call(operation) })
        };
        History::from_actions(in_order(&owned).into_iter().map(action).collect())
    };
    KeyValue::empty().partition(ops).into_iter().map(history).collect()
}
