//! A key that exists as long as its owner's lease: created if it is absent, watched for its deletion.

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;

use super::leases::{Kept, Leases};
use crate::{
    api::etcd::{Compare, EtcdWatch, Range, Txn, TxnOp, WatchEvent},
    error::{OpError, OpResult},
    primitive::{Grant, Leader, Lock, Observe},
    recipes::{Context, context::owner_of},
};

/// The lock, and the election of one key.
pub(in crate::recipes) struct LeaseLock {
    leases: Leases,
    held: BTreeMap<String, Held>,
    /// What a broken variant does wrong.
    flaw: Option<Flaw>,
}

/// How a variant is broken by design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::recipes) enum Flaw {
    /// It puts its key without looking whether there is one.
    PutWithoutCompare,
}

struct Held {
    lease: Kept,
    token: i64,
}

impl LeaseLock {
    pub(in crate::recipes) fn new(context: Context) -> LeaseLock {
        LeaseLock { leases: Leases::new(context), held: BTreeMap::new(), flaw: None }
    }

    /// The same, broken.
    pub(in crate::recipes) fn with(mut self, flaw: Flaw) -> Self {
        self.flaw = Some(flaw);
        self
    }

    /// Tries and waits until the key is ours: its create revision.
    async fn compete(&mut self, name: &str, lease: &mut Kept) -> OpResult<i64> {
        let etcd = self.leases.etcd().await?;
        let value = self.leases.context.unique();
        loop {
            let mut txn = create_if_absent(&key(name), &value, lease.id);
            if self.flaw == Some(Flaw::PutWithoutCompare) {
                txn.compares.clear();
            }
            let reply = etcd.txn(txn).await?;
            if reply.succeeded {
                return Ok(reply.revision);
            }
            // From the revision after the one just seen: a deletion in between is not missed.
            let watch = etcd.watch(&key(name), reply.revision + 1).await?;
            self.leases.keep_during(lease, deleted(watch)).await?;
        }
    }
}

fn not_held() -> OpError {
    OpError::Definite("not held".into())
}

fn create_if_absent(key: &str, value: &str, lease: i64) -> Txn {
    Txn {
        compares: vec![Compare::CreateRevision(key.into(), 0)],
        success: vec![TxnOp::Put { key: key.into(), value: value.into(), lease }],
        failure: vec![],
    }
}

async fn deleted(mut watch: Box<dyn EtcdWatch>) -> OpResult<()> {
    loop {
        let events = watch.next().await?;
        if events.iter().any(|event| matches!(event, WatchEvent::Delete { .. })) {
            return Ok(());
        }
    }
}

#[async_trait(?Send)]
impl Lock for LeaseLock {
    async fn acquire(&mut self, name: &str, wait: Duration) -> OpResult<Grant> {
        let env = self.leases.context.env.clone();
        let mut lease = self.leases.grant().await?;
        let outcome = match env.timeout(wait, self.compete(name, &mut lease)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(OpError::Indeterminate("held by another".into())),
        };
        match outcome {
            Ok(token) => {
                let grant = self.leases.promise(&lease, Some(token));
                self.held.insert(name.to_string(), Held { lease, token });
                Ok(grant)
            }
            Err(failure) => Err(self.leases.abandon(&lease, failure).await),
        }
    }

    async fn renew(&mut self, name: &str) -> OpResult<Grant> {
        let held = self.held.get_mut(name).ok_or_else(not_held)?;
        self.leases.keep(&mut held.lease).await?;
        Ok(self.leases.promise(&held.lease, Some(held.token)))
    }

    async fn release(&mut self, name: &str) -> OpResult<()> {
        let held = self.held.remove(name).ok_or_else(not_held)?;
        match self.leases.etcd_anew().await?.lease_revoke(held.lease.id).await? {
            true => Ok(()),
            false => Err(OpError::Definite("no longer ours".into())),
        }
    }

    fn usable(&self) -> bool {
        self.leases.usable()
    }
}

#[async_trait(?Send)]
impl Observe for LeaseLock {
    async fn observe(&mut self, name: &str) -> OpResult<Option<Leader>> {
        let etcd = self.leases.etcd().await?;
        let found = etcd.range(Range { key: key(name), prefix: false }).await?;
        let leader = |kv: &crate::api::etcd::KeyValue| Leader {
            id: owner_of(&kv.value).to_string(),
            token: Some(kv.create_revision as u64),
        };
        Ok(found.keys.first().map(leader))
    }
}

fn key(name: &str) -> String {
    format!("lock/{name}")
}
