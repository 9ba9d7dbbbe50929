//! The protected resource on a simulated node.

use std::{cell::RefCell, rc::Rc, time::Duration};

use async_trait::async_trait;
use workloads::{
    api::resource::{Reply, Request, ResourceApi},
    error::OpResult,
};

use super::{
    net::Port,
    node::{Node, NodeId},
    rpc::{Caller, serve},
};

/// Where it listens.
pub const PORT: Port = 7000;

/// Serves the resource: `decide` gets each request in the serial order of the resource.
pub fn start(node: &Node, decide: impl FnMut(Request) -> Reply + 'static) {
    let decide = Rc::new(RefCell::new(decide));
    serve(node, PORT, move |request| {
        let reply = (*decide.borrow_mut())(request.body);
        request.reply.send(reply);
    });
}

/// A connection to the resource.
pub struct ResourceClient(Caller<Request, Reply>);

impl ResourceClient {
    /// Connects from `node`.
    pub async fn open(node: &Node, to: NodeId, limit: Duration) -> OpResult<ResourceClient> {
        Caller::open(node, to, PORT, limit).await.map(ResourceClient)
    }
}

#[async_trait(?Send)]
impl ResourceApi for ResourceClient {
    async fn request(&self, request: Request) -> OpResult<Reply> {
        self.0.call(request).await
    }

    fn usable(&self) -> bool {
        !self.0.is_finished()
    }
}
