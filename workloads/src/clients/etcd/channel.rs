use std::{cell::Cell, rc::Rc, time::Duration};

use bytes::{Bytes, BytesMut};
use h2::{RecvStream, SendStream, client::SendRequest};
use http::{HeaderMap, Request};
use prost::Message;

use super::{
    errors::{self, Shape},
    frames,
};
use crate::{
    api::Endpoint,
    clients::connect::connect,
    env::{Env, TaskHandle},
    error::{OpError, OpResult},
};

/// One HTTP/2 connection, never replaced by another.
pub(super) struct Channel {
    env: Env,
    limit: Duration,
    node: String,
    addr: String,
    sender: SendRequest<Bytes>,
    open: Rc<Cell<bool>>,
    _driver: Box<dyn TaskHandle>,
}

/// A call whose answers are read one by one.
pub(super) struct Answers {
    node: String,
    shape: Shape,
    // Dropping it before the end cancels the call.
    _request: SendStream<Bytes>,
    body: RecvStream,
    received: BytesMut,
}

impl Channel {
    pub(super) async fn open(env: &Env, to: &Endpoint, limit: Duration) -> OpResult<Channel> {
        let stream = connect(env, to, limit).await?;
        let failed = |why: String| OpError::Definite(format!("cannot connect to {}: {why}", to.node));
        let greeted = env.timeout(limit, h2::client::handshake(stream)).await;
        let (sender, connection) =
            greeted.map_err(|late| failed(late.to_string()))?.map_err(|error| failed(error.to_string()))?;
        let open = Rc::new(Cell::new(true));
        let ended = open.clone();
        let driver = env.spawn(async move {
            // Each call learns of the failure by itself.
            let _ = connection.await;
            ended.set(false);
        });
        let (node, addr) = (to.node.clone(), to.addr.clone());
        Ok(Channel { env: env.clone(), limit, node, addr, sender, open, _driver: driver })
    }

    pub(super) fn usable(&self) -> bool {
        self.open.get()
    }

    /// One request, one answer, within the channel's limit; running out of it closes the channel.
    pub(super) async fn call<A: Message + Default>(
        &self,
        path: &str,
        request: &impl Message,
        shape: Shape,
    ) -> OpResult<A> {
        match self.env.timeout(self.limit, self.only_answer(path, request, shape)).await {
            Ok(answer) => answer,
            Err(late) => {
                self.open.set(false);
                Err(OpError::Indeterminate(format!("{}: {late}", self.node)))
            }
        }
    }

    /// The same within `wait`, for a call that waits inside the server; running out of it cancels the call.
    pub(super) async fn wait<A: Message + Default>(
        &self,
        path: &str,
        request: &impl Message,
        wait: Duration,
    ) -> OpResult<A> {
        match self.env.timeout(wait, self.only_answer(path, request, Shape::Begun)).await {
            Ok(answer) => answer,
            Err(_) => {
                Err(OpError::Indeterminate(format!("{}: cancelled after {} ms", self.node, wait.as_millis())))
            }
        }
    }

    /// Starts a call whose answers are read one by one; the first one is waited for within the limit.
    pub(super) async fn stream<A: Message + Default>(
        &self,
        path: &str,
        request: &impl Message,
    ) -> OpResult<(A, Answers)> {
        let first = async {
            let mut answers = self.start(path, request, false, Shape::Begun).await?;
            let first = answers.next().await?;
            Ok((first, answers))
        };
        match self.env.timeout(self.limit, first).await {
            Ok(started) => started,
            Err(late) => {
                self.open.set(false);
                Err(OpError::Indeterminate(format!("{}: {late}", self.node)))
            }
        }
    }

    async fn only_answer<A: Message + Default>(
        &self,
        path: &str,
        request: &impl Message,
        shape: Shape,
    ) -> OpResult<A> {
        self.start(path, request, true, shape).await?.next().await
    }

    async fn start(&self, path: &str, message: &impl Message, last: bool, shape: Shape) -> OpResult<Answers> {
        let unsent = |why: String| OpError::Definite(format!("{}: not sent: {why}", self.node));
        if !self.open.get() {
            return Err(unsent("the connection is closed".into()));
        }
        let request = Request::post(format!("http://{}/{path}", self.addr))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header("hasleader", "true")
            .body(())
            .map_err(|error| unsent(error.to_string()))?;
        let mut sender = self.sender.clone().ready().await.map_err(|error| unsent(error.to_string()))?;
        let (response, mut stream) =
            sender.send_request(request, false).map_err(|error| unsent(error.to_string()))?;
        let broken = |error: h2::Error| errors::broken(&self.node, &error);
        stream.send_data(frames::encode(message), last).map_err(broken)?;
        let response = response.await.map_err(broken)?;
        if response.status() != http::StatusCode::OK {
            return Err(OpError::Indeterminate(format!("{}: HTTP {}", self.node, response.status())));
        }
        refused(response.headers(), shape)?;
        let (node, body) = (self.node.clone(), response.into_body());
        Ok(Answers { node, shape, _request: stream, body, received: BytesMut::new() })
    }
}

impl Answers {
    /// The next answer, or why there is none. Dropping the call loses nothing.
    pub(super) async fn next<A: Message + Default>(&mut self) -> OpResult<A> {
        loop {
            if let Some(answer) = frames::decode(&mut self.received).map_err(OpError::Indeterminate)? {
                return Ok(answer);
            }
            match self.body.data().await {
                Some(Ok(data)) => {
                    self.received.extend_from_slice(&data);
                    let released = self.body.flow_control().release_capacity(data.len());
                    released.map_err(|error| errors::broken(&self.node, &error))?;
                }
                Some(Err(error)) => return Err(errors::broken(&self.node, &error)),
                None => return Err(self.ended().await),
            }
        }
    }

    async fn ended(&mut self) -> OpError {
        match self.body.trailers().await {
            Ok(Some(trailers)) => match refused(&trailers, self.shape) {
                Err(error) => error,
                Ok(()) => OpError::Indeterminate(format!("{}: no answer", self.node)),
            },
            Ok(None) => OpError::Indeterminate(format!("{}: the answer has no status", self.node)),
            Err(error) => errors::broken(&self.node, &error),
        }
    }
}

fn refused(headers: &HeaderMap, shape: Shape) -> OpResult<()> {
    match frames::status(headers) {
        None | Some((0, _)) => Ok(()),
        Some((code, message)) => Err(errors::classify(code, &message, shape)),
    }
}
