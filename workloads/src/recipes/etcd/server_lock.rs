//! The server's own lock and election services, with a lease of ours.

use std::{collections::BTreeMap, rc::Rc, time::Duration};

use async_trait::async_trait;

use super::leases::{Kept, Leases};
use crate::{
    api::{
        EtcdApi,
        etcd::{LeaderKey, Locked, Range},
    },
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
    token: Option<i64>,
}

impl ServerLock {
    pub(super) fn new(context: Context) -> ServerLock {
        ServerLock { leases: Leases::new(context), held: BTreeMap::new() }
    }

    /// Waits in the server's queue. The answer has the key and the revision of its header, which fences nobody: a server
    /// before 3.5 says yes to a waiter whose key is gone (etcd issue 11456), and then two answers bear one revision. So
    /// the token is the key's create revision, asked for afterwards. A client that looks takes a missing key for what it
    /// is. As the service is used, its ok is believed; where there is no key, there is no token either.
    async fn lock(
        &mut self,
        name: &str,
        lease: &mut Kept,
        wait: Duration,
    ) -> OpResult<(LeaderKey, Option<i64>)> {
        let etcd = self.leases.etcd().await?;
        let Locked { key, .. } =
            self.leases.keep_during(lease, etcd.lock(&prefix(name), lease.id, wait)).await?;
        let token = match self.read_back(&etcd, &key).await {
            Ok(token) => Some(token),
            Err(failure) if self.leases.context.aware => return Err(failure),
            Err(_) => None,
        };
        Ok((LeaderKey { name: prefix(name), key, rev: token.unwrap_or_default(), lease: lease.id }, token))
    }

    /// The answer has the leader key with its create revision. No version of the service looks whether that key still
    /// exists (etcd issue 19597); a client that looks does.
    async fn lead(
        &mut self,
        name: &str,
        lease: &mut Kept,
        wait: Duration,
    ) -> OpResult<(LeaderKey, Option<i64>)> {
        let etcd = self.leases.etcd().await?;
        let value = self.leases.context.unique();
        let leader =
            self.leases.keep_during(lease, etcd.campaign(&prefix(name), lease.id, &value, wait)).await?;
        if self.leases.context.aware {
            self.read_back(&etcd, &leader.key).await?;
        }
        let term = Some(leader.rev);
        Ok((leader, term))
    }

    /// The create revision of our key, if the server still has it.
    async fn read_back(&self, etcd: &Rc<dyn EtcdApi>, key: &str) -> OpResult<i64> {
        let found = etcd.range(Range { key: key.into(), prefix: false }).await?;
        let lost = || OpError::Definite("granted by the server, but the key is gone".into());
        Ok(found.keys.first().ok_or_else(lost)?.create_revision)
    }

    async fn granted(
        &mut self,
        name: &str,
        lease: Kept,
        outcome: OpResult<(LeaderKey, Option<i64>)>,
    ) -> OpResult<Grant> {
        match outcome {
            Ok((leader, token)) => {
                let grant = self.leases.promise(&lease, token);
                self.held.insert(name.to_string(), Held { lease, leader, token });
                Ok(grant)
            }
            Err(failure) => Err(self.leases.abandon(&lease, failure).await),
        }
    }

    fn held(&mut self, name: &str) -> OpResult<Held> {
        self.held.remove(name).ok_or_else(not_held)
    }

    /// Ends the lease behind a key that has been given back. The key is certainly gone, with this request or before it,
    /// and a lease without keys grants nothing: nothing that can come of this undoes the release.
    async fn end(&self, etcd: &Rc<dyn EtcdApi>, lease: &Kept) {
        drop(etcd.lease_revoke(lease.id).await);
    }

    async fn keep(&mut self, name: &str) -> OpResult<Grant> {
        let held = self.held.get_mut(name).ok_or_else(not_held)?;
        self.leases.keep(&mut held.lease).await?;
        Ok(self.leases.promise(&held.lease, held.token))
    }
}

fn not_held() -> OpError {
    OpError::Definite("not held".into())
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
        let etcd = self.leases.etcd_anew().await?;
        etcd.unlock(&held.leader.key).await?;
        self.end(&etcd, &held.lease).await;
        Ok(())
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
        let etcd = self.leases.etcd_anew().await?;
        etcd.resign(&held.leader).await?;
        self.end(&etcd, &held.lease).await;
        Ok(())
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
