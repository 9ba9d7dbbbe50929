//! The client's side of a sentinel.

use std::time::Duration;

use async_trait::async_trait;
use workloads::{api::redis::SentinelApi, error::OpResult};

use super::{AskPrimary, PORT};
use crate::{
    node::{Node, NodeId},
    rpc::Caller,
};

/// A connection to one simulated sentinel.
pub struct SentinelClient<N> {
    caller: Caller<AskPrimary, NodeId>,
    address: N,
}

impl<N: Fn(NodeId) -> String> SentinelClient<N> {
    /// Connects from `node`; `address` tells where a server is.
    pub async fn open(node: &Node, to: NodeId, limit: Duration, address: N) -> OpResult<SentinelClient<N>> {
        Ok(SentinelClient { caller: Caller::open(node, to, PORT, limit).await?, address })
    }
}

#[async_trait(?Send)]
impl<N: Fn(NodeId) -> String> SentinelApi for SentinelClient<N> {
    async fn primary(&self) -> OpResult<String> {
        self.caller.call(AskPrimary).await.map(&self.address)
    }
}
