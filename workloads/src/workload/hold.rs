use std::{
    cell::{Ref, RefCell},
    time::Duration,
};

use history::Action;
use serde_json::{Value, json};

use super::journal::{Journal, merged, subject};
use crate::{
    env::Env,
    primitive::{Grant, Lost},
};

/// A grant in use, by the worker and by the keepalive beside it. It outlives the process number under which it was
/// acquired: a client that goes on after an operation in doubt goes on with it.
pub(super) struct Hold {
    pub(super) lock: String,
    /// As acquired or renewed last.
    grant: RefCell<Grant>,
    /// Raised by the service.
    lost: Option<Lost>,
    /// Raised once the client no longer believes that it holds the lock, and has said so.
    over: Lost,
}

/// Whether the client may go on in its critical section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belief {
    /// It still believes that it holds the lock.
    Holds,
    /// It learned, or concluded, that it does not.
    Lapsed,
}

impl Hold {
    pub(super) fn new(lock: &str, grant: Grant, lost: Option<Lost>) -> Hold {
        Hold { lock: lock.into(), grant: RefCell::new(grant), lost, over: Lost::default() }
    }

    pub(super) fn grant(&self) -> Ref<'_, Grant> {
        self.grant.borrow()
    }

    pub(super) fn token(&self) -> Option<u64> {
        self.grant.borrow().token
    }

    /// Until when the client may rely on it, where it looks.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.grant.borrow().deadline
    }

    /// Whether the client still believes, as far as it has looked.
    pub(super) fn believed(&self) -> bool {
        !self.over.is_raised()
    }

    /// Completes when there is something to look at: the service says that the grant is lost, or the client has given it up.
    pub(super) async fn ended(&self) {
        let lost = async {
            match &self.lost {
                Some(lost) => lost.raised().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.over.raised() => {}
            () = lost => {}
        }
    }

    /// Waits for `duration`, or until the deadline, which a renewal may put off meanwhile.
    pub(super) async fn wait(&self, env: &Env, duration: Duration) {
        let end = env.now() + duration.as_nanos() as u64;
        loop {
            let until = self.deadline().map_or(end, |deadline| deadline.min(end));
            let Some(left) = until.checked_sub(env.now()).filter(|left| *left > 0) else { return };
            env.sleep(Duration::from_nanos(left)).await;
        }
    }

    /// The fields that name the grant.
    fn name(&self) -> Value {
        let mut name = subject(&self.lock, self.token());
        if let Some(lease) = &self.grant.borrow().lease {
            name["lease"] = json!(lease);
        }
        name
    }
}

impl Journal {
    /// Compares the client's belief with its clock and with what it was told; notes a lapse.
    pub(super) fn look(&self, hold: &Hold) -> Belief {
        if !hold.believed() {
            Belief::Lapsed
        } else if hold.lost.as_ref().is_some_and(Lost::is_raised) {
            self.lapse(hold, "notified")
        } else if hold.deadline().is_some_and(|deadline| self.env.now() >= deadline) {
            self.lapse(hold, "deadline")
        } else {
            Belief::Holds
        }
    }

    /// The client no longer believes that it holds the lock.
    pub(super) fn lapse(&self, hold: &Hold, cause: &str) -> Belief {
        if hold.believed() {
            hold.over.raise();
            self.at_once(Action::Lapse, merged(hold.name(), json!({ "cause": cause })));
        }
        Belief::Lapsed
    }

    /// The service renewed the grant.
    pub(super) fn renewed(&self, hold: &Hold, grant: Grant) {
        let fields = describe(&grant);
        *hold.grant.borrow_mut() = grant;
        self.at_once(Action::Renewed, merged(hold.name(), fields));
    }
}

/// The fields of a grant that the recipe has.
pub(super) fn describe(grant: &Grant) -> Value {
    let mut fields = serde_json::Map::new();
    let mut put = |name: &str, value: Option<Value>| value.map(|value| fields.insert(name.into(), value));
    put("token", grant.token.map(Value::from));
    put("ttl_ms", grant.ttl.map(|ttl| Value::from(ttl.as_millis() as u64)));
    put("asked_ns", grant.asked.map(Value::from));
    put("deadline_ns", grant.deadline.map(Value::from));
    put("lease", grant.lease.clone().map(Value::from));
    Value::Object(fields)
}
