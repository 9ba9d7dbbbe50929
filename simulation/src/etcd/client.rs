//! The client's side of the model. What is definite and what is not says the real client's table.

use std::{rc::Rc, time::Duration};

use async_trait::async_trait;
use workloads::{
    api::etcd::{
        Compare, EtcdApi, EtcdWatch, KeyValue, LeaderKey, Lease, Locked, Range, RangeReply, Txn, TxnOp,
        TxnReply, WatchEvent,
    },
    clients::etcd::errors::{Shape, refuses},
    error::{OpError, OpResult},
};

use super::{
    failure::{Failure, LEASE_NOT_FOUND, Status},
    server::{Ask, PORT, Say},
};
use crate::{
    node::{Node, NodeId},
    rpc::Caller,
};

/// A connection to one simulated member.
pub struct EtcdClient(Rc<Caller<Ask, Say>>);

impl EtcdClient {
    /// Connects from `node`.
    pub async fn open(node: &Node, to: NodeId, limit: Duration) -> OpResult<EtcdClient> {
        Caller::open(node, to, PORT, limit).await.map(|caller| EtcdClient(Rc::new(caller)))
    }

    /// A call with one answer; what the server says about it.
    async fn ask(&self, ask: Ask) -> OpResult<Say> {
        match self.0.call(ask).await? {
            Say::Failed(failure) => Err(outcome(failure.status(), Shape::Unary)),
            say => Ok(say),
        }
    }

    /// A call that waits inside the server. Its services lose the code of an error on the way, so that the real client
    /// can tell only its own kind of refusal from a call that had begun.
    async fn wait(&self, ask: Ask, wait: Duration) -> OpResult<Say> {
        match self.0.call_within(ask, wait).await? {
            Say::Failed(failure) => {
                let Status { message, .. } = failure.status();
                Err(outcome(Status { code: UNKNOWN, message }, Shape::Begun))
            }
            say => Ok(say),
        }
    }
}

/// gRPC's code of an error that has none.
const UNKNOWN: u32 = 2;

fn outcome(Status { code, message }: Status, shape: Shape) -> OpError {
    match refuses(code, message, shape) {
        true => OpError::Definite(message.into()),
        false => OpError::Indeterminate(message.into()),
    }
}

/// A failure of a call that may have begun.
fn begun(failure: Failure) -> OpError {
    outcome(failure.status(), Shape::Begun)
}

/// What no server answers to this call.
fn unexpected<T>(say: &Say) -> OpResult<T> {
    Err(OpError::Indeterminate(format!("unexpected answer {say:?}")))
}

#[async_trait(?Send)]
impl EtcdApi for EtcdClient {
    async fn txn(&self, txn: Txn) -> OpResult<TxnReply> {
        match self.ask(Ask::Txn(txn)).await? {
            Say::Txn(reply) => Ok(reply),
            other => unexpected(&other),
        }
    }

    async fn range(&self, range: Range) -> OpResult<RangeReply> {
        match self.ask(Ask::Range(range)).await? {
            Say::Range(reply) => Ok(reply),
            other => unexpected(&other),
        }
    }

    async fn lease_grant(&self, ttl_s: i64) -> OpResult<Lease> {
        match self.ask(Ask::Grant(ttl_s)).await? {
            Say::Granted(lease) => Ok(lease),
            other => unexpected(&other),
        }
    }

    async fn lease_keepalive_once(&self, lease: i64) -> OpResult<Option<i64>> {
        match self.0.call(Ask::Keepalive(lease)).await? {
            Say::Left(ttl_s) => Ok(Some(ttl_s)),
            Say::Failed(Failure::Refused(LEASE_NOT_FOUND)) => Ok(None),
            Say::Failed(failure) => Err(begun(failure)),
            other => unexpected(&other),
        }
    }

    async fn lease_revoke(&self, lease: i64) -> OpResult<bool> {
        match self.ask(Ask::Revoke(lease)).await {
            Ok(Say::Revoked) => Ok(true),
            Ok(other) => unexpected(&other),
            Err(OpError::Definite(why)) if why == LEASE_NOT_FOUND => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn watch(&self, key: &str, start_revision: i64) -> OpResult<Box<dyn EtcdWatch>> {
        let (id, first) = self.0.open_stream(Ask::Watch(key.to_owned(), start_revision)).await?;
        let watch = Watch { caller: self.0.clone(), id };
        match first {
            Say::Events(_) => Ok(Box::new(watch)),
            Say::Failed(failure) => Err(begun(failure)),
            other => unexpected(&other),
        }
    }

    async fn lock(&self, name: &str, lease: i64, wait: Duration) -> OpResult<Locked> {
        match self.wait(Ask::Lock(name.to_owned(), lease), wait).await? {
            Say::Locked { key, revision } => Ok(Locked { key, revision }),
            other => unexpected(&other),
        }
    }

    async fn unlock(&self, key: &str) -> OpResult<()> {
        let success = vec![TxnOp::Delete(key.to_owned())];
        self.txn(Txn { success, ..Txn::default() }).await.map(|_| ())
    }

    async fn campaign(&self, name: &str, lease: i64, value: &str, wait: Duration) -> OpResult<LeaderKey> {
        match self.wait(Ask::Campaign(name.to_owned(), lease, value.to_owned()), wait).await? {
            Say::Elected(kv) => {
                Ok(LeaderKey { name: name.to_owned(), key: kv.key, rev: kv.create_revision, lease: kv.lease })
            }
            other => unexpected(&other),
        }
    }

    /// The server's own transaction; it answers well whether or not the key was still there.
    async fn resign(&self, leader: &LeaderKey) -> OpResult<()> {
        let compares = vec![Compare::CreateRevision(leader.key.clone(), leader.rev)];
        let success = vec![TxnOp::Delete(leader.key.clone())];
        self.txn(Txn { compares, success, failure: vec![] }).await.map(|_| ())
    }

    async fn leader(&self, name: &str) -> OpResult<Option<KeyValue>> {
        let found = self.range(Range { key: format!("{name}/"), prefix: true }).await?;
        Ok(found.keys.into_iter().next())
    }

    fn usable(&self) -> bool {
        !self.0.is_finished()
    }
}

struct Watch {
    caller: Rc<Caller<Ask, Say>>,
    id: u64,
}

#[async_trait(?Send)]
impl EtcdWatch for Watch {
    async fn next(&mut self) -> OpResult<Vec<WatchEvent>> {
        match self.caller.next_of(self.id).await? {
            Say::Events(events) => Ok(events),
            Say::Failed(failure) => Err(begun(failure)),
            other => unexpected(&other),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.caller.cancel(self.id);
    }
}
