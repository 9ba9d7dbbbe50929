//! Real clients: small wire clients that send each request once, on the connection they were given, and never reconnect.

mod connect;
mod etcd;
mod redis;
mod resource;
mod stores;
mod zookeeper;

pub use stores::RealStores;
