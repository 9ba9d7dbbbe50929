use std::{future::Future, time::Duration};

use serde_json::{Value, json};

use super::{Phase, client::Client, journal::subject};
use crate::{
    api::resource::{Op, Reply, Request},
    env::Env,
    error::{OpError, OpResult},
    primitive::{Grant, Lost},
};

/// A grant in use.
pub(super) struct Hold {
    pub(super) lock: String,
    pub(super) grant: Grant,
    pub(super) lost: Option<Lost>,
}

impl Hold {
    /// Gives an operation up at the deadline: a client that waits for an answer must not go on believing meanwhile.
    /// (The outcome is indeterminate, which retires the process and ends the hold.)
    pub(super) async fn until_deadline<T>(
        &self,
        env: &Env,
        operation: impl Future<Output = OpResult<T>>,
    ) -> OpResult<T> {
        let Some(deadline) = self.grant.deadline else { return operation.await };
        let left = Duration::from_nanos(deadline.saturating_sub(env.now()));
        let late = |_| OpError::Indeterminate("no answer before the deadline".into());
        env.timeout(left, operation).await.map_err(late)?
    }
}

/// Whether the client may go on in its critical section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belief {
    /// It still believes that it holds the lock.
    Holds,
    /// It learned, or concluded, that it does not.
    Lapsed,
}

impl Client {
    /// Waits inside a critical section: ends early at the deadline, when the grant is lost, or when the run goes on to another phase.
    pub(super) async fn pause(&mut self, hold: &Hold, duration: Duration) -> Belief {
        let phase = self.journal.control.phase();
        let next = if phase == Phase::Run { Phase::Liveness } else { Phase::Stop };
        let left =
            hold.grant.deadline.map(|deadline| Duration::from_nanos(deadline.saturating_sub(self.env.now())));
        let sleep = self.env.sleep(left.map_or(duration, |left| left.min(duration)));
        let lost = async {
            match &hold.lost {
                Some(lost) => lost.raised().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = lost => {}
            () = self.journal.control.reached(next), if phase < Phase::Stop => {}
            () = sleep => {}
        }
        self.look(hold)
    }

    /// Compares the client's belief with its clock and with what it was told; notes a lapse.
    pub(super) fn look(&mut self, hold: &Hold) -> Belief {
        let cause = if hold.lost.as_ref().is_some_and(Lost::is_raised) {
            "notified"
        } else if hold.grant.deadline.is_some_and(|deadline| self.env.now() >= deadline) {
            "deadline"
        } else {
            return Belief::Holds;
        };
        self.lapse(hold, cause)
    }

    pub(super) fn lapse(&mut self, hold: &Hold, cause: &str) -> Belief {
        self.journal.lapse(&hold.lock, hold.grant.token, cause);
        Belief::Lapsed
    }

    /// Reads the resource, works for `work`, and writes what it read on. The client looks at its deadline before the write.
    /// A failed read or write ends nothing; a refused one tells the client that its grant is stale.
    pub(super) async fn read_modify_write(&mut self, hold: &Hold, work: Duration) -> OpResult<Belief> {
        let Some(read) = self.read(hold).await? else { return Ok(self.pause(hold, work).await) };
        if read.fenced_refused {
            return Ok(self.lapse(hold, "refused"));
        }
        if self.pause(hold, work).await == Belief::Lapsed {
            return Ok(Belief::Lapsed);
        }
        match self.write(hold, &read).await? {
            Some(written) if written.fenced_refused => Ok(self.lapse(hold, "refused")),
            _ => Ok(self.look(hold)),
        }
    }

    async fn read(&mut self, hold: &Hold) -> OpResult<Option<Reply>> {
        let value = subject(&hold.lock, hold.grant.token);
        self.request(
            hold,
            "read",
            value,
            Op::Read,
            |reply| json!({ "seq": reply.seq, "unfenced": reply.unfenced, "fenced": reply.fenced }),
        )
        .await
    }

    async fn write(&mut self, hold: &Hold, read: &Reply) -> OpResult<Option<Reply>> {
        self.writes += 1;
        let id = format!("{}-{}", self.journal.process, self.writes);
        let mut value = subject(&hold.lock, hold.grant.token);
        value["id"] = json!(id);
        let (unfenced_base, fenced_base) = (read.unfenced.clone(), read.fenced.clone());
        let op = match self.info.checks_then_sets {
            true => Op::Set { id, unfenced_base, fenced_base },
            false => Op::Write { id, unfenced_base, fenced_base },
        };
        self.request(hold, "write", value, op, |reply| json!({ "seq": reply.seq })).await
    }

    /// One request to the resource; `None` if it certainly failed.
    async fn request(
        &mut self,
        hold: &Hold,
        f: &str,
        value: Value,
        op: Op,
        describe: impl FnOnce(&Reply) -> Value,
    ) -> OpResult<Option<Reply>> {
        let request =
            Request { lock: hold.lock.clone(), process: self.journal.process, token: hold.grant.token, op };
        let described = |reply: &Reply| {
            let mut fields = describe(reply);
            if reply.fenced_refused {
                fields["fenced_refused"] = json!(true);
            }
            fields
        };
        let sent = hold.until_deadline(&self.env, self.resource.request(request));
        Client::settled(self.journal.run(f, value, sent, described).await)
    }
}
