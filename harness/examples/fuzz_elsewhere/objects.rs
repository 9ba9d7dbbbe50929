//! What objects do, one operation after another: written for this fuzzer alone, from what the README and the models'
//! names promise.

use std::collections::{BTreeMap, BTreeSet};

use super::{history::Value, steps};

/// The kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    Register,
    CasRegister,
    MultiRegister,
    Mutex,
    OwnedMutex,
    ReentrantMutex,
    FencedMutex,
    ReentrantFencedMutex,
    Semaphore,
    Counter,
    Queue,
    Set,
    KeyValue,
}

use Object::*;

/// All of them.
pub const ALL: [Object; 13] = [
    Register,
    CasRegister,
    MultiRegister,
    Mutex,
    OwnedMutex,
    ReentrantMutex,
    FencedMutex,
    ReentrantFencedMutex,
    Semaphore,
    Counter,
    Queue,
    Set,
    KeyValue,
];

/// Permits of a semaphore.
pub const PERMITS: i64 = 3;

/// What an object is in.
#[derive(Clone, Debug)]
pub enum State {
    Register(Value),
    Registers(BTreeMap<Value, Value>),
    Lock(Lock),
    /// Permits by process.
    Permits(BTreeMap<u32, i64>),
    Number(i64),
    Queue(Vec<Value>),
    Elements(BTreeSet<Value>),
}

/// Who holds a lock.
#[derive(Clone, Debug, Default)]
pub struct Lock {
    holder: Option<u32>,
    /// How many releases it takes to free it.
    depth: u32,
    /// The token of each hold so far, where it was seen.
    tokens: Vec<Option<i64>>,
}

impl Object {
    /// As `--model` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Register => "register",
            CasRegister => "cas-register",
            MultiRegister => "multi-register",
            Mutex => "mutex",
            OwnedMutex => "owned-mutex",
            ReentrantMutex => "reentrant-mutex",
            FencedMutex => "fenced-mutex",
            ReentrantFencedMutex => "reentrant-fenced-mutex",
            Semaphore => "semaphore:3",
            Counter => "counter",
            Queue => "fifo-queue",
            Set => "set",
            KeyValue => "key-value",
        }
    }

    /// Whether it is acquired and released, without a number of permits.
    pub fn is_lock(self) -> bool {
        matches!(self, Mutex | OwnedMutex | ReentrantMutex | FencedMutex | ReentrantFencedMutex)
    }

    /// Whether a hold has a token.
    pub fn is_fenced(self) -> bool {
        matches!(self, FencedMutex | ReentrantFencedMutex)
    }

    /// Whether it may start with any value.
    pub fn has_initial(self) -> bool {
        matches!(self, Register | CasRegister | MultiRegister)
    }

    /// How it starts; registers start with `initial`.
    pub fn start(self, initial: &BTreeMap<Value, Value>) -> State {
        match self {
            Register | CasRegister | KeyValue => {
                State::Register(initial.values().next().cloned().unwrap_or(Value::Nil))
            }
            MultiRegister => State::Registers(initial.clone()),
            Semaphore => State::Permits(BTreeMap::new()),
            Counter => State::Number(0),
            Queue => State::Queue(Vec::new()),
            Set => State::Elements(BTreeSet::new()),
            _ => State::Lock(Lock::default()),
        }
    }

    /// What the operation answers and leaves; `None` where the object does not grant it.
    pub fn apply(self, state: &State, process: u32, f: &str, input: &Value) -> Option<(Value, State)> {
        match state {
            State::Register(value) => steps::register(value, f, input),
            State::Registers(values) => Some(steps::transaction(values, input)),
            State::Lock(lock) => {
                let lock = lock.clone();
                let lock =
                    if f == "acquire" { self.acquire(lock, process) } else { self.release(lock, process) };
                lock.map(|lock| (Value::Nil, State::Lock(lock)))
            }
            State::Permits(permits) => steps::semaphore(permits, process, f, input),
            State::Number(number) => Some(steps::counter(*number, f, input)),
            State::Queue(elements) => Some(steps::queue(elements, f, input)),
            State::Elements(elements) => Some(steps::set(elements, f, input)),
        }
    }

    fn acquire(self, mut lock: Lock, process: u32) -> Option<Lock> {
        match lock.holder {
            None => {
                lock.holder = Some(process);
                lock.tokens.push(None);
            }
            Some(holder) if holder != process || !matches!(self, ReentrantMutex | ReentrantFencedMutex) => {
                return None;
            }
            Some(_) => {}
        }
        lock.depth += 1;
        Some(lock)
    }

    fn release(self, mut lock: Lock, process: u32) -> Option<Lock> {
        let holder = lock.holder?;
        if self != Mutex && holder != process {
            return None;
        }
        lock.depth -= 1;
        lock.holder = Some(holder).filter(|_| lock.depth > 0);
        Some(lock)
    }

    /// The same lock when the grant that it just gave was seen with this token: one token a hold, greater than those
    /// of the holds before.
    pub fn with_token(self, lock: &Lock, token: i64) -> Option<Lock> {
        let mut lock = lock.clone();
        if self.is_fenced() {
            let of_hold = lock.tokens.last_mut()?;
            if of_hold.is_some_and(|other| other != token) {
                return None;
            }
            *of_hold = Some(token);
            let known: Vec<i64> = lock.tokens.iter().flatten().copied().collect();
            return known.windows(2).all(|pair| pair[0] < pair[1]).then_some(lock);
        }
        Some(lock)
    }
}

impl Lock {
    /// The token of the hold under way.
    pub fn token(&self) -> Option<i64> {
        self.tokens.last().copied().flatten()
    }
}
