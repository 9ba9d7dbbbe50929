//! Opening a connection, and using one that answers requests in order.

use std::{future::Future, io, time::Duration};

use tokio::{net::TcpStream, sync::Mutex};

use crate::{
    api::Endpoint,
    env::Env,
    error::{OpError, OpResult},
};

/// Opens a TCP connection, without delay of small packets. Any failure is definite: nothing was asked yet.
pub(super) async fn connect(env: &Env, to: &Endpoint, limit: Duration) -> OpResult<TcpStream> {
    let opened = env.timeout(limit, TcpStream::connect(&to.addr)).await;
    let failed =
        |why: String| OpError::Definite(format!("cannot connect to {} at {}: {why}", to.node, to.addr));
    let stream =
        opened.map_err(|late| failed(late.to_string()))?.map_err(|error| failed(error.to_string()))?;
    stream.set_nodelay(true).map_err(|error| failed(error.to_string()))?;
    Ok(stream)
}

/// A stream, until something has gone wrong on it.
///
/// Whoever uses it takes it out and puts it back only after a whole answer; so a call that fails, runs out of time
/// or is dropped half-way finishes the connection, and no later call can read its late answer.
pub(super) struct InTurn {
    env: Env,
    limit: Duration,
    server: String,
    stream: Mutex<Option<TcpStream>>,
}

impl InTurn {
    /// Wraps a fresh connection.
    pub(super) fn new(env: &Env, to: &Endpoint, limit: Duration, stream: TcpStream) -> InTurn {
        InTurn { env: env.clone(), limit, server: to.node.clone(), stream: Mutex::new(Some(stream)) }
    }

    /// Sends one request and reads its answer, both by `talk`, which is given the stream.
    pub(super) async fn call<T, F>(&self, talk: impl FnOnce(TcpStream) -> F) -> OpResult<T>
    where
        F: Future<Output = io::Result<(T, TcpStream)>>,
    {
        let mut turn = self.stream.lock().await;
        let closed = || OpError::Definite(format!("the connection to {} is closed: not sent", self.server));
        let stream = turn.take().filter(is_open).ok_or_else(closed)?;
        match self.env.timeout(self.limit, talk(stream)).await {
            Ok(Ok((answer, stream))) => {
                *turn = Some(stream);
                Ok(answer)
            }
            Ok(Err(error)) => {
                Err(OpError::Indeterminate(format!("the connection to {} broke: {error}", self.server)))
            }
            Err(late) => Err(OpError::Indeterminate(format!("{}: {late}", self.server))),
        }
    }

    /// Whether calls may still be made.
    pub(super) fn usable(&self) -> bool {
        self.stream.try_lock().is_ok_and(|stream| stream.as_ref().is_some_and(is_open))
    }
}

/// Nothing is to be read between two requests: neither data nor the end.
fn is_open(stream: &TcpStream) -> bool {
    matches!(stream.try_read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}
