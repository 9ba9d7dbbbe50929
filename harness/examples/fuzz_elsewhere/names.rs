//! What else tools call the operations.

use super::{objects::Object, random::Random};

/// An operation's own name, and another.
pub type Names = &'static [(&'static str, &'static str)];

/// How a name is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `add-and-get`
    Plain,
    /// `db/add-and-get`
    Namespace,
    /// `ADD_AND_GET`
    Upper,
    /// `addAndGet`
    Camel,
}

/// The names of one tool.
pub fn draw(object: Object, named: bool, random: &mut Random) -> Names {
    let sets: &[Names] = match object {
        _ if random.chance(40) => &[],
        Object::Register | Object::CasRegister => &[
            &[("read", "r"), ("write", "w")],
            &[("cas", "compare-and-set")],
            &[("write", "w"), ("cas", "compare-and-swap")],
        ],
        Object::MultiRegister => &[&[("txn", "transaction")], &[("txn", "tx")]],
        Object::Semaphore => &[
            &[("acquire", "p"), ("release", "v")],
            &[("acquire", "down"), ("release", "up")],
            &[("acquire", "wait"), ("release", "signal")],
        ],
        Object::Counter => &[
            &[("add", "increment"), ("read", "value"), ("add-and-get", "increment-and-get")],
            &[("add", "incr"), ("read", "r"), ("add-and-get", "incr-and-get")],
        ],
        Object::Queue => &[
            &[("enqueue", "enq"), ("dequeue", "deq")],
            &[("enqueue", "offer"), ("dequeue", "poll")],
            &[("enqueue", "send"), ("dequeue", "receive")],
            &[("enqueue", "push"), ("dequeue", "pop")],
        ],
        Object::Set => &[
            &[("read", "members"), ("contains", "has"), ("remove", "discard")],
            &[("read", "elements"), ("contains", "is-member")],
        ],
        Object::KeyValue => &[&[("put", "set")], &[("put", "upsert")]],
        _ => &[
            &[("acquire", "lock"), ("release", "unlock")],
            &[("acquire", "enter"), ("release", "exit")],
            &[("acquire", "try-lock"), ("release", "unlock")],
            &[("acquire", "obtain"), ("release", "give-back")],
        ],
    };
    // Names that other models have as well: the model must be known.
    let shared: &[Names] = match object {
        Object::Register => &[&[("read", "get"), ("write", "put")], &[("read", "load"), ("write", "store")]],
        Object::Counter => &[&[("read", "get"), ("add", "plus")]],
        Object::Queue => &[&[("enqueue", "put"), ("dequeue", "get")]],
        Object::Set => &[&[("add", "insert"), ("remove", "delete"), ("read", "get")]],
        Object::KeyValue => &[&[("get", "read"), ("put", "write")], &[("get", "r"), ("put", "insert")]],
        _ => &[],
    };
    let sets = if named && !shared.is_empty() && random.chance(30) { shared } else { sets };
    if sets.is_empty() { &[] } else { random.pick::<Names>(sets) }
}

impl Style {
    /// Mostly plain.
    pub fn draw(random: &mut Random) -> Style {
        match random.below(20) {
            0 => Style::Namespace,
            1 => Style::Upper,
            2 => Style::Camel,
            _ => Style::Plain,
        }
    }

    /// The name, so written.
    pub fn write(self, name: &str) -> String {
        match self {
            Style::Plain => name.into(),
            Style::Namespace => format!("db/{name}"),
            Style::Upper => name.to_uppercase().replace('-', "_"),
            Style::Camel => {
                let mut words = name.split('-');
                let first = words.next().unwrap_or_default().to_owned();
                words.fold(first, |all, word| all + &word[..1].to_uppercase() + &word[1..])
            }
        }
    }
}
