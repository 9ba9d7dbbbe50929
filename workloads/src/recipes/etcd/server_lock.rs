//! The server's own lock and election services, with a lease of ours.

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;

use super::leases::{Kept, Leases};
use crate::{
    api::etcd::{LeaderKey, Range},
    error::{OpError, OpResult},
    primitive::{Election, Grant, Leader, Lock},
    recipes::{Context, context::owner_of},
};

/// `v3lock` and `v3election`.
pub(super) struct ServerLock {
    leases: Leases,
    held: BTreeMap<String, Held>,
}

struct Held {
    lease: Kept,
    leader: LeaderKey,
}

impl ServerLock {
    pub(super) fn new(context: Context, aware: bool) -> ServerLock {
        ServerLock { leases: Leases::new(context, aware), held: BTreeMap::new() }
    }

    /// Waits in the server's queue. The token is our key's create revision, read back:
    /// the revision in the answer's header is not ours alone.
    async fn lock(&mut self, name: &str, lease: &mut Kept, wait: Duration) -> OpResult<LeaderKey> {
        let etcd = self.leases.etcd().await?;
        let locked = self.leases.keep_during(lease, etcd.lock(&prefix(name), lease.id, wait)).await?;
        let found = etcd.range(Range { key: locked.key.clone(), prefix: false }).await?;
        let lost = || OpError::Definite("granted by the server, but the key is gone".into());
        let rev = found.keys.first().ok_or_else(lost)?.create_revision;
        Ok(LeaderKey { name: prefix(name), key: locked.key, rev, lease: lease.id })
    }

    async fn lead(&mut self, name: &str, lease: &mut Kept, wait: Duration) -> OpResult<LeaderKey> {
        let etcd = self.leases.etcd().await?;
        let value = self.leases.context.unique();
        self.leases.keep_during(lease, etcd.campaign(&prefix(name), lease.id, &value, wait)).await
    }

    async fn granted(&mut self, name: &str, lease: Kept, outcome: OpResult<LeaderKey>) -> OpResult<Grant> {
        match outcome {
            Ok(leader) => {
                let grant = self.leases.promise(&lease, leader.rev);
                self.held.insert(name.to_string(), Held { lease, leader });
                Ok(grant)
            }
            Err(failure) => Err(self.leases.abandon(&lease, failure).await),
        }
    }

    fn held(&mut self, name: &str) -> OpResult<Held> {
        self.held.remove(name).ok_or_else(|| OpError::Definite("not held".into()))
    }

    /// Ends the lease behind a key that has been given back. If it was gone, so was the key.
    async fn end(&mut self, lease: &Kept) -> OpResult<()> {
        match self.leases.etcd().await?.lease_revoke(lease.id).await {
            Ok(false) => Err(OpError::Definite("no longer ours".into())),
            // A lease without keys grants nothing, whether or not it lives on.
            Ok(true) | Err(_) => Ok(()),
        }
    }

    async fn keep(&mut self, name: &str) -> OpResult<Grant> {
        let mut held = self.held(name)?;
        self.leases.keep(&mut held.lease).await?;
        let grant = self.leases.promise(&held.lease, held.leader.rev);
        self.held.insert(name.to_string(), held);
        Ok(grant)
    }
}

#[async_trait(?Send)]
impl Lock for ServerLock {
    async fn acquire(&mut self, name: &str, wait: Duration) -> OpResult<Grant> {
        let mut lease = self.leases.grant().await?;
        let outcome = self.lock(name, &mut lease, wait).await;
        self.granted(name, lease, outcome).await
    }

    async fn renew(&mut self, name: &str) -> OpResult<Grant> {
        self.keep(name).await
    }

    async fn release(&mut self, name: &str) -> OpResult<()> {
        let held = self.held(name)?;
        self.leases.etcd().await?.unlock(&held.leader.key).await?;
        self.end(&held.lease).await
    }

    fn usable(&self) -> bool {
        self.leases.usable()
    }
}

#[async_trait(?Send)]
impl Election for ServerLock {
    async fn campaign(&mut self, name: &str, wait: Duration) -> OpResult<Grant> {
        let mut lease = self.leases.grant().await?;
        let outcome = self.lead(name, &mut lease, wait).await;
        self.granted(name, lease, outcome).await
    }

    async fn renew(&mut self, name: &str) -> OpResult<Grant> {
        self.keep(name).await
    }

    async fn resign(&mut self, name: &str) -> OpResult<()> {
        let held = self.held(name)?;
        self.leases.etcd().await?.resign(&held.leader).await?;
        self.end(&held.lease).await
    }

    async fn observe(&mut self, name: &str) -> OpResult<Option<Leader>> {
        let found = self.leases.etcd().await?.leader(&prefix(name)).await?;
        Ok(found
            .map(|kv| Leader { id: owner_of(&kv.value).to_string(), token: Some(kv.create_revision as u64) }))
    }

    fn usable(&self) -> bool {
        self.leases.usable()
    }
}

fn prefix(name: &str) -> String {
    format!("lock/{name}")
}
