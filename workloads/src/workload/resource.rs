use std::{rc::Rc, time::Duration};

use super::ClientConfig;
use crate::{
    api::{
        Endpoint, ResourceApi, Stores,
        resource::{Reply, Request},
    },
    error::OpResult,
};

/// The client's connection to the protected resource, opened when it is first used.
pub(super) struct Resource {
    stores: Rc<dyn Stores>,
    to: Endpoint,
    limit: Duration,
    connection: Option<Rc<dyn ResourceApi>>,
}

impl Resource {
    pub(super) fn new(stores: Rc<dyn Stores>, config: &ClientConfig) -> Resource {
        Resource { stores, to: config.resource.clone(), limit: config.call_limit(), connection: None }
    }

    /// One request. A connection found closed is explicitly opened anew before anything is sent.
    pub(super) async fn request(&mut self, request: Request) -> OpResult<Reply> {
        let usable = self.connection.take().filter(|connection| connection.usable());
        let connection = match usable {
            Some(connection) => connection,
            None => self.stores.resource(&self.to, self.limit).await?,
        };
        self.connection = Some(connection.clone());
        connection.request(request).await
    }
}
