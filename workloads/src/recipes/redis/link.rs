use std::{rc::Rc, time::Duration};

use crate::{
    api::{Endpoint, RedisApi},
    error::OpResult,
    recipes::Context,
};

/// A connection to one server, opened when it is first asked for.
pub(super) struct Link {
    context: Context,
    to: Endpoint,
    limit: Duration,
    connection: Option<Rc<dyn RedisApi>>,
}

impl Link {
    pub(super) fn new(context: &Context, to: &Endpoint, limit: Duration) -> Link {
        Link { context: context.clone(), to: to.clone(), limit, connection: None }
    }

    /// The connection, opened now if it was not yet. One that broke stays broken.
    pub(super) async fn get(&mut self) -> OpResult<Rc<dyn RedisApi>> {
        match &self.connection {
            Some(connection) => Ok(connection.clone()),
            None => {
                let connection = self.context.stores.redis(&self.to, self.limit).await?;
                self.connection = Some(connection.clone());
                Ok(connection)
            }
        }
    }

    /// The same, but explicitly a new connection in place of one that broke.
    pub(super) async fn get_anew(&mut self) -> OpResult<Rc<dyn RedisApi>> {
        if !self.usable() {
            self.connection = None;
        }
        self.get().await
    }

    pub(super) fn usable(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.usable())
    }
}
