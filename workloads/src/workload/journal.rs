use std::{future::Future, rc::Rc, time::Duration};

use checkers::history::{Event, EventKind, Process};
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
    pub(super) process: u32,
    /// What is added to the process number when it is retired.
    pub(super) clients: u32,
    /// How long an operation may go on once the client is told to stop.
    pub(super) stop_limit: Duration,
}

impl Journal {
    /// Runs one operation: its invocation, and its completion, whose value is the invocation's with `describe`'s fields over it.
    /// An indeterminate outcome retires the process number.
    pub(super) async fn run<T>(
        &mut self,
        f: &str,
        value: Value,
        operation: impl Future<Output = OpResult<T>>,
        describe: impl FnOnce(&T) -> Value,
    ) -> OpResult<T> {
        self.record(self.env.now(), EventKind::Invoke, f, value.clone(), None);
        let outcome = self.until_given_up(operation).await;
        let time = self.env.now();
        match &outcome {
            Ok(result) => self.record(time, EventKind::Ok, f, merged(value, describe(result)), None),
            Err(OpError::Definite(why)) => self.record(time, EventKind::Fail, f, value, Some(why)),
            Err(OpError::Indeterminate(why)) => {
                self.record(time, EventKind::Info, f, value, Some(why));
                self.process += self.clients;
            }
        }
        outcome
    }

    /// The client no longer believes that it holds the lock.
    pub(super) fn lapse(&self, lock: &str, token: Option<u64>, cause: &str) {
        let time = self.env.now();
        let value = merged(subject(lock, token), json!({ "cause": cause }));
        self.record(time, EventKind::Invoke, "lapse", value.clone(), None);
        self.record(time, EventKind::Ok, "lapse", value, None);
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

    fn record(&self, time: u64, kind: EventKind, f: &str, value: Value, error: Option<&String>) {
        let (process, node) = (Process::Client(self.process), Some(self.node.clone()));
        self.sink.record(Event {
            index: 0,
            time,
            process,
            node,
            kind,
            f: f.into(),
            value,
            error: error.cloned(),
        });
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
fn merged(mut value: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut value, more) {
        fields.extend(more);
    }
    value
}
