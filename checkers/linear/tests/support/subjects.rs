//! Every model, with small domains to draw from.

use std::collections::{BTreeMap, BTreeSet};

use linear::{
    model::{Model, OpOf},
    models::{
        Counter, FifoQueue, Keyed, Lease, MultiRegister, Semaphore, Set, Text,
        counter::{CounterInput, CounterOutput},
        keyed::At,
        lease::{LeaseAction, LeaseInput, LeaseOutput},
        lock::{Lock, LockAction, LockInput, LockOutput},
        multi_register::Micro,
        queue::{QueueInput, QueueOutput},
        register::{Register, RegisterInput, RegisterOutput},
        semaphore::{SemaphoreAction, SemaphoreInput, SemaphoreOutput},
        set::{SetInput, SetOutput},
        text::{TextInput, TextOutput},
    },
    op::Op,
};

use super::random::{Random, Subject};

pub struct Registers {
    pub values: u64,
}

impl Subject for Registers {
    type M = Register<u64>;

    fn model(&self) -> Register<u64> {
        Register { initial: 0 }
    }

    fn input(&self, _process: u32, random: &mut Random) -> RegisterInput<u64> {
        match random.below(3) {
            0 => RegisterInput::Read,
            1 => RegisterInput::Write(random.below(self.values)),
            _ => RegisterInput::Cas { from: random.below(self.values), to: random.below(self.values) },
        }
    }

    fn output(&self, input: &RegisterInput<u64>, random: &mut Random) -> RegisterOutput<u64> {
        match input {
            RegisterInput::Read => RegisterOutput::Value(random.below(self.values)),
            RegisterInput::Cas { .. } if random.one_in(2) => RegisterOutput::Refused,
            _ => RegisterOutput::Done,
        }
    }
}

/// Reads and writes; the values seldom repeat if they are many.
pub struct PlainRegisters {
    pub values: u64,
}

impl Subject for PlainRegisters {
    type M = Register<u64>;

    fn model(&self) -> Register<u64> {
        Register { initial: 0 }
    }

    fn input(&self, _process: u32, random: &mut Random) -> RegisterInput<u64> {
        match random.one_in(2) {
            true => RegisterInput::Read,
            false => RegisterInput::Write(random.below(self.values)),
        }
    }

    fn output(&self, input: &RegisterInput<u64>, random: &mut Random) -> RegisterOutput<u64> {
        match input {
            RegisterInput::Read => RegisterOutput::Value(random.below(self.values)),
            _ => RegisterOutput::Done,
        }
    }
}

pub struct Locks {
    pub lock: Lock,
    pub refusals: bool,
}

impl Subject for Locks {
    type M = Lock;

    fn model(&self) -> Lock {
        self.lock
    }

    fn input(&self, process: u32, random: &mut Random) -> LockInput {
        let action = if random.one_in(2) { LockAction::Release } else { LockAction::Acquire };
        LockInput { owner: if random.one_in(12) { random.below(3) as u32 } else { process }, action }
    }

    fn output(&self, input: &LockInput, random: &mut Random) -> LockOutput {
        if self.refusals && random.one_in(3) {
            return LockOutput::Refused;
        }
        let has_token = self.lock.fenced && input.action == LockAction::Acquire && !random.one_in(4);
        LockOutput::Done { token: has_token.then(|| 1 + random.below(5)) }
    }
}

pub struct Counters {
    pub units: bool,
    pub info_in: u64,
}

impl Subject for Counters {
    type M = Counter;

    fn model(&self) -> Counter {
        Counter
    }

    fn input(&self, _process: u32, random: &mut Random) -> CounterInput {
        match (random.one_in(2), self.units) {
            (true, _) => CounterInput::Read,
            (false, true) => CounterInput::Add(1),
            (false, false) => CounterInput::Add(random.below(4) as i64 - 2),
        }
    }

    fn output(&self, input: &CounterInput, random: &mut Random) -> CounterOutput {
        let value = random.below(6) as i64 - if self.units { 0 } else { 3 };
        match input {
            CounterInput::Add(_) if self.units || random.one_in(2) => CounterOutput::Done,
            _ => CounterOutput::Value(value),
        }
    }

    fn info_in(&self) -> u64 {
        self.info_in
    }
}

pub struct Queues {
    pub values: u64,
    pub info_in: u64,
}

impl Subject for Queues {
    type M = FifoQueue<u64>;

    fn model(&self) -> FifoQueue<u64> {
        FifoQueue::empty()
    }

    fn input(&self, _process: u32, random: &mut Random) -> QueueInput<u64> {
        match random.one_in(2) {
            true => QueueInput::Enqueue(random.below(self.values)),
            false => QueueInput::Dequeue,
        }
    }

    fn output(&self, input: &QueueInput<u64>, random: &mut Random) -> QueueOutput<u64> {
        match input {
            QueueInput::Enqueue(_) => QueueOutput::Done,
            QueueInput::Dequeue if random.one_in(4) => QueueOutput::Empty,
            QueueInput::Dequeue => QueueOutput::Value(random.below(self.values)),
        }
    }

    fn info_in(&self) -> u64 {
        self.info_in
    }
}

pub struct Sets {
    pub whole_reads: bool,
    pub removals: bool,
    pub info_in: u64,
}

impl Subject for Sets {
    type M = Set<u64>;

    fn model(&self) -> Set<u64> {
        Set::empty()
    }

    fn input(&self, _process: u32, random: &mut Random) -> SetInput<u64> {
        let element = random.below(3);
        match random.below(4) {
            1 if self.removals => SetInput::Remove(element),
            2 => SetInput::Contains(element),
            3 if self.whole_reads => SetInput::Read,
            _ => SetInput::Add(element),
        }
    }

    fn info_in(&self) -> u64 {
        self.info_in
    }

    fn output(&self, input: &SetInput<u64>, random: &mut Random) -> SetOutput<u64> {
        match input {
            SetInput::Read => SetOutput::Elements(BTreeSet::from_iter((0..3).filter(|_| random.one_in(2)))),
            SetInput::Add(_) | SetInput::Remove(_) if random.one_in(2) => SetOutput::Done,
            _ => SetOutput::Is(random.one_in(2)),
        }
    }
}

pub struct MultiRegisters;

impl Subject for MultiRegisters {
    type M = MultiRegister<u64, u64>;

    fn model(&self) -> MultiRegister<u64, u64> {
        MultiRegister::new(BTreeMap::from_iter((0..3).map(|key| (key, 0))))
    }

    fn input(&self, _process: u32, random: &mut Random) -> Vec<Micro<u64, u64>> {
        (0..1 + random.below(2))
            .map(|_| match random.one_in(2) {
                true => Micro::Read(random.below(3)),
                false => Micro::Write(random.below(3), random.below(3)),
            })
            .collect()
    }

    fn output(&self, input: &Vec<Micro<u64, u64>>, random: &mut Random) -> Vec<Option<u64>> {
        let read = |micro: &Micro<u64, u64>| matches!(micro, Micro::Read(_)) && !random.one_in(6);
        let known: Vec<bool> = input.iter().map(read).collect();
        known.into_iter().map(|known| known.then(|| random.below(3))).collect()
    }
}

/// A key-value store with two keys.
pub struct Stores {
    pub puts: bool,
}

impl Subject for Stores {
    type M = Keyed<u64, Text>;

    fn model(&self) -> Keyed<u64, Text> {
        Keyed::new(Text)
    }

    fn input(&self, _process: u32, random: &mut Random) -> At<u64, TextInput> {
        let text = char::from(b'a' + random.below(3) as u8).to_string();
        let input = match random.below(if self.puts { 4 } else { 3 }) {
            0 => TextInput::Get,
            3 => TextInput::Put(text),
            _ => TextInput::Append(text),
        };
        At { key: random.below(2), input }
    }

    fn output(&self, at: &At<u64, TextInput>, random: &mut Random) -> TextOutput {
        match at.input {
            TextInput::Get => TextOutput::Text(
                (0..random.below(4)).map(|_| char::from(b'a' + random.below(3) as u8)).collect(),
            ),
            _ => TextOutput::Done,
        }
    }

    fn objects(&self, ops: &[&OpOf<Keyed<u64, Text>>]) -> Vec<Vec<u32>> {
        by_key::<Text>(ops)
    }
}

pub struct Semaphores {
    pub refusals: bool,
    /// Whether all permits are taken and given back one at a time.
    pub units: bool,
    /// Whether owners go on after an operation whose end nobody knows.
    pub goes_on: bool,
    pub info_in: u64,
}

impl Subject for Semaphores {
    type M = Semaphore;

    fn model(&self) -> Semaphore {
        Semaphore { permits: 3 }
    }

    fn input(&self, process: u32, random: &mut Random) -> SemaphoreInput {
        let count = if self.units { 1 } else { 1 + random.below(2) };
        let action = match random.one_in(2) {
            true => SemaphoreAction::Acquire(count),
            false => SemaphoreAction::Release(count),
        };
        SemaphoreInput { owner: if self.goes_on { process % 4 } else { process }, action }
    }

    fn output(&self, _input: &SemaphoreInput, random: &mut Random) -> SemaphoreOutput {
        match self.refusals && random.one_in(2) {
            true => SemaphoreOutput::Refused,
            false => SemaphoreOutput::Done,
        }
    }

    fn info_in(&self) -> u64 {
        self.info_in
    }
}

pub struct Leases {
    pub refusals: bool,
    pub acquires_only: bool,
}

impl Subject for Leases {
    type M = Lease;

    fn model(&self) -> Lease {
        Lease
    }

    fn input(&self, process: u32, random: &mut Random) -> LeaseInput {
        let ttl = if self.acquires_only { 3 } else { 2 + random.below(3) };
        let action = match random.below(if self.acquires_only { 1 } else { 3 }) {
            0 => LeaseAction::Acquire { ttl },
            1 => LeaseAction::Renew { ttl },
            _ => LeaseAction::Release,
        };
        LeaseInput { owner: process, action, call: 0, until: 0 }
    }

    fn output(&self, _input: &LeaseInput, random: &mut Random) -> LeaseOutput {
        match self.refusals && random.one_in(3) {
            true => LeaseOutput::Refused,
            false => LeaseOutput::Done,
        }
    }

    fn fit(&self, op: &mut OpOf<Lease>) {
        (op.input.call, op.input.until) = (op.call, op.deadline());
    }
}

/// Two objects of another subject, each under its key.
pub struct Under<S>(pub S);

impl<S: Subject> Subject for Under<S> {
    type M = Keyed<u64, S::M>;

    fn model(&self) -> Self::M {
        Keyed::new(self.0.model())
    }

    fn input(&self, process: u32, random: &mut Random) -> At<u64, <S::M as Model>::Input> {
        At { key: random.below(2), input: self.0.input(process, random) }
    }

    fn output(&self, at: &At<u64, <S::M as Model>::Input>, random: &mut Random) -> <S::M as Model>::Output {
        self.0.output(&at.input, random)
    }

    fn info_in(&self) -> u64 {
        self.0.info_in()
    }

    fn objects(&self, ops: &[&OpOf<Self::M>]) -> Vec<Vec<u32>> {
        by_key::<S::M>(ops)
    }

    fn fit(&self, op: &mut OpOf<Self::M>) {
        let At { input, .. } = op.input.clone();
        let mut bare = Op { process: op.process, call: op.call, input, returned: op.returned.clone() };
        self.0.fit(&mut bare);
        op.input.input = bare.input;
    }
}

fn by_key<M: Model>(ops: &[&OpOf<Keyed<u64, M>>]) -> Vec<Vec<u32>> {
    let of = |key: u64| (0..).zip(ops).filter(move |(_, op)| op.input.key == key).map(|(op, _)| op);
    (0..2).map(|key| of(key).collect()).collect()
}
