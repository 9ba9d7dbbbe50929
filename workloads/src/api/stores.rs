use std::{rc::Rc, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{EtcdApi, RedisApi, ResourceApi, SentinelApi, ZkApi, zookeeper::Open};
use crate::error::OpResult;

/// A node that serves something, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// The node's name in the history: `s1`, `resource`, …
    pub node: String,
    /// `ip:port`; a world may read it as it likes.
    pub addr: String,
}

/// Opens connections. `limit` bounds the opening and each later call on the connection.
///
/// A refused connection is `Definite`, and so is one that did not open in time: nothing was asked of the store yet.
/// (A ZooKeeper session may be left behind, which holds nothing.) Attaching to a session is the exception: see [`Open::Attach`].
#[async_trait(?Send)]
pub trait Stores {
    /// A connection to one Redis server.
    async fn redis(&self, to: &Endpoint, limit: Duration) -> OpResult<Rc<dyn RedisApi>>;
    /// A connection to the sentinel beside a Redis server.
    async fn sentinel(&self, beside: &Endpoint, limit: Duration) -> OpResult<Rc<dyn SentinelApi>>;
    /// A connection to one etcd member.
    async fn etcd(&self, to: &Endpoint, limit: Duration) -> OpResult<Rc<dyn EtcdApi>>;
    /// A connection to one ZooKeeper server, with a new session or an existing one.
    async fn zookeeper(&self, to: &Endpoint, limit: Duration, open: Open) -> OpResult<Rc<dyn ZkApi>>;
    /// A connection to the protected resource.
    async fn resource(&self, to: &Endpoint, limit: Duration) -> OpResult<Rc<dyn ResourceApi>>;
}
