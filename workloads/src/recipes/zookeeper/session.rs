use std::rc::Rc;

use crate::{
    api::{
        Endpoint, ZkApi,
        zookeeper::{Answer, CreateMode, Open},
    },
    error::{OpError, OpResult},
    recipes::Context,
};

/// Through how many servers a session whose connection broke is attached to again.
const SERVERS_MAX: usize = 2;

/// One client's session, and the connection it is on.
pub(super) struct OwnSession {
    pub(super) context: Context,
    connection: Option<Rc<dyn ZkApi>>,
}

impl OwnSession {
    pub(super) fn new(context: Context) -> OwnSession {
        OwnSession { context, connection: None }
    }

    pub(super) fn usable(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.usable())
    }

    /// The connection; now opened, with a new session, if it was not yet. One that broke stays broken.
    pub(super) async fn zk(&mut self) -> OpResult<Rc<dyn ZkApi>> {
        match &self.connection {
            Some(connection) => Ok(connection.clone()),
            None => {
                let (first, limit) = (&self.context.endpoints[0], self.context.limit);
                let open = Open::New { timeout: self.context.ttl };
                let connection = self.context.stores.zookeeper(first, limit, open).await?;
                self.connection = Some(connection.clone());
                Ok(connection)
            }
        }
    }

    /// Explicitly goes on with the same session on another connection. `Definite` means that the session has ended.
    pub(super) async fn attach_elsewhere(&mut self) -> OpResult<Rc<dyn ZkApi>> {
        let mut failure = OpError::Indeterminate("there was no session".into());
        let Some(broken) = &self.connection else { return Err(failure) };
        let session = broken.session();
        broken.detach();
        for server in others(&self.context.endpoints) {
            let open = Open::Attach(session.clone());
            match self.context.stores.zookeeper(server, self.context.limit, open).await {
                Ok(connection) => {
                    self.connection = Some(connection.clone());
                    return Ok(connection);
                }
                Err(OpError::Definite(why)) => return Err(OpError::Definite(why)),
                Err(undecided) => failure = undecided,
            }
        }
        Err(failure)
    }

    /// Ends the session, on a new connection if need be: whether it has certainly ended, and with it all that it had created.
    pub(super) async fn ended(&mut self) -> bool {
        match self.attach_elsewhere().await {
            Ok(zk) => zk.close().await.is_ok(),
            Err(error) => matches!(error, OpError::Definite(_)),
        }
    }
}

/// The servers after the first, then the first.
fn others(endpoints: &[Endpoint]) -> impl Iterator<Item = &Endpoint> {
    endpoints.iter().cycle().skip(1).take(endpoints.len().min(SERVERS_MAX))
}

/// Creates the directory and its parents where they are missing. They grant nothing, so that a failure is definite.
pub(super) async fn ensure(zk: &Rc<dyn ZkApi>, directory: &str) -> OpResult<()> {
    let parents =
        directory.match_indices('/').map(|(end, _)| &directory[..end]).filter(|path| !path.is_empty());
    for path in parents.chain([directory]) {
        match zk.create(path, b"", CreateMode::Persistent).await {
            Ok(Answer::Done(_) | Answer::NodeExists) => {}
            Ok(other) => return Err(OpError::Definite(format!("cannot create {path}: {other:?}"))),
            Err(OpError::Definite(why) | OpError::Indeterminate(why)) => return Err(OpError::Definite(why)),
        }
    }
    Ok(())
}
