use rustc_hash::FxHashMap;
use thiserror::Error;

use super::{EventKind, History, Process, Row};

/// A history that no recorder can have written: not a broken promise, but nothing to judge either.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
pub struct IllFormed {
    /// The line of the source, from 1.
    pub line: u64,
    /// Position of the event.
    pub index: usize,
    /// What is wrong.
    pub message: String,
}

/// What a client process may do next.
enum State<'h> {
    Idle,
    Pending(Row<'h>),
    Retired(u64),
}

impl History {
    /// Whether each process invokes only when idle, completes what it invoked and never returns after an `info`,
    /// and whether the indexes, if the source gave any, are dense. The nemesis' events are always `info` and may
    /// come in any number.
    ///
    /// # Errors
    /// The first event that breaks a rule.
    pub fn check_form(&self) -> Result<(), IllFormed> {
        let mut states: FxHashMap<Process, State<'_>> = FxHashMap::default();
        let unfit = self.indexes().broken();
        for row in self.rows() {
            if let Some((_, index)) = unfit.filter(|&(position, _)| position == row.index() as u64) {
                return Err(ill(row, format!("index {index} where {} was expected", row.index())));
            }
            if row.process() == Process::Nemesis {
                continue;
            }
            let state = states.entry(row.process()).or_insert(State::Idle);
            *state = step(state, row).map_err(|message| ill(row, message))?;
        }
        Ok(())
    }
}

fn step<'h>(state: &State<'h>, row: Row<'h>) -> Result<State<'h>, String> {
    match (state, row.kind()) {
        (State::Idle, EventKind::Invoke) => Ok(State::Pending(row)),
        (State::Pending(invoke), kind) if kind != EventKind::Invoke && invoke.f_id() == row.f_id() => {
            Ok(if kind == EventKind::Info { State::Retired(row.line()) } else { State::Idle })
        }
        _ => Err(refusal(state, row)),
    }
}

fn refusal(state: &State<'_>, row: Row<'_>) -> String {
    let (process, f) = (name(row.process()), row.f());
    match state {
        State::Retired(line) => format!("{process} was retired by the info on line {line}"),
        State::Idle => format!("{process} completes {f}, which it did not invoke"),
        State::Pending(invoke) => {
            let (pending, line) = (invoke.f(), invoke.line());
            if row.kind() == EventKind::Invoke {
                format!("{process} invokes {f} while its {pending} of line {line} is pending")
            } else {
                format!("{process} completes {f}, but invoked {pending} on line {line}")
            }
        }
    }
}

fn ill(row: Row<'_>, message: String) -> IllFormed {
    IllFormed { line: row.line(), index: row.index(), message }
}

fn name(process: Process) -> String {
    match process {
        Process::Client(number) => format!("process {number}"),
        Process::Nemesis => "the nemesis".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{ReadOptions, jsonl};

    fn verdict(events: &[(&str, &str, &str)]) -> Result<(), IllFormed> {
        let line = |(process, kind, f): &(&str, &str, &str)| {
            format!("{{\"time\":0,\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\"}}\n")
        };
        let text: String = events.iter().map(line).collect();
        jsonl::read(text.as_bytes(), &ReadOptions::default()).unwrap().check_form()
    }

    #[test]
    fn clients_alternate_and_the_nemesis_need_not() {
        let nemesis = ("\"nemesis\"", "info", "start-pause");
        verdict(&[nemesis, ("0", "invoke", "read"), nemesis, ("0", "ok", "read"), ("0", "invoke", "write")])
            .unwrap();
    }

    #[test]
    fn the_first_broken_rule_is_named_with_its_line() {
        let message = |events: &[(&str, &str, &str)]| verdict(events).unwrap_err().to_string();
        let invoke = ("0", "invoke", "read");
        assert_eq!(
            message(&[invoke, invoke]),
            "line 2: process 0 invokes read while its read of line 1 is pending"
        );
        assert_eq!(
            message(&[("0", "ok", "read")]),
            "line 1: process 0 completes read, which it did not invoke"
        );
        assert_eq!(
            message(&[invoke, ("0", "ok", "write")]),
            "line 2: process 0 completes write, but invoked read on line 1"
        );
        assert_eq!(
            message(&[invoke, ("0", "info", "read"), invoke]),
            "line 3: process 0 was retired by the info on line 2"
        );
    }

    #[test]
    fn indexes_are_dense_or_absent() {
        let read = |indexes: &[u64]| {
            let line = |index| {
                format!(
                    "{{\"index\":{index},\"time\":0,\"process\":\"nemesis\",\"type\":\"info\",\"f\":\"x\"}}\n"
                )
            };
            let text: String = indexes.iter().map(line).collect();
            jsonl::read(text.as_bytes(), &ReadOptions::default()).unwrap()
        };
        assert!(read(&[0, 1, 2]).check_form().is_ok());
        assert!(read(&[0, 0, 0]).check_form().is_ok(), "not numbered yet");
        assert_eq!(
            read(&[0, 1, 3]).check_form().unwrap_err().to_string(),
            "line 3: index 3 where 2 was expected"
        );
        assert_eq!(read(&[4, 5]).check_form().unwrap_err().line, 1);
        let mut history = read(&[0, 1, 3]);
        history.sort();
        assert!(history.check_form().is_ok(), "sorting numbers anew");
    }
}
