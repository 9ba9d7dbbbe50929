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
mod stores;
pub mod zookeeper;

pub use answered::Answered;
pub use etcd::EtcdApi;
pub use redis::{RedisApi, SentinelApi};
pub use resource::ResourceApi;
pub use stores::{Endpoint, Stores};
pub use zookeeper::ZkApi;
