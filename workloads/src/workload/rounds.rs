//! What a client does in one round of each workload.

use serde_json::json;

use super::{Phase, client::Client, hold::Hold, journal::subject, worker::Work};
use crate::error::OpResult;

/// In one round of this many, a client of an election only looks who leads.
const OBSERVE_ONE_IN: u64 = 4;

impl Client {
    /// Acquire, read, work, write, release.
    pub(super) async fn lock_round(&mut self) -> OpResult<()> {
        let lock = self.pick();
        let Some(hold) = self.acquire("acquire", &lock).await? else { return Ok(()) };
        let work = Work::Once(self.worker.draw_percent(self.config.rates.hold_percent));
        self.use_up(hold, work, "release").await
    }

    /// Acquire, hold over several TTLs with renewals, writing regularly, release.
    pub(super) async fn lease_round(&mut self) -> OpResult<()> {
        let lock = self.pick();
        let Some(hold) = self.acquire("acquire", &lock).await? else { return Ok(()) };
        let work = self.long_work();
        self.use_up(hold, work, "release").await
    }

    /// Look who leads; or campaign, work while leading, resign.
    pub(super) async fn election_round(&mut self) -> OpResult<()> {
        let name = self.pick();
        if self.env.random().is_multiple_of(OBSERVE_ONE_IN) {
            return self.observe(&name).await;
        }
        let Some(hold) = self.acquire("campaign", &name).await? else { return Ok(()) };
        let work = self.long_work();
        self.use_up(hold, work, "resign").await
    }

    /// Works under a grant while it is kept alive, and gives it back, whatever came of the work: an exception leaves a
    /// critical section by way of the release. Only a client that has given its grant up in doubt leaves it to run out.
    /// Either way it holds nothing after that, and never acquires what it holds.
    async fn use_up(&mut self, hold: Hold, work: Work, release: &str) -> OpResult<()> {
        let Client { worker, keepalive, instance, info, .. } = self;
        let worked = keepalive.beside(instance, &hold, worker.work(&hold, work)).await;
        match worked {
            Err(unclear) if info.aware => Err(unclear),
            _ => self.release(release, &hold).await,
        }
    }

    fn long_work(&self) -> Work {
        let span = match self.journal.control.phase() {
            Phase::Run => self.config.rates.lease_hold_percent,
            _ => self.config.rates.hold_percent,
        };
        Work::For(self.worker.draw_percent(span))
    }

    async fn observe(&mut self, name: &str) -> OpResult<()> {
        let operation = self.instance.observe(name);
        let described = |leader: &Option<crate::primitive::Leader>| match leader {
            Some(leader) => json!({ "leader": leader.id, "token": leader.token }),
            None => json!({ "leader": null }),
        };
        self.journal.settle("observe", subject(name, None), operation, described).await?;
        Ok(())
    }
}
