//! ZooKeeper's wire protocol, one TCP connection of one session.
//!
//! Written here because the libraries at hand queue requests while they are disconnected and deliver them after
//! they have silently reconnected, which falsifies a history.

pub mod errors;
mod jute;
mod wire;

use std::{cell::RefCell, rc::Rc, time::Duration};

use async_trait::async_trait;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use self::{
    errors::classify,
    jute::{Malformed, Reader, Writer},
    wire::{Wire, read_packet},
};
use super::connect::connect;
use crate::{
    api::{
        Endpoint, ZkApi,
        zookeeper::{Answer, CreateMode, Open, Session, Stat, ZkEvent},
    },
    env::{Env, TaskHandle},
    error::{OpError, OpResult},
};

const CREATE2: i32 = 15;
const DELETE: i32 = 2;
const EXISTS: i32 = 3;
const GET_DATA: i32 = 4;
const SET_DATA: i32 = 5;
const GET_CHILDREN: i32 = 8;
const SYNC: i32 = 9;
const CLOSE_SESSION: i32 = -11;
/// Everything is allowed to everybody.
const PERMISSIONS_ALL: i32 = 31;

/// A connection of a session to one server.
pub(super) struct ZkClient {
    env: Env,
    limit: Duration,
    node: String,
    session: Session,
    wire: Rc<Wire>,
    tasks: RefCell<Vec<Box<dyn TaskHandle>>>,
}

impl ZkClient {
    pub(super) async fn open(env: &Env, to: &Endpoint, limit: Duration, open: Open) -> OpResult<ZkClient> {
        let asked = env.now();
        let attach = matches!(open, Open::Attach(_));
        let undecided = |why: String| match attach {
            true => OpError::Indeterminate(why),
            false => OpError::Definite(why),
        };
        let stream = connect(env, to, limit).await.map_err(|error| undecided(error.to_string()))?;
        let greeted = env.timeout(limit, greet(stream, &open)).await;
        let greeted = greeted.map_err(|late| undecided(format!("{}: no session: {late}", to.node)))?;
        let (stream, session) =
            greeted.map_err(|error| undecided(format!("{}: no session: {error}", to.node)))?;
        if session.timeout.is_zero() {
            return Err(OpError::Definite(format!("{}: the session has ended", to.node)));
        }
        let (wire, queue) = Wire::new(env, session.timeout, asked, session.zxid_seen);
        let (reader, writer) = stream.into_split();
        let tasks = vec![
            env.spawn(wire.clone().send_all(writer, queue)),
            env.spawn(wire.clone().receive_all(reader)),
        ];
        let (env, node) = (env.clone(), to.node.clone());
        Ok(ZkClient { env, limit, node, session, wire, tasks: RefCell::new(tasks) })
    }

    /// One request: the record of its answer, read by `read`.
    async fn call<T>(
        &self,
        kind: i32,
        body: impl FnOnce(Writer) -> Writer,
        read: impl FnOnce(&mut Reader) -> Result<T, Malformed>,
    ) -> OpResult<Answer<T>> {
        let closed = || OpError::Definite(format!("the connection to {} is closed: not sent", self.node));
        let reply = self.wire.request(kind, body).ok_or_else(closed)?;
        match self.env.timeout(self.limit, reply).await {
            Ok(Ok((0, record))) => read(&mut Reader::new(&record))
                .map(Answer::Done)
                .map_err(|error| OpError::Indeterminate(error.to_string())),
            Ok(Ok((code, _))) => classify(code),
            Ok(Err(_)) => Err(OpError::Indeterminate(format!("the connection to {} broke", self.node))),
            Err(late) => {
                self.detach();
                Err(OpError::Indeterminate(format!("{}: {late}", self.node)))
            }
        }
    }
}

/// Asks for a session, or for the continuation of one. A time-out of zero in the answer means that it has ended.
async fn greet(mut stream: TcpStream, open: &Open) -> std::io::Result<(TcpStream, Session)> {
    let none = [0; 16];
    let (zxid_seen, timeout, id, password) = match open {
        Open::New { timeout } => (0, *timeout, 0, &none[..]),
        Open::Attach(session) => (session.zxid_seen, session.timeout, session.id, &session.password[..]),
    };
    let request = Writer::default()
        .int(0)
        .long(zxid_seen)
        .int(timeout.as_millis() as i32)
        .long(id)
        .buffer(password)
        .bool(false)
        .packet();
    stream.write_all(&request).await?;
    let packet = read_packet(&mut stream).await?;
    let mut reader = Reader::new(&packet);
    let mut read = || {
        let _protocol = reader.int()?;
        let timeout = Duration::from_millis(reader.int()?.max(0) as u64);
        Ok(Session { timeout, id: reader.long()?, password: reader.buffer()?, zxid_seen })
    };
    let session = read().map_err(|error: Malformed| std::io::Error::other(error))?;
    Ok((stream, session))
}

/// A question that a server answers with an error about another node cannot be.
fn only_done<T>(answer: Answer<T>) -> OpResult<T> {
    answer.done().ok_or_else(|| OpError::Indeterminate("an unexpected error code".into()))
}

#[async_trait(?Send)]
impl ZkApi for ZkClient {
    async fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> OpResult<Answer<(String, Stat)>> {
        let flags = match mode {
            CreateMode::Persistent => 0,
            CreateMode::Ephemeral => 1,
            CreateMode::EphemeralSequential => 3,
        };
        let body = |record: Writer| {
            let with_acl = record.string(path).buffer(data).int(1).int(PERMISSIONS_ALL).string("world");
            with_acl.string("anyone").int(flags)
        };
        self.call(CREATE2, body, |reader| Ok((reader.string()?, reader.stat()?))).await
    }

    async fn exists(&self, path: &str, watch: bool) -> OpResult<Option<Stat>> {
        match self.call(EXISTS, |record| record.string(path).bool(watch), |reader| reader.stat()).await? {
            Answer::NoNode => Ok(None),
            other => only_done(other).map(Some),
        }
    }

    async fn get_children(&self, path: &str, watch: bool) -> OpResult<Answer<Vec<String>>> {
        self.call(GET_CHILDREN, |record| record.string(path).bool(watch), |reader| reader.strings()).await
    }

    async fn get_data(&self, path: &str, watch: bool) -> OpResult<Answer<(Vec<u8>, Stat)>> {
        let read = |reader: &mut Reader| Ok((reader.buffer()?, reader.stat()?));
        self.call(GET_DATA, |record| record.string(path).bool(watch), read).await
    }

    async fn set_data(&self, path: &str, data: &[u8], version: i32) -> OpResult<Answer<Stat>> {
        self.call(SET_DATA, |record| record.string(path).buffer(data).int(version), |reader| reader.stat())
            .await
    }

    async fn delete(&self, path: &str, version: i32) -> OpResult<Answer<()>> {
        self.call(DELETE, |record| record.string(path).int(version), |_| Ok(())).await
    }

    async fn sync(&self, path: &str) -> OpResult<()> {
        only_done(self.call(SYNC, |record| record.string(path), |_| Ok(())).await?)
    }

    fn session(&self) -> Session {
        Session { zxid_seen: self.wire.zxid_seen(), ..self.session.clone() }
    }

    fn answered_before(&self, time: u64) -> u64 {
        self.wire.answered().before(time)
    }

    async fn next_event(&self) -> ZkEvent {
        self.wire.next_event().await
    }

    async fn close(&self) -> OpResult<()> {
        let closed = self.call(CLOSE_SESSION, |record| record, |_| Ok(())).await;
        self.detach();
        only_done(closed?)
    }

    fn detach(&self) {
        self.wire.end(ZkEvent::Disconnected);
        self.tasks.borrow_mut().clear();
    }

    fn usable(&self) -> bool {
        self.wire.is_open()
    }
}
