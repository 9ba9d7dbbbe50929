use rustc_hash::FxHashMap;

use super::{Action, EventKind, Flaw, History, IllFormed, Process, Row, Words};

/// What a client process may do next.
#[derive(Clone, Copy)]
enum State<'h> {
    Idle,
    Pending(Row<'h>),
    Retired(u64),
}

impl History {
    /// Whether each process invokes only when idle, completes what it invoked and never returns after an `info`,
    /// and whether the indexes, if the source gave any, increase. The nemesis' events may be of any kind and
    /// come in any number. Notices ([`Action::NOTICES`]) may come at any moment until their process is retired.
    ///
    /// # Errors
    /// The first event that breaks a rule.
    pub fn check_form(&self) -> Result<(), IllFormed> {
        let notices = Words::new(self, Action::NOTICES.map(Action::name));
        let mut states: FxHashMap<u32, State<'_>> = FxHashMap::default();
        let backwards = self.indexes().backwards();
        for row in self.rows() {
            if let Some((_, index)) = backwards.filter(|&(position, _)| position == row.index() as u64) {
                return Err(row.ill(Flaw::IndexBackwards { index }));
            }
            let Process::Client(process) = row.process() else { continue };
            let state = states.entry(process).or_insert(State::Idle);
            let is_notice = notices.operation(row).is_some();
            *state = step(process, *state, row, is_notice).map_err(|flaw| row.ill(flaw))?;
        }
        Ok(())
    }

    /// Whether every event has its time, and the indexes, if there are any, are dense, as our own recorder gives them: of
    /// one that breaks this rule something was lost. To be asked before the events are sorted.
    ///
    /// # Errors
    /// The first event that breaks a rule.
    pub fn check_recorded(&self) -> Result<(), IllFormed> {
        if let Some((position, index)) = self.indexes().broken() {
            let row = self.row(position as usize);
            return Err(row.ill(Flaw::IndexLost { index, expected: row.index() }));
        }
        let untimed = self.rows().find(|row| !row.is_timed());
        untimed.map_or(Ok(()), |row| Err(row.ill(Flaw::Untimed)))
    }
}

impl Row<'_> {
    /// This event is wrong.
    pub(super) fn ill(self, flaw: Flaw) -> IllFormed {
        IllFormed { line: self.line(), index: self.index(), flaw }
    }
}

fn step<'h>(process: u32, state: State<'h>, row: Row<'h>, is_notice: bool) -> Result<State<'h>, Flaw> {
    match (state, row.kind()) {
        (State::Idle | State::Pending(_), _) if is_notice => Ok(state),
        (State::Idle, EventKind::Invoke) => Ok(State::Pending(row)),
        (State::Pending(invoke), kind) if kind != EventKind::Invoke && invoke.f_id() == row.f_id() => {
            Ok(if kind == EventKind::Info { State::Retired(row.line()) } else { State::Idle })
        }
        _ => Err(refusal(Process::Client(process), state, row)),
    }
}

fn refusal(process: Process, state: State<'_>, row: Row<'_>) -> Flaw {
    let f = row.f().to_owned();
    match state {
        State::Retired(line) => Flaw::Retired { process, line },
        State::Idle => Flaw::NotInvoked { process, f },
        State::Pending(invoke) => {
            let (pending, line) = (invoke.f().to_owned(), invoke.line());
            match row.kind() {
                EventKind::Invoke => Flaw::StillPending { process, f, pending, line },
                _ => Flaw::OtherInvoked { process, f, pending, line },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, edn, jsonl};

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
    fn notices_come_beside_what_is_pending_until_the_process_is_retired() {
        let (invoke, renewed) =
            (("0", "invoke", "read"), [("0", "invoke", "renewed"), ("0", "ok", "renewed")]);
        verdict(&[
            invoke,
            renewed[0],
            renewed[1],
            ("0", "ok", "lapse"),
            ("0", "info", "lapse"),
            ("0", "ok", "read"),
        ])
        .unwrap();
        let late = verdict(&[invoke, ("0", "info", "read"), renewed[0]]).unwrap_err();
        assert_eq!(late.to_string(), "line 3: process 0 was retired by the info on line 2");
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
        for sound in [&[0, 1, 2][..], &[0, 0, 0], &[7]] {
            let recorded = read(sound).check_recorded();
            assert_eq!((recorded.is_ok(), read(sound).check_form()), (*sound != [7], Ok(())), "{sound:?}");
        }
        let told = |indexes: &[u64]| read(indexes).check_recorded().unwrap_err().to_string();
        assert_eq!(told(&[0, 1, 3]), "line 3: index 3 where 2 was expected");
        assert_eq!(told(&[4, 5]), "line 1: index 4 where 0 was expected");
        let mut history = read(&[0, 1, 3]);
        history.sort();
        assert!(history.check_recorded().is_ok(), "sorting numbers anew");
    }

    #[test]
    fn indexes_of_others_increase() {
        let read = |indexes: &[i64]| {
            let line = |index| format!("{{:index {index} :process :nemesis :type :info :f :x}}\n");
            let text: String = indexes.iter().map(line).collect();
            edn::read(text.as_bytes(), &ReadOptions::default()).unwrap().check_form()
        };
        assert_eq!((read(&[1, 2, 3]), read(&[40, 47, 90]), read(&[-1, -1, 0, -1])), (Ok(()), Ok(()), Ok(())));
        for wrong in [&[1, 2, 2][..], &[5, 3], &[0, 9, -1, 4]] {
            let line = if wrong.len() == 2 { 2 } else { wrong.len() as u64 };
            assert_eq!(read(wrong).unwrap_err().line, line, "{wrong:?}");
        }
    }

    #[test]
    fn what_our_recorder_writes_has_its_times() {
        let text = "{\"time\":0,\"process\":0,\"type\":\"invoke\",\"f\":\"x\"}\n{\"process\":0,\"type\":\"ok\",\"f\":\"x\"}\n";
        let history = jsonl::read(text.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(history.check_form(), Ok(()));
        assert_eq!(history.check_recorded().unwrap_err().to_string(), "line 2: the event has no time");
    }
}
