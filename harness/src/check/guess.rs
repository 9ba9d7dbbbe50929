//! What a history is of, told from its operations.

use std::collections::BTreeSet;

use checkers::history::{EventKind, History, Row, View};

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

/// Locks and elections in our own vocabulary go to the checks of a run; all else to the model that has all its
/// operations.
///
/// # Errors
/// When no model fits.
pub fn subject(history: &History) -> Result<Subject> {
    let is_ours = |row: Row<'_>| {
        matches!(row.f(), "acquire" | "campaign") && row.value().get("lock").as_str().is_some()
    };
    let names = operations(history);
    if (names.contains("acquire") || names.contains("campaign")) && invocations(history).any(is_ours) {
        return Ok(Subject::Locks);
    }
    let within = |known: &[&str]| names.iter().all(|name| known.contains(name));
    let model = match () {
        () if names.is_empty() => {
            return Err(Error::Data("no client ever invoked anything: there is nothing to judge".into()));
        }
        () if within(&["read", "write", "cas"]) => ModelName::CasRegister,
        () if within(&["get", "put", "append"]) => ModelName::KeyValue,
        () if within(&["acquire", "release"]) && !counts_permits(history) => lock(history),
        () if within(&["enqueue", "dequeue"]) => ModelName::FifoQueue,
        () if within(&["read", "add", "add-and-get"]) && !reads_elements(history) => ModelName::Counter,
        () if within(&["read", "add", "remove", "contains"]) => ModelName::Set,
        () if within(&["txn"]) => ModelName::MultiRegister,
        () => return Err(unfit(&names)),
    };
    Ok(Subject::Model(model))
}

fn unfit(names: &BTreeSet<&str>) -> Error {
    let names: Vec<&str> = names.iter().take(12).copied().collect();
    Error::Data(format!(
        "no model can be told from the operations {}; name one with --model: {}",
        names.join(", "),
        model::LIST
    ))
}

/// The names of the clients' operations; there are few of them.
fn operations(history: &History) -> BTreeSet<&str> {
    let mut seen = BTreeSet::new();
    let fresh = invocations(history).filter(|row| seen.insert(row.f_id()));
    fresh.map(Row::f).collect()
}

fn invocations(history: &History) -> impl Iterator<Item = Row<'_>> {
    history.rows().filter(|row| row.kind() == EventKind::Invoke)
}

fn completions<'h>(history: &'h History, f: &'static str) -> impl Iterator<Item = Row<'h>> {
    history.rows().filter(move |row| row.kind() == EventKind::Ok && row.f() == f)
}

/// Numbers that are asked for are permits of a semaphore, and how many it has nobody says.
fn counts_permits(history: &History) -> bool {
    invocations(history).any(|row| row.f() == "acquire" && row.value().as_u64().is_some())
}

fn lock(history: &History) -> ModelName {
    let has_token =
        |row: Row<'_>| row.value().as_u64().is_some() || row.value().get("token").as_u64().is_some();
    if completions(history, "acquire").any(has_token) { ModelName::FencedMutex } else { ModelName::Mutex }
}

/// A set's read gives elements; without any read it is a set, since its elements may be anything.
fn reads_elements(history: &History) -> bool {
    let is_number =
        |row: Row<'_>| !matches!(row.value().view(), View::Array(_) | View::List(_) | View::Set(_));
    let mut reads = completions(history, "read").chain(completions(history, "add-and-get"));
    !reads.any(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkers::history::{ReadOptions, read};

    fn told(text: &str) -> Result<Subject> {
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
            (&[(":get", "{:key 1}", "nil")], ModelName::KeyValue),
            (&[(":acquire", "nil", "nil"), (":release", "nil", "nil")], ModelName::Mutex),
            (&[(":acquire", "nil", "7")], ModelName::FencedMutex),
            (&[(":enqueue", "1", "1")], ModelName::FifoQueue),
            (&[(":add", "1", "1"), (":read", "nil", "1")], ModelName::Counter),
            (&[(":add", "1", "1"), (":read", "nil", "#{1}")], ModelName::Set),
            (&[(":add", "1", "1"), (":contains", "1", "true")], ModelName::Set),
            (&[(":txn", "[[:r 1 nil]]", "[[:r 1 1]]")], ModelName::MultiRegister),
        ] {
            assert_eq!(told(&edn(operations)).unwrap(), Subject::Model(model), "{operations:?}");
        }
    }

    #[test]
    fn our_own_vocabulary_goes_to_the_checks() {
        let line =
            "{\"time\":0,\"process\":0,\"type\":\"invoke\",\"f\":\"campaign\",\"value\":{\"lock\":\"e\"}}";
        assert_eq!(told(line).unwrap(), Subject::Locks);
    }

    #[test]
    fn what_fits_no_model_is_told_them() {
        for operations in [&[(":fly", "nil", "nil")][..], &[(":acquire", "2", "2")]] {
            let error = told(&edn(operations)).unwrap_err();
            assert!(error.to_string().contains("--model") && error.to_string().contains("fifo-queue"));
            assert_eq!(error.exit_code(), 65);
        }
        assert!(told("{:process :nemesis :type :info :f :start}").is_err());
    }
}
