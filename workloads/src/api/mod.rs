//! What a client can talk to: one trait a family of stores, and the protected resource.
//!
//! Every call is sent at most once, on the connection it was given to, and answers within the connection's time limit:
//! no hidden retry, no hidden reconnect. `Definite` means that the store certainly did not and will not do it;
//! a call that ran out of time, or whose connection broke after it was sent, is `Indeterminate`.
//! After an indeterminate outcome the connection is finished: later calls on it fail as `Definite`, unsent.

mod answered;
pub mod etcd;
pub mod redis;
pub mod resource;
pub mod zookeeper;

use std::{rc::Rc, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use answered::Answered;
pub use etcd::EtcdApi;
pub use redis::{RedisApi, SentinelApi};
pub use resource::ResourceApi;
pub use zookeeper::ZkApi;

use self::zookeeper::Open;
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
