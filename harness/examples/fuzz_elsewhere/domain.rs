//! What operations, values and keys the random histories have.

use super::{history::Value, objects::Object, random::Random};

/// The words of one history.
pub struct Domain {
    /// What kind of object.
    pub object: Object,
    /// Names of the objects; `None` where there is only one, without a name.
    pub keys: Vec<Option<Value>>,
    /// What is written, added, enqueued.
    pub values: Vec<Value>,
    /// The registers of a transaction.
    pub registers: Vec<Value>,
}

impl Domain {
    /// Chosen by chance; several objects if `keyed`.
    pub fn draw(object: Object, keyed: bool, random: &mut Random) -> Domain {
        let is_pairs = matches!(object, Object::Register | Object::Queue | Object::Set) && random.chance(8);
        let kind = match object {
            Object::KeyValue => *random.pick(&[TEXT, INT]),
            _ if is_pairs => PAIR,
            _ => *random.pick(&[INT, INT, TEXT, WORD]),
        };
        let count = 2 + random.below(3);
        let keys = 1 + random.below(3);
        let key_kind = *random.pick(&[INT, TEXT, WORD, UUID]);
        let keyed = keyed || object == Object::KeyValue;
        Domain {
            object,
            keys: if keyed { (0..keys).map(|at| Some(key_kind(at + 10))).collect() } else { vec![None] },
            values: (0..count).map(kind).collect(),
            registers: (0..1 + random.below(3)).map(|at| WORD(at + 20)).collect(),
        }
    }

    /// An operation's name and argument.
    pub fn ask(&self, random: &mut Random) -> (&'static str, Value) {
        let value = random.pick(&self.values).clone();
        match self.object {
            Object::Register => pick(random, &[("read", Value::Nil), ("write", value)]),
            Object::CasRegister => {
                let pair =
                    Value::List(vec![random.pick(&self.values).clone(), random.pick(&self.values).clone()]);
                pick(random, &[("read", Value::Nil), ("write", value), ("cas", pair)])
            }
            Object::MultiRegister => ("txn", self.transaction(random)),
            Object::Semaphore => {
                let count = match random.below(5) {
                    0 => Value::Nil,
                    count => Value::Int(1.max(count as i64 - 1)),
                };
                pick(random, &[("acquire", count.clone()), ("release", count)])
            }
            Object::Counter => {
                let more = Value::Int(random.below(4) as i64 - i64::from(random.chance(30)));
                pick(random, &[("read", Value::Nil), ("add", more.clone()), ("add-and-get", more)])
            }
            Object::Queue => pick(random, &[("enqueue", value), ("dequeue", Value::Nil)]),
            Object::Set => pick(
                random,
                &[
                    ("add", value.clone()),
                    ("remove", value.clone()),
                    ("contains", value),
                    ("read", Value::Nil),
                ],
            ),
            Object::KeyValue => {
                let appends = matches!(value, Value::Text(_));
                let more = if appends { "append" } else { "put" };
                pick(random, &[("get", Value::Nil), ("put", value.clone()), (more, value)])
            }
            _ => pick(random, &[("acquire", Value::Nil), ("release", Value::Nil)]),
        }
    }

    fn transaction(&self, random: &mut Random) -> Value {
        let steps = (0..1 + random.below(3)).map(|_| {
            let register = random.pick(&self.registers).clone();
            Value::List(match random.chance(50) {
                true => vec![Value::Word("r".into()), register, Value::Nil],
                false => vec![Value::Word("w".into()), register, random.pick(&self.values).clone()],
            })
        });
        Value::List(steps.collect())
    }

    /// An answer of the right kind to an operation that was asked so, whatever the truth.
    pub fn answer(&self, f: &str, asked: &Value, random: &mut Random) -> Value {
        let value = random.pick(&self.values).clone();
        match (f, asked) {
            ("read", _) if self.object == Object::Counter => Value::Int(random.below(6) as i64),
            ("read", _) if self.object == Object::Set => {
                Value::Set(self.values.iter().filter(|_| random.chance(50)).cloned().collect())
            }
            ("add-and-get", _) => Value::Int(random.below(6) as i64),
            ("contains", _) => Value::Bool(random.chance(50)),
            ("read" | "dequeue" | "get", _) if random.chance(20) => Value::Nil,
            ("read" | "dequeue" | "get", _) => value,
            ("acquire", _) if self.object.is_fenced() => Value::Int(random.below(12) as i64),
            ("txn", Value::List(steps)) => {
                let answer = |step: &Value| match step {
                    Value::List(parts) if parts[0] == Value::Word("r".into()) => {
                        let read =
                            if random.chance(15) { Value::Nil } else { random.pick(&self.values).clone() };
                        Value::List(vec![parts[0].clone(), parts[1].clone(), read])
                    }
                    other => other.clone(),
                };
                Value::List(steps.iter().map(answer).collect())
            }
            (_, asked) => asked.clone(),
        }
    }
}

fn pick(random: &mut Random, asked: &[(&'static str, Value)]) -> (&'static str, Value) {
    random.pick(asked).clone()
}

const INT: fn(usize) -> Value = |at| Value::Int(at as i64);
const TEXT: fn(usize) -> Value = |at| Value::Text(format!("{}", (b'a' + at as u8) as char));
const WORD: fn(usize) -> Value = |at| Value::Word(format!("{}", (b'a' + at as u8) as char));
const UUID: fn(usize) -> Value = |at| Value::Uuid(format!("00000000-0000-0000-0000-{at:012}"));
const PAIR: fn(usize) -> Value = |at| Value::List(vec![Value::Int(at as i64 / 2), Value::Int(at as i64)]);
