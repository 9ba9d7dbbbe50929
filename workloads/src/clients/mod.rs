//! Real clients: small wire clients that send each request once, on the connection they were given, and never reconnect.

mod connect;
pub mod etcd;
pub mod redis;
mod resource;
pub mod zookeeper;

use std::{rc::Rc, time::Duration};

use async_trait::async_trait;

use self::{
    etcd::EtcdClient,
    redis::{RedisClient, SentinelClient},
    resource::ResourceClient,
    zookeeper::ZkClient,
};
use crate::{
    api::{Endpoint, EtcdApi, RedisApi, ResourceApi, SentinelApi, Stores, ZkApi, zookeeper::Open},
    env::Env,
    error::OpResult,
};

/// Opens real connections, over TCP.
pub struct RealStores {
    env: Env,
}

impl RealStores {
    /// All waiting goes through `env`.
    pub fn new(env: Env) -> RealStores {
        RealStores { env }
    }
}

#[async_trait(?Send)]
impl Stores for RealStores {
    async fn redis(&self, to: &Endpoint, limit: Duration) -> OpResult<Rc<dyn RedisApi>> {
        Ok(Rc::new(RedisClient::open(&self.env, to, limit).await?))
    }

    async fn sentinel(&self, beside: &Endpoint, limit: Duration) -> OpResult<Rc<dyn SentinelApi>> {
        Ok(Rc::new(SentinelClient::open(&self.env, beside, limit).await?))
    }

    async fn etcd(&self, to: &Endpoint, limit: Duration) -> OpResult<Rc<dyn EtcdApi>> {
        Ok(Rc::new(EtcdClient::open(&self.env, to, limit).await?))
    }

    async fn zookeeper(&self, to: &Endpoint, limit: Duration, open: Open) -> OpResult<Rc<dyn ZkApi>> {
        Ok(Rc::new(ZkClient::open(&self.env, to, limit, open).await?))
    }

    async fn resource(&self, to: &Endpoint, limit: Duration) -> OpResult<Rc<dyn ResourceApi>> {
        Ok(Rc::new(ResourceClient::open(&self.env, to, limit).await?))
    }
}
