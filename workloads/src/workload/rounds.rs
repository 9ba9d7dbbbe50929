//! What a client does in one round of each workload.

use serde_json::json;

use super::{
    Phase,
    client::Client,
    hold::{Belief, Hold},
    journal::subject,
};
use crate::error::OpResult;

/// In one round of this many, a client of an election only looks who leads.
const OBSERVE_ONE_IN: u64 = 4;

impl Client {
    /// Acquire, read, work, write, release.
    pub(super) async fn lock_round(&mut self) -> OpResult<()> {
        let lock = self.pick();
        let Some(hold) = self.acquire("acquire", &lock).await? else { return Ok(()) };
        let work = self.draw_percent(self.config.rates.hold_percent);
        self.read_modify_write(&hold, work).await?;
        self.release("release", &hold).await
    }

    /// Acquire, hold over several TTLs with renewals, writing regularly, release.
    pub(super) async fn lease_round(&mut self) -> OpResult<()> {
        let lock = self.pick();
        let Some(hold) = self.acquire("acquire", &lock).await? else { return Ok(()) };
        let hold = self.work(hold).await?;
        self.release("release", &hold).await
    }

    /// Look who leads; or campaign, work while leading, resign.
    pub(super) async fn election_round(&mut self) -> OpResult<()> {
        let name = self.pick();
        if self.env.random().is_multiple_of(OBSERVE_ONE_IN) {
            return self.observe(&name).await;
        }
        let Some(hold) = self.acquire("campaign", &name).await? else { return Ok(()) };
        let hold = self.work(hold).await?;
        self.release("resign", &hold).await
    }

    async fn observe(&mut self, name: &str) -> OpResult<()> {
        let operation = self.instance.observe(name);
        let outcome = self.journal.run("observe", subject(name, None), operation, |leader| match leader {
            Some(leader) => json!({ "leader": leader.id, "token": leader.token }),
            None => json!({ "leader": null }),
        });
        Client::settled(outcome.await)?;
        Ok(())
    }

    /// Writes and renews until the hold's time is over, the client no longer believes, or the phase changes.
    async fn work(&mut self, mut hold: Hold) -> OpResult<Hold> {
        let phase = self.journal.control.phase();
        let span = match phase {
            Phase::Run => self.config.rates.lease_hold_percent,
            _ => self.config.rates.hold_percent,
        };
        let end = self.env.now() + self.draw_percent(span).as_nanos() as u64;
        let mut renew_at = self.renewal(&hold);
        while self.env.now() < end && self.journal.control.phase() == phase {
            if self.env.now() >= renew_at {
                renew_at = match self.renew(&hold).await? {
                    Some(grant) => {
                        hold.grant = grant;
                        self.renewal(&hold)
                    }
                    None if self.info.aware => {
                        self.lapse(&hold, "notified");
                        return Ok(hold);
                    }
                    // As published: it notes the failure, renews no more, and goes on.
                    None => u64::MAX,
                };
            }
            let work = self.draw_ms(self.config.rates.write_every_ms);
            if self.read_modify_write(&hold, work).await? == Belief::Lapsed {
                return Ok(hold);
            }
        }
        Ok(hold)
    }

    /// When to renew next, on the run's clock.
    fn renewal(&self, hold: &Hold) -> u64 {
        let asked = hold.grant.asked.unwrap_or_else(|| self.env.now());
        let ttl = hold.grant.ttl.unwrap_or_else(|| self.config.ttl());
        asked + (ttl * self.config.rates.renew_at_percent as u32 / 100).as_nanos() as u64
    }
}
