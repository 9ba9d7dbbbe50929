use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;

use crate::{
    error::OpResult,
    primitive::{Grant, Lock, Lost},
};

/// Where a token comes from that does not fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A counter in the client: each client has its own.
    ClientCounter,
    /// The lease's number: unique, but in no order.
    LeaseId,
    /// The node's data version: nobody writes to a lock's node, so it stays 0.
    NodeVersion,
}

/// A sound lock whose grants carry a token from elsewhere.
pub(super) struct WithToken {
    inner: Box<dyn Lock>,
    source: Source,
    counter: u64,
    tokens: BTreeMap<String, Option<u64>>,
}

impl WithToken {
    pub(super) fn new(inner: impl Lock + 'static, source: Source) -> WithToken {
        WithToken { inner: Box::new(inner), source, counter: 0, tokens: BTreeMap::new() }
    }

    fn token(&self, grant: &Grant) -> Option<u64> {
        match self.source {
            Source::ClientCounter => Some(self.counter),
            Source::LeaseId => grant.lease.as_deref().and_then(|lease| u64::from_str_radix(lease, 16).ok()),
            Source::NodeVersion => Some(0),
        }
    }
}

#[async_trait(?Send)]
impl Lock for WithToken {
    /// As published, the counter is advanced before the lock is asked for.
    async fn acquire(&mut self, name: &str, wait: Duration) -> OpResult<Grant> {
        self.counter += 1;
        let grant = self.inner.acquire(name, wait).await?;
        let token = self.token(&grant);
        self.tokens.insert(name.to_string(), token);
        Ok(Grant { token, ..grant })
    }

    async fn renew(&mut self, name: &str) -> OpResult<Grant> {
        let grant = self.inner.renew(name).await?;
        Ok(Grant { token: self.tokens.get(name).copied().flatten(), ..grant })
    }

    async fn release(&mut self, name: &str) -> OpResult<()> {
        self.inner.release(name).await
    }

    fn usable(&self) -> bool {
        self.inner.usable()
    }

    fn lost(&self) -> Option<Lost> {
        self.inner.lost()
    }
}
