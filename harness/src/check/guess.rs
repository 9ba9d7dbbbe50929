//! What a history is of, told from its operations.

use std::collections::BTreeSet;

use history::{
    Action, EventKind, History, Process, Row, Value, View,
    names::{COUNTER, KEY_VALUE, LOCK, QUEUE, REGISTER, SEMAPHORE, SET, TRANSACTIONS, Vocabulary},
};
use linear::convert;

use super::model::{self, ModelName};
use crate::error::{Error, Result};

/// How a history is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// By the checks of a run.
    Locks,
    /// By linearizability.
    Model(ModelName),
}

/// What a history seems to be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guess {
    /// What fits.
    pub subject: Subject,
    /// What it may be of as well, in words. Then nobody is accused on this guess.
    pub doubt: Option<&'static str>,
}

/// Locks and elections in our own vocabulary go to the checks of a run; all else to the model that has all its
/// operations.
///
/// # Errors
/// When no model fits.
pub fn subject(history: &History) -> Result<Guess> {
    // A lock that is no text is refused when its fields are looked at, with the line. One that stands beside the value is
    // another tool's.
    let is_ours = |row: Row<'_>| {
        let is_beside = || row.value().entries().any(|(key, _)| key.as_str() == Some("value"));
        Action::named(row.f()).is_some_and(Action::asks) && !row.value().get("lock").is_null() && !is_beside()
    };
    if convert::invocations(history).any(is_ours) {
        return Ok(Guess { subject: Subject::Locks, doubt: None });
    }
    let names = operations(history);
    if names.is_empty() {
        return Err(Error::Data("no client ever invoked anything: there is nothing to judge".into()));
    }
    if sends_by_offset(history) {
        return Err(strange(KAFKA));
    }
    let (model, doubt) = model(history, &names).ok_or_else(|| match () {
        () if names.iter().all(|name| is_release(name)) => releases_alone(),
        () if names.iter().all(|name| SEMAPHORE.operation(name).is_some()) => permits(),
        () => unfit(&names),
    })?;
    Ok(Guess { subject: Subject::Model(model), doubt })
}

fn model(history: &History, names: &BTreeSet<&str>) -> Option<(ModelName, Option<&'static str>)> {
    let within = |known: &Vocabulary| names.iter().all(|name| known.operation(name).is_some());
    let named = |some: &[&str]| names.iter().any(|name| some.contains(&&*history::names::plain(name)));
    let certain = |model| Some((model, None));
    match () {
        () if within(&TRANSACTIONS) && are_transactions(history) => certain(ModelName::MultiRegister),
        () if within(&KEY_VALUE) && is_keyed(history) && !named(&["read", "r", "write", "w"]) => {
            certain(ModelName::KeyValue)
        }
        () if within(&REGISTER) && reads_sets_and_lists(history) => Some((
            ModelName::CasRegister,
            Some("reads alone, of sets and lists of elements, may be those of a set (--model set)"),
        )),
        () if within(&REGISTER) && !(named(&["get"]) && named(&["put"])) => certain(ModelName::CasRegister),
        () if within(&REGISTER) => {
            Some((ModelName::CasRegister, Some("get and put may be those of a queue (--model fifo-queue)")))
        }
        () if within(&KEY_VALUE) && named(&["append"]) => certain(ModelName::KeyValue),
        () if within(&LOCK) && !counts_permits(history) => lock(history).map(|model| (model, None)),
        () if within(&SEMAPHORE) => None,
        () if within(&QUEUE) && named(&["push", "pop"]) => Some((
            ModelName::FifoQueue,
            Some("push and pop may be those of a stack, which has no model here"),
        )),
        () if within(&QUEUE) => certain(ModelName::FifoQueue),
        () if within(&COUNTER)
            && (!within(&SET) || !named(&["add", "read", "r", "get"]) || !reads_elements(history)) =>
        {
            certain(ModelName::Counter)
        }
        () if within(&SET) => certain(ModelName::Set),
        () if within(&TRANSACTIONS) => certain(ModelName::MultiRegister),
        () => None,
    }
}

fn is_release(name: &str) -> bool {
    [&LOCK, &SEMAPHORE].iter().any(|known| known.operation(name) == Some("release"))
}

fn releases_alone() -> Error {
    Error::Data(
        "nothing is ever acquired: what is only released may be a lock that was held before, or a semaphore; \
         --model mutex or --model semaphore:PERMITS judges it as one that was free"
            .into(),
    )
}

fn permits() -> Error {
    Error::Data(
        "nobody says whether this is a semaphore, whose permits are told with --model semaphore:PERMITS, or a lock: \
         --model mutex, with --lock-value if its values are names or owners"
            .into(),
    )
}

/// Tests whose operations no model here has, by one of them.
const KAFKA: &str = "sends and polls in steps, answered with offsets, are Jepsen's kafka test";
const STRANGERS: [(&str, &str); 4] = [
    ("drain", "drain takes what is left of a queue whose elements come in any order (Jepsen's total-queue)"),
    ("transfer", "transfers between accounts are Jepsen's bank test"),
    ("assign", KAFKA),
    ("generate", "identifiers are to differ, whatever their order (Jepsen's unique-ids)"),
];

fn unfit(names: &BTreeSet<&str>) -> Error {
    let is_named = |f: &str| names.iter().any(|name| history::names::plain(name) == f);
    if let Some((_, what)) = STRANGERS.iter().find(|(f, _)| is_named(f)) {
        return strange(what);
    }
    let names: Vec<&str> = names.iter().take(12).copied().collect();
    Error::Data(format!(
        "no model can be told from the operations {}; name one with --model: {}",
        names.join(", "),
        model::LIST
    ))
}

fn strange(what: &str) -> Error {
    Error::Data(format!("{what}: no model here has that; there are {}", model::LIST))
}

/// Whether something is sent or polled in steps, `[[:send 0 1]]` or `[[:poll]]`: no elements of a queue.
fn sends_by_offset(history: &History) -> bool {
    let is_step = |step: Value<'_>| matches!(step.at(0).as_str(), Some("send" | "poll"));
    convert::invocations(history).any(|row| row.value().items().any(is_step))
}

/// The names of the clients' operations; there are few of them.
fn operations(history: &History) -> BTreeSet<&str> {
    let mut seen = BTreeSet::new();
    let fresh = convert::invocations(history).filter(|row| seen.insert(row.f_id()));
    fresh.map(Row::f).collect()
}

/// The rows of clients of this kind whose operation a vocabulary names so.
fn of<'h>(
    history: &'h History,
    kind: EventKind,
    vocabulary: &'static Vocabulary,
    operation: &'static str,
) -> impl Iterator<Item = Row<'h>> {
    let rows = history.rows().filter(move |row| row.kind() == kind && row.process() != Process::Nemesis);
    rows.filter(move |row| vocabulary.operation(row.f()) == Some(operation))
}

/// Whether all is asked in steps, such as `[[:r 1 nil] [:w 2 3]]`, whatever it is called.
fn are_transactions(history: &History) -> bool {
    let is_step = |step: Value<'_>| {
        matches!(step.at(0).as_str(), Some("r" | "w" | "read" | "write" | "append"))
            && step.items().count() > 1
    };
    let mut asked = convert::invocations(history).map(|row| row.value());
    asked.all(|steps| steps.items().next().is_some() && steps.items().all(is_step))
}

/// Whether what is got has a key, or, where nothing is, whatever is asked.
fn is_keyed(history: &History) -> bool {
    let has_key = |row: Row<'_>| convert::split(row.value()).is_some();
    let mut gets = of(history, EventKind::Invoke, &KEY_VALUE, "get").peekable();
    if gets.peek().is_some() { gets.all(has_key) } else { convert::invocations(history).all(has_key) }
}

/// Numbers that are asked for are permits of a semaphore, and how many it has nobody says.
fn counts_permits(history: &History) -> bool {
    of(history, EventKind::Invoke, &LOCK, "acquire")
        .any(|row| convert::proper(row.value()).as_u64().is_some())
}

/// What has to do with no lock but a few reads and writes is none.
fn lock(history: &History) -> Option<ModelName> {
    of(history, EventKind::Invoke, &LOCK, "acquire").next()?;
    let has_token = |row: Row<'_>| {
        let value = convert::answer_of_lock(row.value());
        value.as_u64().is_some() || !convert::token(value).is_null()
    };
    let fenced = of(history, EventKind::Ok, &LOCK, "acquire").any(has_token);
    Some(if fenced { ModelName::FencedMutex } else { ModelName::Mutex })
}

/// A set's read gives elements; without any read it is a set, since its elements may be anything.
fn reads_elements(history: &History) -> bool {
    answers_of_read(history).iter().all(|answer| is_elements(*answer) || answer.is_null())
}

/// What the reads of what may be a set were answered.
fn answers_of_read(history: &History) -> Vec<Value<'_>> {
    let has_keys = convert::has_keys(history, &SET, &["read"]);
    let answers = of(history, EventKind::Ok, &SET, "read").map(Row::value);
    answers.map(|answer| if has_keys { convert::proper(answer) } else { answer }).collect()
}

/// Whether nothing was done but to read, with sets among the answers and vectors or lists: no register holds these in
/// turn, but of a set they are one kind of answer.
fn reads_sets_and_lists(history: &History) -> bool {
    if !convert::invocations(history).all(|row| SET.operation(row.f()) == Some("read")) {
        return false;
    }
    let answers = answers_of_read(history);
    let is_set = |answer: &Value<'_>| matches!(answer.view(), View::Set(_));
    answers.iter().any(is_set) && answers.iter().any(|answer| is_elements(*answer) && !is_set(answer))
}

fn is_elements(value: Value<'_>) -> bool {
    matches!(value.view(), View::Array(_) | View::List(_) | View::Set(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use history::{ReadOptions, read};

    fn told(text: &str) -> Result<Guess> {
        subject(&read(text.as_bytes(), &ReadOptions::default()).unwrap().1)
    }

    fn edn(operations: &[(&str, &str, &str)]) -> String {
        let event =
            |kind: &str, f: &str, value: &str| format!("{{:process 0 :type {kind} :f {f} :value {value}}}\n");
        operations.iter().map(|(f, asked, got)| event(":invoke", f, asked) + &event(":ok", f, got)).collect()
    }

    #[test]
    fn models_are_told_by_their_operations() {
        for (operations, model) in [
            (&[(":read", "nil", "1"), (":write", "1", "1")][..], ModelName::CasRegister),
            (&[(":r", "nil", "1"), (":compareAndSet", "[1 2]", "[1 2]")], ModelName::CasRegister),
            (&[(":get", "nil", "1"), (":set", "1", "1")], ModelName::CasRegister),
            (&[(":get", "{:key 1}", "nil")], ModelName::KeyValue),
            (&[(":read", "[1 nil]", "[1 2]"), (":write", "[1 2]", "[1 2]")], ModelName::CasRegister),
            (&[(":get", "{:key 1}", "nil"), (":put", "{:key 1 :value 2}", "nil")], ModelName::KeyValue),
            (&[(":get", "[1 nil]", "[1 2]"), (":PUT", "[1 2]", "[1 2]")], ModelName::KeyValue),
            (&[(":acquire", "nil", "nil"), (":release", "nil", "nil")], ModelName::Mutex),
            (&[(":redis/tryLock", "nil", "nil"), (":unlock", "nil", "nil")], ModelName::Mutex),
            (&[(":enter", "nil", "nil"), (":exit", "nil", "nil")], ModelName::Mutex),
            (&[(":acquire", "nil", "7")], ModelName::FencedMutex),
            (&[(":lock", "[\"a\" nil]", "[\"a\" 7]")], ModelName::FencedMutex),
            (&[(":enqueue", "1", "1")], ModelName::FifoQueue),
            (&[(":offer", "1", "1"), (":poll", "nil", "1")], ModelName::FifoQueue),
            (&[(":put", "1", "1"), (":take", "nil", "1")], ModelName::FifoQueue),
            (&[(":add", "1", "1"), (":read", "nil", "1")], ModelName::Counter),
            (&[(":incr", "nil", "nil"), (":decr", "nil", "nil")], ModelName::Counter),
            (&[(":add", "[1 1]", "[1 1]"), (":read", "[1 nil]", "[1 1]")], ModelName::Counter),
            (&[(":add", "1", "1"), (":read", "nil", "#{1}")], ModelName::Set),
            (&[(":add", "[1 1]", "[1 1]"), (":read", "[1 nil]", "[1 #{1}]")], ModelName::Set),
            (&[(":add", "1", "1"), (":contains", "1", "true")], ModelName::Set),
            (&[(":txn", "[[:r 1 nil]]", "[[:r 1 1]]")], ModelName::MultiRegister),
        ] {
            let guess = told(&edn(operations)).unwrap();
            assert_eq!((guess.subject, guess.doubt), (Subject::Model(model), None), "{operations:?}");
        }
    }

    #[test]
    fn what_may_be_of_something_else_is_in_doubt() {
        for operations in
            [[(":push", "1", "1"), (":pop", "nil", "1")], [(":put", "1", "1"), (":get", "nil", "1")]]
        {
            assert!(told(&edn(&operations)).unwrap().doubt.is_some(), "{operations:?}");
        }
    }

    #[test]
    fn our_own_vocabulary_goes_to_the_checks() {
        let line =
            "{\"time\":0,\"process\":0,\"type\":\"invoke\",\"f\":\"campaign\",\"value\":{\"lock\":\"e\"}}";
        assert_eq!(told(line).unwrap().subject, Subject::Locks);
    }

    #[test]
    fn what_fits_no_model_is_told_them() {
        for operations in [&[(":fly", "nil", "nil")][..], &[(":acquire", "2", "2")], &[(":p", "nil", "nil")]]
        {
            let error = told(&edn(operations)).unwrap_err();
            let named = error.to_string();
            assert!(
                named.contains("--model") && (named.contains("fifo-queue") || named.contains("semaphore:"))
            );
            assert_eq!(error.exit_code(), history::exit::ExitCode::Data);
        }
        assert!(told("{:process :nemesis :type :info :f :start}").is_err());
    }
}
