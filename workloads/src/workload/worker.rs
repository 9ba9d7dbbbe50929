//! What a client does while it holds: its critical section on the protected resource.

use std::{rc::Rc, time::Duration};

use history::Action;
use serde_json::{Value, json};

use super::{
    ClientConfig, Phase,
    hold::{Belief, Hold},
    journal::{Journal, subject},
    resource::Resource,
    steps::Work,
};
use crate::{
    api::resource::{Op, Reply, Request},
    env::Env,
    error::OpResult,
    recipes::RecipeInfo,
};

/// The part of a client that works while its keepalive renews.
pub(super) struct Worker {
    pub(super) env: Env,
    pub(super) config: Rc<ClientConfig>,
    pub(super) info: &'static RecipeInfo,
    pub(super) journal: Rc<Journal>,
    pub(super) resource: Resource,
    pub(super) writes: u64,
}

impl Worker {
    /// Works until it is done or the client no longer believes. A request to the resource in doubt ends it in failure,
    /// as an exception would. A client that looks at its clock gives its grant up then: what it sent may still arrive,
    /// and it must not let another in before that.
    pub(super) async fn work(&mut self, hold: &Hold, work: Work) -> OpResult<()> {
        let worked = match work {
            Work::Once(time) => self.read_modify_write(hold, time).await.map(|_| ()),
            Work::For(time) => self.write_on(hold, time).await,
        };
        if worked.is_err() && self.info.aware {
            self.journal.lapse(hold, "unclear");
        }
        worked
    }

    async fn write_on(&mut self, hold: &Hold, time: Duration) -> OpResult<()> {
        let phase = self.journal.control.phase();
        let end = self.env.now() + time.as_nanos() as u64;
        while self.env.now() < end && self.journal.control.phase() == phase {
            let work = self.draw_ms(self.config.rates.write_every_ms);
            if self.read_modify_write(hold, work).await? == Belief::Lapsed {
                break;
            }
        }
        Ok(())
    }

    /// Reads the resource, works for `work`, and writes what it read on. A client that looks at its clock does so before
    /// the write. A failed read or write ends nothing; a refused one tells the client that its grant is stale.
    async fn read_modify_write(&mut self, hold: &Hold, work: Duration) -> OpResult<Belief> {
        let Some(read) = self.read(hold).await? else { return Ok(self.pause(hold, work).await) };
        if read.fenced_refused {
            return Ok(self.journal.lapse(hold, "refused"));
        }
        if self.pause(hold, work).await == Belief::Lapsed {
            return Ok(Belief::Lapsed);
        }
        match self.write(hold, &read).await? {
            Some(written) if written.fenced_refused => Ok(self.journal.lapse(hold, "refused")),
            _ => Ok(self.journal.look(hold)),
        }
    }

    /// Waits inside a critical section: ends early at the deadline, when the grant is lost, or when the run goes on to another phase.
    async fn pause(&self, hold: &Hold, duration: Duration) -> Belief {
        let phase = self.journal.control.phase();
        let next = if phase == Phase::Run { Phase::Liveness } else { Phase::Stop };
        tokio::select! {
            biased;
            () = hold.ended() => {}
            () = self.journal.control.reached(next), if phase < Phase::Stop => {}
            () = hold.wait(&self.env, duration) => {}
        }
        self.journal.look(hold)
    }

    async fn read(&mut self, hold: &Hold) -> OpResult<Option<Reply>> {
        let value = subject(&hold.lock, hold.token());
        self.request(
            hold,
            Action::Read,
            value,
            Op::Read,
            |reply| json!({ "seq": reply.seq, "unfenced": reply.unfenced, "fenced": reply.fenced }),
        )
        .await
    }

    async fn write(&mut self, hold: &Hold, read: &Reply) -> OpResult<Option<Reply>> {
        self.writes += 1;
        let id = format!("{}-{}", self.journal.process(), self.writes);
        let mut value = subject(&hold.lock, hold.token());
        value["id"] = json!(id);
        let (unfenced_base, fenced_base) = (read.unfenced.clone(), read.fenced.clone());
        let op = match self.info.checks_then_sets {
            true => Op::Set { id, unfenced_base, fenced_base },
            false => Op::Write { id, unfenced_base, fenced_base },
        };
        self.request(hold, Action::Write, value, op, |reply| json!({ "seq": reply.seq })).await
    }

    /// One request to the resource; `None` if it certainly failed.
    async fn request(
        &mut self,
        hold: &Hold,
        action: Action,
        value: Value,
        op: Op,
        describe: impl FnOnce(&Reply) -> Value,
    ) -> OpResult<Option<Reply>> {
        let (process, token) = (self.journal.process(), hold.token());
        let request = Request { lock: hold.lock.clone(), process, token, op };
        let described = |reply: &Reply| {
            let mut fields = describe(reply);
            if reply.fenced_refused {
                fields["fenced_refused"] = json!(true);
            }
            fields
        };
        self.journal.settle(action, value, self.resource.request(request), described).await
    }

    pub(super) fn draw_ms(&self, (from, to): (u64, u64)) -> Duration {
        self.env.random_between(Duration::from_millis(from), Duration::from_millis(to))
    }

    /// A share of the TTL.
    pub(super) fn draw_percent(&self, (from, to): (u64, u64)) -> Duration {
        let share = |percent: u64| self.config.ttl() * percent as u32 / 100;
        self.env.random_between(share(from), share(to))
    }
}
