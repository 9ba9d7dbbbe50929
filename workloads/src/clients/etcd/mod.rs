//! etcd over gRPC, one HTTP/2 connection to one member.

mod channel;
mod convert;
pub mod errors;
mod frames;
mod messages;

use std::time::Duration;

use async_trait::async_trait;

use self::{
    channel::{Answers, Channel},
    errors::Shape,
    messages as m,
};
use crate::{
    api::{
        Endpoint, EtcdApi,
        etcd::{EtcdWatch, KeyValue, LeaderKey, Lease, Locked, Range, RangeReply, Txn, TxnReply, WatchEvent},
    },
    env::Env,
    error::{OpError, OpResult},
};

/// A connection to one member.
pub(super) struct EtcdClient {
    channel: Channel,
}

impl EtcdClient {
    pub(super) async fn open(env: &Env, to: &Endpoint, limit: Duration) -> OpResult<EtcdClient> {
        Ok(EtcdClient { channel: Channel::open(env, to, limit).await? })
    }
}

#[async_trait(?Send)]
impl EtcdApi for EtcdClient {
    async fn txn(&self, txn: Txn) -> OpResult<TxnReply> {
        let request = m::TxnRequest::from(txn);
        let response: m::TxnResponse =
            self.channel.call("etcdserverpb.KV/Txn", &request, Shape::Unary).await?;
        Ok(response.into())
    }

    async fn range(&self, range: Range) -> OpResult<RangeReply> {
        let request = m::RangeRequest::from(range);
        let response: m::RangeResponse =
            self.channel.call("etcdserverpb.KV/Range", &request, Shape::Unary).await?;
        let revision = convert::revision(response.header);
        Ok(RangeReply { revision, keys: response.kvs.into_iter().map(KeyValue::from).collect() })
    }

    async fn lease_grant(&self, ttl_s: i64) -> OpResult<Lease> {
        let request = m::LeaseGrantRequest { ttl: ttl_s };
        let response: m::LeaseGrantResponse =
            self.channel.call("etcdserverpb.Lease/LeaseGrant", &request, Shape::Unary).await?;
        match response.error.is_empty() {
            true => Ok(Lease { id: response.id, ttl_s: response.ttl }),
            false => Err(OpError::Indeterminate(response.error)),
        }
    }

    async fn lease_keepalive_once(&self, lease: i64) -> OpResult<Option<i64>> {
        let request = m::LeaseId { id: lease };
        let response: m::LeaseKeepAliveResponse =
            self.channel.call("etcdserverpb.Lease/LeaseKeepAlive", &request, Shape::Begun).await?;
        Ok((response.ttl > 0).then_some(response.ttl))
    }

    async fn lease_revoke(&self, lease: i64) -> OpResult<bool> {
        let request = m::LeaseId { id: lease };
        let revoked: OpResult<m::Done> =
            self.channel.call("etcdserverpb.Lease/LeaseRevoke", &request, Shape::Unary).await;
        match revoked {
            Ok(m::Done {}) => Ok(true),
            Err(OpError::Definite(why)) if why.ends_with("requested lease not found") => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn watch(&self, key: &str, start_revision: i64) -> OpResult<Box<dyn EtcdWatch>> {
        let create = Some(m::WatchCreateRequest { key: key.into(), start_revision });
        let request = m::WatchRequest { create };
        let (first, answers) =
            self.channel.stream::<m::WatchResponse>("etcdserverpb.Watch/Watch", &request).await?;
        convert::events(first)?;
        Ok(Box::new(Watch(answers)))
    }

    async fn lock(&self, name: &str, lease: i64, wait: Duration) -> OpResult<Locked> {
        let request = m::LockRequest { name: name.into(), lease };
        let response: m::LockResponse = self.channel.wait("v3lockpb.Lock/Lock", &request, wait).await?;
        Ok(Locked { revision: convert::revision(response.header), key: response.key })
    }

    async fn unlock(&self, key: &str) -> OpResult<()> {
        let request = m::UnlockRequest { key: key.into() };
        let m::Done {} = self.channel.call("v3lockpb.Lock/Unlock", &request, Shape::Unary).await?;
        Ok(())
    }

    async fn campaign(&self, name: &str, lease: i64, value: &str, wait: Duration) -> OpResult<LeaderKey> {
        let request = m::CampaignRequest { name: name.into(), lease, value: value.into() };
        let response: m::CampaignResponse =
            self.channel.wait("v3electionpb.Election/Campaign", &request, wait).await?;
        let no_key = || OpError::Indeterminate("the answer to campaign has no leader key".into());
        response.leader.map(LeaderKey::from).ok_or_else(no_key)
    }

    async fn resign(&self, leader: &LeaderKey) -> OpResult<()> {
        let request = m::ResignRequest { leader: Some(leader.clone().into()) };
        let m::Done {} = self.channel.call("v3electionpb.Election/Resign", &request, Shape::Unary).await?;
        Ok(())
    }

    async fn leader(&self, name: &str) -> OpResult<Option<KeyValue>> {
        let request = m::LeaderRequest { name: name.into() };
        let asked = self.channel.call("v3electionpb.Election/Leader", &request, Shape::Unary);
        match asked.await {
            Ok(m::LeaderResponse { kv }) => Ok(kv.map(KeyValue::from)),
            Err(OpError::Definite(why)) if why.ends_with("election: no leader") => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn usable(&self) -> bool {
        self.channel.usable()
    }
}

struct Watch(Answers);

#[async_trait(?Send)]
impl EtcdWatch for Watch {
    async fn next(&mut self) -> OpResult<Vec<WatchEvent>> {
        loop {
            // Progress notices have no events.
            let events = convert::events(self.0.next().await?)?;
            if !events.is_empty() {
                return Ok(events);
            }
        }
    }
}
