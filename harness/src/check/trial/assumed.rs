//! What was assumed of a history, and whether its verdict hangs on it.

use history::{
    EventKind, Outcome, Row, Value,
    names::{COUNTER, LOCK, QUEUE, REGISTER, SEMAPHORE, Vocabulary},
    verdict::Verdict,
};
use linear::{
    convert::{self, Datum, Naming, NilRead, Reading},
    op::FailMeans,
};
use serde_json::json;

use super::{
    super::{Checked, model::ModelName, outcome::LINEARIZABILITY, search::Found},
    Trial,
};

/// In words.
pub const VALUES: &str = "the values of acquire and release";

/// What was assumed of what was found, and what else the verdict would be.
pub fn of(trial: &Trial<'_>, found: &Found) -> Vec<String> {
    let verdict = found.explanation.verdict;
    let mut notes = vec![];
    if fails_may_tell(trial) {
        let other = Reading { fail: FailMeans::Refused, ..trial.reading };
        let hangs = hangs(verdict, "--failed-cas observation", &Trial { reading: other, ..trial.clone() });
        notes.push(format!("assumed: what failed did not happen, and says nothing else{hangs}"));
    }
    if reads_nil(trial) {
        let other = Reading { nil_read: NilRead::Nil, ..trial.reading };
        let hangs = hangs(verdict, "--nil-read value", &Trial { reading: other, ..trial.clone() });
        notes.push(format!("assumed: a read of nil says nothing{hangs}"));
    }
    notes.extend(of_beginning(trial, found));
    notes.extend(unseen_answers(trial));
    notes
}

/// What was assumed about how locks are named.
pub fn of_naming(naming: Naming) -> Option<String> {
    match naming {
        Naming::Uuids => Some(format!(
            "assumed: the UUIDs that are {VALUES} name locks; --lock-value owner says that they do not"
        )),
        Naming::Lists => Some("a grant of several locks is judged on each of them".into()),
        Naming::One | Naming::Names | Naming::Unclear(_) => None,
    }
}

/// Puts notes with the others, and into the verdict.
pub fn tell(checked: &mut Checked, notes: Vec<String>) {
    if let Some(result) = checked.run.judgement.checks.get_mut(LINEARIZABILITY)
        && !notes.is_empty()
    {
        result.figures.insert("notes".into(), json!(notes));
    }
    checked.notes.extend(notes);
}

fn of_beginning(trial: &Trial<'_>, found: &Found) -> Option<String> {
    let verdict = found.explanation.verdict;
    if !trial.name.has_initial() {
        let hangs = if verdict == Verdict::Invalid { of_leftovers(trial) } else { None };
        let hangs = hangs.unwrap_or_default();
        return trial.name.begins().map(|begins| format!("assumed: {begins}{hangs}"));
    }
    if trial.initial.is_some() || found.subject.ends_with("with nil") || verdict == Verdict::Unknown {
        return None;
    }
    let nil = Trial { initial: Some(Datum::Nil), ..trial.clone() };
    let (_, start) = found.subject.split_once(" that ").unwrap_or_default();
    let hangs = hangs(verdict, "--initial nil", &nil);
    Some(format!(
        "assumed: it {start}, since that was seen before anything was written; --initial names another{hangs}"
    ))
}

/// A store that was not empty at first is as registers that may start with anything.
fn of_leftovers(trial: &Trial<'_>) -> Option<String> {
    if trial.name != ModelName::KeyValue {
        return None;
    }
    let reading = Reading { nil_read: NilRead::Nil, ..trial.reading };
    let other = Trial { name: ModelName::CasRegister, reading, ..trial.clone() };
    let is_valid = other.hint().is_ok_and(|verdict| verdict == Verdict::Valid);
    is_valid.then(|| {
        "; the verdict hangs on it: with --model cas-register, whose keys may start with anything, it is valid".into()
    })
}

/// A counter's additions may be answered with the value before, after, or the amount: nobody knows which.
fn unseen_answers(trial: &Trial<'_>) -> Option<String> {
    let adds = |f: &str| matches!(COUNTER.operation(f), Some("add" | "subtract"));
    if trial.name != ModelName::Counter {
        return None;
    }
    let answered = trial.search.history.operations().iter().find(|operation| {
        let answer = operation.completion.filter(|completion| completion.kind() == EventKind::Ok);
        adds(operation.invoke.f())
            && answer
                .is_some_and(|answer| !answer.value().is_null() && answer.value() != operation.invoke.value())
    })?;
    let f = answered.invoke.f();
    Some(format!("the answers of {f} are not looked at; add-and-get is answered with the value after"))
}

/// What else the verdict would be, if it is another.
fn hangs(verdict: Verdict, option: &str, other: &Trial<'_>) -> String {
    if verdict == Verdict::Unknown {
        return format!(" ({option} says otherwise)");
    }
    let differs = match other.hint().unwrap_or(Verdict::Unknown) {
        same if same == verdict => return format!(" ({option} says otherwise: the verdict is the same)"),
        Verdict::Unknown => {
            format!("whether it hangs on that was not found out in a short time; see {option}")
        }
        differs => format!("the verdict hangs on it: with {option} it is {differs}"),
    };
    format!("; {differs}")
}

/// Whether something failed that could have been refused instead.
fn fails_may_tell(trial: &Trial<'_>) -> bool {
    let (vocabulary, names): (&Vocabulary, &[&str]) = match trial.name {
        ModelName::Register | ModelName::CasRegister => (&REGISTER, &["cas"]),
        ModelName::Semaphore(_) => (&SEMAPHORE, &["acquire"]),
        ModelName::FifoQueue => (&QUEUE, &["dequeue"]),
        name if name.lock().is_some() => (&LOCK, &["acquire", "release"]),
        _ => return false,
    };
    let refusable = |f: &str| vocabulary.operation(f).is_some_and(|name| names.contains(&name));
    trial.search.meaning.failed.is_none()
        && trial
            .search
            .history
            .operations()
            .iter()
            .any(|operation| operation.outcome() == Outcome::Fail && refusable(operation.invoke.f()))
}

fn reads_nil(trial: &Trial<'_>) -> bool {
    let read_nil = |row: Row<'_>| match trial.name {
        ModelName::Register | ModelName::CasRegister => {
            REGISTER.operation(row.f()) == Some("read") && convert::proper(row.value()).is_null()
        }
        ModelName::MultiRegister => {
            let says_nil =
                |step: Value<'_>| matches!(step.at(0).as_str(), Some("r" | "read")) && step.at(2).is_null();
            row.value().items().chain(convert::proper(row.value()).items()).any(says_nil)
        }
        _ => false,
    };
    let mut answers = trial.search.history.rows().filter(|row| row.kind() == EventKind::Ok);
    trial.search.meaning.nil_read.is_none() && answers.any(read_nil)
}
