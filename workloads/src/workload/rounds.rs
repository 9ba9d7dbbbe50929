use history::Action;
use serde_json::json;

use super::{
    Phase,
    client::Client,
    hold::{Hold, describe},
    journal::subject,
    steps::{Steps, Work},
};
use crate::{error::OpResult, primitive::Leader};

impl Steps for Client {
    fn pick(&self) -> String {
        let locks = self.config.locks();
        locks[(self.env.random() % locks.len() as u64) as usize].clone()
    }

    fn draw(&self) -> u64 {
        self.env.random()
    }

    fn short_work(&self) -> Work {
        Work::Once(self.worker.draw_percent(self.config.rates.hold_percent))
    }

    fn long_work(&self) -> Work {
        let span = match self.journal.control.phase() {
            Phase::Run => self.config.rates.lease_hold_percent,
            _ => self.config.rates.hold_percent,
        };
        Work::For(self.worker.draw_percent(span))
    }

    async fn acquire(&mut self, action: Action, lock: &str) -> OpResult<Option<Hold>> {
        let wait = self.worker.draw_percent(self.config.rates.wait_percent);
        let operation = self.instance.acquire(lock, wait);
        let granted = self.journal.settle(action, subject(lock, None), operation, describe).await?;
        self.failures = if granted.is_some() { 0 } else { self.failures + 1 };
        Ok(granted.map(|grant| Hold::new(lock, grant, self.instance.lost())))
    }

    async fn use_up(&mut self, hold: Hold, work: Work, release: Action) -> OpResult<()> {
        let Client { worker, keepalive, instance, info, .. } = self;
        let worked = keepalive.beside(instance, &hold, worker.work(&hold, work)).await;
        match worked {
            Err(unclear) if info.aware => Err(unclear),
            _ => self.release(release, &hold).await,
        }
    }

    async fn observe(&mut self, name: &str) -> OpResult<()> {
        let operation = self.instance.observe(name);
        let described = |leader: &Option<Leader>| match leader {
            Some(leader) => json!({ "leader": leader.id, "token": leader.token }),
            None => json!({ "leader": null }),
        };
        self.journal.settle(Action::Observe, subject(name, None), operation, described).await?;
        Ok(())
    }
}

impl Client {
    /// Releases or resigns. Whatever comes of it, the client no longer believes.
    async fn release(&mut self, action: Action, hold: &Hold) -> OpResult<()> {
        let operation = self.instance.release(&hold.lock);
        let value = subject(&hold.lock, hold.token());
        self.journal.settle(action, value, operation, |()| json!({})).await?;
        Ok(())
    }
}
