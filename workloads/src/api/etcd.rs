//! etcd: the v3 API's key space, leases, watches, and its lock and election services.

use std::time::Duration;

use async_trait::async_trait;

use crate::error::OpResult;

/// A key with its value and history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyValue {
    /// Name.
    pub key: String,
    /// Content.
    pub value: String,
    /// Revision of the store at which the key was created.
    pub create_revision: i64,
    /// Revision of its last change.
    pub mod_revision: i64,
    /// Changes since creation, from 1.
    pub version: i64,
    /// Its lease, 0 without.
    pub lease: i64,
}

/// A condition of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compare {
    /// The key's create revision equals; 0 means that it does not exist.
    CreateRevision(String, i64),
    /// The key's mod revision equals.
    ModRevision(String, i64),
    /// The key's value equals.
    Value(String, String),
}

/// A step of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxnOp {
    /// Sets a key, attached to a lease unless that is 0.
    Put {
        /// Name.
        key: String,
        /// Content.
        value: String,
        /// The lease to attach it to, or 0.
        lease: i64,
    },
    /// Reads.
    Range(Range),
    /// Deletes one key.
    Delete(String),
}

/// `if compares then success else failure`, atomically. Without compares, `success` alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Txn {
    /// All must hold.
    pub compares: Vec<Compare>,
    /// Done when they hold.
    pub success: Vec<TxnOp>,
    /// Done when they do not.
    pub failure: Vec<TxnOp>,
}

/// What a step of a transaction answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxnAnswer {
    /// A put was done.
    Put,
    /// What a range found.
    Range(Vec<KeyValue>),
    /// How many keys a delete removed.
    Deleted(i64),
}

/// What a transaction answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxnReply {
    /// The store's revision after it.
    pub revision: i64,
    /// Whether the compares held.
    pub succeeded: bool,
    /// One answer a step of the branch taken.
    pub answers: Vec<TxnAnswer>,
}

/// A linearizable read, in order of creation (oldest first).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The key, or the prefix.
    pub key: String,
    /// Whether `key` is a prefix.
    pub prefix: bool,
}

/// What a read found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeReply {
    /// The store's revision at the read.
    pub revision: i64,
    /// Keys by create revision.
    pub keys: Vec<KeyValue>,
}

/// A lease as granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The server's name for it.
    pub id: i64,
    /// Seconds; the server may grant more than was asked for.
    pub ttl_s: i64,
}

/// A change of a watched key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// It was set.
    Put(KeyValue),
    /// It was deleted, or its lease ended, at `mod_revision`.
    Delete {
        /// Name.
        key: String,
        /// Revision of the deletion.
        mod_revision: i64,
    },
}

/// Ownership given by the lock service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// The key that exists as long as the caller owns the lock.
    pub key: String,
    /// The answer's header revision (not a fencing token: it may repeat).
    pub revision: i64,
}

/// Leadership given by the election service, needed to resign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderKey {
    /// The election.
    pub name: String,
    /// The key that stands for the leadership.
    pub key: String,
    /// Its create revision.
    pub rev: i64,
    /// The leader's lease.
    pub lease: i64,
}

/// A running watch. Dropping it ends it.
#[async_trait(?Send)]
pub trait EtcdWatch {
    /// The next changes, in order, waiting as long as it takes; dropping the call loses nothing.
    /// `Definite`: its revision was compacted. `Indeterminate`: the server lost its leader, or the connection broke.
    async fn next(&mut self) -> OpResult<Vec<WatchEvent>>;
}

/// A connection to one etcd member. All calls ask for a member that has a leader.
#[async_trait(?Send)]
pub trait EtcdApi {
    /// A transaction.
    async fn txn(&self, txn: Txn) -> OpResult<TxnReply>;
    /// A linearizable read.
    async fn range(&self, range: Range) -> OpResult<RangeReply>;
    /// A new lease of at least `ttl_s` seconds; the server chooses the id.
    async fn lease_grant(&self, ttl_s: i64) -> OpResult<Lease>;
    /// One keepalive: the seconds left now, always > 0; `None` when the lease is gone.
    async fn lease_keepalive_once(&self, lease: i64) -> OpResult<Option<i64>>;
    /// Ends a lease and deletes its keys: whether it was there.
    async fn lease_revoke(&self, lease: i64) -> OpResult<bool>;
    /// Changes of one key from `start_revision` on (0: from now).
    async fn watch(&self, key: &str, start_revision: i64) -> OpResult<Box<dyn EtcdWatch>>;
    /// `v3lock.Lock`, waiting up to `wait`; running out cancels the call (which does not break the connection) and is `Indeterminate`.
    async fn lock(&self, name: &str, lease: i64, wait: Duration) -> OpResult<Locked>;
    /// `v3lock.Unlock`: deletes the key, whoever owns it.
    async fn unlock(&self, key: &str) -> OpResult<()>;
    /// `v3election.Campaign`, waiting up to `wait`; see [`EtcdApi::lock`].
    async fn campaign(&self, name: &str, lease: i64, value: &str, wait: Duration) -> OpResult<LeaderKey>;
    /// `v3election.Resign`. `Definite` when the leader key is no longer ours.
    async fn resign(&self, leader: &LeaderKey) -> OpResult<()>;
    /// `v3election.Leader`: who leads, if anyone.
    async fn leader(&self, name: &str) -> OpResult<Option<KeyValue>>;
    /// Whether the connection can still be used.
    fn usable(&self) -> bool;
}
