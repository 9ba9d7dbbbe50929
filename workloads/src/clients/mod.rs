//! Real clients: small wire clients that send each request once, on the connection they were given, and never reconnect.

mod connect;
pub mod etcd;
pub mod redis;
mod resource;
mod stores;
pub mod zookeeper;

pub use stores::RealStores;
