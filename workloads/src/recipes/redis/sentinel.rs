//! The lock of one server, on the primary that sentinels name.
//!
//! Source: redis.io, "Sentinel client spec" (ask the sentinels in order; see by `ROLE` that it is a primary; ask again
//! after a lost connection) and `WAIT`, whose page says that it does not make Redis strongly consistent: a replica that
//! lacks the lock may be promoted all the same.

use std::time::Duration;

use async_trait::async_trait;

use super::set_nx::SetNx;
use crate::{
    api::{Endpoint, redis::Role},
    error::{OpError, OpResult},
    primitive::{Grant, Lock},
    recipes::Context,
};

/// `redis/set-nx-fenced` on whichever server is the primary.
pub(super) struct SentinelLock {
    context: Context,
    lock: SetNx,
    /// Whether `lock` talks to a server that was a primary when it was found.
    found: bool,
}

impl SentinelLock {
    pub(super) fn new(context: Context) -> SentinelLock {
        let lock = SetNx::new(context.clone(), true);
        SentinelLock { context, lock, found: false }
    }

    /// Finds the primary, unless the connection to the last one still stands. Nothing has been asked of it yet, so
    /// every failure here is definite.
    async fn find_primary(&mut self) -> OpResult<()> {
        if self.found && self.lock.usable() {
            return Ok(());
        }
        self.found = false;
        let primary = self.ask_sentinels().await?;
        self.lock.talk_to(&primary);
        let nothing_done = |error| OpError::Definite(format!("{} is not used: {error}", primary.node));
        let connection = self.lock.connection().await.map_err(nothing_done)?;
        match connection.role().await.map_err(nothing_done)? {
            Role::Primary => self.found = true,
            Role::Replica => return Err(OpError::Definite(format!("{} is a replica", primary.node))),
        }
        Ok(())
    }

    /// The primary that the first sentinel names which answers.
    async fn ask_sentinels(&self) -> OpResult<Endpoint> {
        let limit = self.context.limit / self.context.endpoints.len() as u32;
        let mut last = OpError::Definite("no sentinel".into());
        for beside in &self.context.endpoints {
            let asked = async { self.context.stores.sentinel(beside, limit).await?.primary().await };
            match asked.await {
                Ok(address) => {
                    let named = self.context.endpoints.iter().find(|server| server.addr == address).cloned();
                    let unknown = || OpError::Definite(format!("{address} is none of the servers"));
                    return named.ok_or_else(unknown);
                }
                Err(error) => last = error,
            }
        }
        Err(OpError::Definite(format!("no sentinel names a primary: {last}")))
    }

    /// Whether enough replicas have the lock that was just granted. If not, it is given up.
    async fn replicated(&mut self, name: &str) -> OpResult<()> {
        let wanted = self.context.number("wait_replicas");
        if wanted == 0 {
            return Ok(());
        }
        // A wait that outlasts the call's own limit would have no answer.
        let limit = self.context.millis("wait_ms").min(self.context.limit / 2);
        let waited = match self.lock.connection().await {
            Ok(primary) => primary.wait(wanted, limit).await,
            Err(error) => Err(error),
        };
        let short = match waited {
            Ok(count) if count >= wanted => return Ok(()),
            Ok(count) => format!("{count} of {wanted} replicas have it"),
            Err(error) => format!("nobody knows how many replicas have it: {error}"),
        };
        // Not ours any more is as good as given up; unsent, refused or without an answer it may still be ours.
        match self.lock.give_up(name).await {
            Ok(_) => Err(OpError::Definite(short)),
            Err(error) => Err(OpError::Indeterminate(format!("{short}; not given up: {error}"))),
        }
    }
}

#[async_trait(?Send)]
impl Lock for SentinelLock {
    async fn acquire(&mut self, name: &str, wait: Duration) -> OpResult<Grant> {
        self.find_primary().await?;
        let grant = self.lock.acquire(name, wait).await?;
        self.replicated(name).await?;
        Ok(grant)
    }

    async fn renew(&mut self, name: &str) -> OpResult<Grant> {
        self.lock.renew(name).await
    }

    async fn release(&mut self, name: &str) -> OpResult<()> {
        self.lock.release(name).await
    }

    /// The next acquire looks for the primary anew.
    fn usable(&self) -> bool {
        true
    }
}
