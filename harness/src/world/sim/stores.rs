//! Connections of a client node to the simulated servers.

use std::{collections::BTreeMap, rc::Rc, time::Duration};

use async_trait::async_trait;
use workloads::{
    api::{Endpoint, EtcdApi, RedisApi, ResourceApi, SentinelApi, Stores, ZkApi, zookeeper::Open},
    error::{OpError, OpResult},
};

use super::SimWorld;
use simulation::{
    Node, NodeId,
    etcd::EtcdClient,
    redis::{RedisClient, sentinel::SentinelClient},
    resource::ResourceClient,
    zookeeper::ZkClient,
};

/// Nodes by name.
pub(super) struct Directory(BTreeMap<String, NodeId>);

impl Directory {
    pub(super) fn new(nodes: BTreeMap<String, NodeId>) -> Directory {
        Directory(nodes)
    }

    fn name_of(&self, id: NodeId) -> String {
        let found = self.0.iter().find(|(_, node)| **node == id);
        found.map_or_else(String::new, |(name, _)| name.clone())
    }
}

/// What one client node can reach.
pub(super) struct SimStores {
    pub(super) node: Node,
    pub(super) directory: Rc<Directory>,
}

impl SimStores {
    fn find(&self, to: &Endpoint) -> OpResult<NodeId> {
        let known = self.directory.0.get(&to.node).copied();
        known.ok_or_else(|| OpError::Definite(format!("there is no node {}", to.node)))
    }
}

#[async_trait(?Send)]
impl Stores for SimStores {
    async fn redis(&self, to: &Endpoint, limit: Duration) -> OpResult<Rc<dyn RedisApi>> {
        Ok(Rc::new(RedisClient::open(&self.node, self.find(to)?, limit).await?))
    }

    async fn sentinel(&self, beside: &Endpoint, limit: Duration) -> OpResult<Rc<dyn SentinelApi>> {
        let directory = self.directory.clone();
        let address = move |server: NodeId| SimWorld::endpoint(&directory.name_of(server)).addr;
        Ok(Rc::new(SentinelClient::open(&self.node, self.find(beside)?, limit, address).await?))
    }

    async fn etcd(&self, to: &Endpoint, limit: Duration) -> OpResult<Rc<dyn EtcdApi>> {
        Ok(Rc::new(EtcdClient::open(&self.node, self.find(to)?, limit).await?))
    }

    async fn zookeeper(&self, to: &Endpoint, limit: Duration, open: Open) -> OpResult<Rc<dyn ZkApi>> {
        Ok(Rc::new(ZkClient::open(&self.node, self.find(to)?, limit, open).await?))
    }

    async fn resource(&self, to: &Endpoint, limit: Duration) -> OpResult<Rc<dyn ResourceApi>> {
        Ok(Rc::new(ResourceClient::open(&self.node, self.find(to)?, limit).await?))
    }
}
