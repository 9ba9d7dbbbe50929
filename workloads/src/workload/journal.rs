use std::{cell::Cell, future::Future, rc::Rc, time::Duration};

use history::{Action, Event, EventKind, Process};
use serde_json::{Value, json};

use super::{Control, EventSink, Phase};
use crate::{
    env::Env,
    error::{OpError, OpResult},
};

/// Writes one client's events, and sees to it that every operation ends exactly once.
pub(super) struct Journal {
    pub(super) env: Env,
    pub(super) control: Control,
    pub(super) sink: Rc<dyn EventSink>,
    pub(super) node: String,
    /// The process number now.
    pub(super) process: Cell<u32>,
    /// What is added to the process number when it is retired.
    pub(super) clients: u32,
    /// How long an operation may go on once the client is told to stop.
    pub(super) stop_limit: Duration,
}

impl Journal {
    /// Runs one operation: its invocation, and its completion, whose value is the invocation's with `describe`'s fields over it.
    /// An indeterminate outcome retires the process number.
    async fn run<T>(
        &self,
        action: Action,
        value: Value,
        operation: impl Future<Output = OpResult<T>>,
        describe: impl FnOnce(&T) -> Value,
    ) -> OpResult<T> {
        self.record(self.env.now(), EventKind::Invoke, action, value.clone(), None);
        let outcome = self.until_given_up(operation).await;
        let time = self.env.now();
        match &outcome {
            Ok(result) => self.record(time, EventKind::Ok, action, merged(value, describe(result)), None),
            Err(OpError::Definite(why)) => self.record(time, EventKind::Fail, action, value, Some(why)),
            Err(OpError::Indeterminate(why)) => {
                self.record(time, EventKind::Info, action, value, Some(why));
                self.process.set(self.process() + self.clients);
            }
        }
        outcome
    }

    /// The same. A definite failure is settled: nothing happened, the client goes on (`None`).
    pub(super) async fn settle<T>(
        &self,
        action: Action,
        value: Value,
        operation: impl Future<Output = OpResult<T>>,
        describe: impl FnOnce(&T) -> Value,
    ) -> OpResult<Option<T>> {
        match self.run(action, value, operation, describe).await {
            Ok(result) => Ok(Some(result)),
            Err(OpError::Definite(_)) => Ok(None),
            Err(indeterminate) => Err(indeterminate),
        }
    }

    /// Something that the client learned or concluded, both ends at one instant; perhaps while an operation is pending.
    pub(super) fn at_once(&self, action: Action, value: Value) {
        let time = self.env.now();
        self.record(time, EventKind::Invoke, action, value.clone(), None);
        self.record(time, EventKind::Ok, action, value, None);
    }

    /// The process number now.
    pub(super) fn process(&self) -> u32 {
        self.process.get()
    }

    async fn until_given_up<T>(&self, operation: impl Future<Output = OpResult<T>>) -> OpResult<T> {
        let given_up = async {
            self.control.reached(Phase::Stop).await;
            self.env.sleep(self.stop_limit).await;
        };
        tokio::select! {
            biased;
            outcome = operation => outcome,
            () = given_up => Err(OpError::Indeterminate("given up at the end of the run".into())),
        }
    }

    fn record(&self, time: u64, kind: EventKind, action: Action, value: Value, error: Option<&String>) {
        let (process, node) = (Process::Client(self.process()), Some(self.node.clone()));
        self.sink.record(Event {
            index: 0,
            time,
            process,
            node,
            kind,
            f: action.name().into(),
            value,
            error: error.map(|why| clipped(why)),
        });
    }
}

/// A server may say anything; its words are for people, who need not read more than so many characters.
const WORDS_MAX: usize = 1000;

fn clipped(words: &str) -> String {
    match words.char_indices().nth(WORDS_MAX) {
        None => words.into(),
        Some((end, _)) => format!("{}… ({} bytes in all)", &words[..end], words.len()),
    }
}

/// `{"lock":…,"token":…}`, the token only where there is one.
pub(super) fn subject(lock: &str, token: Option<u64>) -> Value {
    match token {
        Some(token) => json!({ "lock": lock, "token": token }),
        None => json!({ "lock": lock }),
    }
}

/// `value` with the fields of `more` over it.
pub(super) fn merged(mut value: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut value, more) {
        fields.extend(more);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_told_in_a_thousand_characters() {
        let short = "é".repeat(WORDS_MAX);
        assert_eq!(clipped(&short), short);
        let long = "é".repeat(1 << 20);
        assert_eq!(clipped(&long), format!("{short}… (2097152 bytes in all)"));
    }
}
