//! Random small histories: a true object is asked, and then half of the histories are told a little wrong.

use std::collections::BTreeMap;

use super::{
    domain::Domain,
    history::{Event, Kind, Value},
    objects::{Object, State},
    random::Random,
};

/// Operations of a history, at most.
pub const OPERATIONS_MAX: usize = 7;

/// One client, which takes a new process number when it does not know how its operation ended.
struct Client {
    process: u32,
    /// The position of what it asked, and the answer if that has taken effect.
    pending: Option<(usize, Option<Value>)>,
}

struct World<'r> {
    domain: Domain,
    random: &'r mut Random,
    events: Vec<Event>,
    states: BTreeMap<Option<Value>, State>,
    /// The last token by object.
    tokens: BTreeMap<Option<Value>, i64>,
}

/// A history of such objects; each with a key if `keyed`.
pub fn history(object: Object, keyed: bool, random: &mut Random) -> Vec<Event> {
    let domain = Domain::draw(object, keyed, random);
    let states = domain.keys.iter().map(|key| (key.clone(), start(&domain, random))).collect();
    let mut world = World { domain, random, events: Vec::new(), states, tokens: BTreeMap::new() };
    world.run();
    if world.random.chance(60) {
        world.tell_wrong();
    }
    world.events
}

fn start(domain: &Domain, random: &mut Random) -> State {
    let mut any = |register: &Value| {
        let value = if random.chance(50) { Value::Nil } else { random.pick(&domain.values).clone() };
        (register.clone(), value)
    };
    let initial = match domain.object {
        Object::MultiRegister => domain.registers.iter().map(any).collect(),
        object if object.has_initial() => BTreeMap::from([any(&Value::Nil)]),
        _ => BTreeMap::new(),
    };
    domain.object.start(&initial)
}

impl World<'_> {
    fn run(&mut self) {
        let count = 2 + self.random.below(OPERATIONS_MAX - 1);
        let clients = 1 + self.random.below(4);
        let mut clients: Vec<Client> =
            (0..clients).map(|process| Client { process: process as u32, pending: None }).collect();
        let step = clients.len() as u32;
        let mut asked = 0;
        for _ in 0..(4 + self.random.below(9)) * count {
            let at = self.random.below(clients.len());
            let client = &mut clients[at];
            match &mut client.pending {
                None if asked < count => {
                    asked += 1;
                    client.pending = Some((self.invoke(client.process), None));
                }
                None => {}
                Some((invoke, done)) if done.is_none() && self.random.chance(40) => {
                    *done = self.take_effect(*invoke)
                }
                Some((invoke, done)) => {
                    let (invoke, done) = (*invoke, done.clone());
                    if let Some(is_retired) = self.complete(invoke, done) {
                        client.pending = None;
                        client.process += if is_retired { step } else { 0 };
                    }
                }
            }
        }
    }

    fn invoke(&mut self, process: u32) -> usize {
        let (f, value) = self.domain.ask(self.random);
        let key = self.random.pick(&self.domain.keys).clone();
        self.events.push(Event { process, kind: Kind::Invoke, f, key, value });
        self.events.len() - 1
    }

    /// The answer, if the object grants it.
    fn take_effect(&mut self, invoke: usize) -> Option<Value> {
        let Event { process, f, key, value, .. } = self.events[invoke].clone();
        let (answer, next) = self.domain.object.apply(&self.states[&key], process, f, &value)?;
        let is_acquire = f == "acquire";
        let mut answer = if matches!(answer, Value::Nil) && is_repeated(f) { value } else { answer };
        if let (State::Lock(lock), true) = (&next, is_acquire && self.domain.object.is_fenced()) {
            let last = self.tokens.entry(key.clone()).or_insert(0);
            let token = lock.token().unwrap_or_else(|| *last + 2 + self.random.below(3) as i64);
            *last = token.max(*last);
            answer = Value::Int(token);
            let lock = self.domain.object.with_token(lock, token)?;
            self.states.insert(key, State::Lock(lock));
            return Some(answer);
        }
        self.states.insert(key, next);
        Some(answer)
    }

    /// Whether its process is retired; `None` if it goes on waiting.
    fn complete(&mut self, invoke: usize, done: Option<Value>) -> Option<bool> {
        let Event { process, f, key, value: asked, .. } = self.events[invoke].clone();
        let chance = self.random.below(100);
        let (kind, value) = match chance {
            0..14 => (Kind::Info, asked),
            // Sometimes what failed has happened all the same.
            14..16 => (Kind::Fail, asked),
            16..26 if done.is_none() => (Kind::Fail, asked),
            _ => match done.or_else(|| self.take_effect(invoke)) {
                Some(answer) => (Kind::Ok, answer),
                None if chance < 40 => (Kind::Fail, asked),
                None if chance < 46 => (Kind::Ok, self.domain.answer(f, &asked, self.random)),
                None => return None,
            },
        };
        self.events.push(Event { process, kind, f, key, value });
        Some(kind == Kind::Info)
    }

    fn tell_wrong(&mut self) {
        for _ in 0..1 + self.random.below(3) {
            let at = self.random.below(self.events.len());
            match self.random.below(5) {
                0 if at > 0 && self.events[at - 1].process != self.events[at].process => {
                    self.events.swap(at - 1, at);
                }
                1 if self.events[at].kind == Kind::Ok => self.events[at].kind = Kind::Fail,
                _ => self.answer_wrong(at),
            }
        }
    }

    /// Of the first operation from here on that ended, and tells something.
    fn answer_wrong(&mut self, from: usize) {
        let tells = |event: &Event| matches!(event.kind, Kind::Ok | Kind::Fail) && !is_repeated(event.f);
        let ended = |event: &Event| matches!(event.kind, Kind::Ok | Kind::Fail);
        let find =
            |fits: &dyn Fn(&Event) -> bool| (from..self.events.len()).find(|at| fits(&self.events[*at]));
        let Some(at) = find(&tells).or_else(|| find(&ended)) else { return };
        let Event { process, f, .. } = self.events[at].clone();
        let mut before = self.events[..at].iter().rev();
        let Some(invoke) = before.find(|event| event.process == process).cloned() else { return };
        self.events[at].kind = Kind::Ok;
        self.events[at].value = self.domain.answer(f, &invoke.value, self.random);
    }
}

/// Whether an answer repeats what was asked.
fn is_repeated(f: &str) -> bool {
    matches!(f, "write" | "cas" | "add" | "remove" | "enqueue" | "put" | "append" | "acquire" | "release")
}
