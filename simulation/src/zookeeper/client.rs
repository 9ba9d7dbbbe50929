//! The client's side of the model: pings by itself, never reconnects.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use async_trait::async_trait;
use workloads::{
    api::{
        Answered,
        zookeeper::{Answer, CreateMode, Open, Session, Stat, ZkApi, ZkEvent},
    },
    clients::zookeeper::errors::{classify, code},
    env::{EnvApi, TaskHandle},
    error::{OpError, OpResult},
};

use super::{
    messages::{Ask, Body, Say},
    server::PORT,
};
use crate::{
    node::{Node, NodeId},
    rpc::Caller,
};

/// A connection of one session to one simulated server.
pub struct ZkClient {
    line: Rc<Line>,
    session: Session,
    pings: RefCell<Option<Box<dyn TaskHandle>>>,
}

struct Line {
    node: Node,
    caller: Caller<Ask, Say>,
    events: Cell<u64>,
    ended: RefCell<Option<ZkEvent>>,
    answered: Answered,
    zxid_seen: Cell<i64>,
}

impl ZkClient {
    /// Connects from `node` and opens or attaches to a session.
    pub async fn open(node: &Node, to: NodeId, limit: Duration, open: Open) -> OpResult<ZkClient> {
        let asked = EnvApi::now(node);
        let attach = matches!(open, Open::Attach(_));
        // A new session that did not come about leaves nothing that matters.
        let undecided = |error: OpError| match attach {
            true => OpError::Indeterminate(error.to_string()),
            false => OpError::Definite(error.to_string()),
        };
        let caller: Caller<Ask, Say> = Caller::open(node, to, PORT, limit).await.map_err(undecided)?;
        let ask = match open {
            Open::New { timeout } => Ask::Connect {
                session: 0,
                password: vec![],
                timeout_ms: timeout.as_millis() as u64,
                zxid_seen: 0,
            },
            Open::Attach(session) => Ask::Connect {
                session: session.id,
                password: session.password,
                timeout_ms: session.timeout.as_millis() as u64,
                zxid_seen: session.zxid_seen,
            },
        };
        let (events, Say { zxid, body }) = caller.open_stream(ask).await.map_err(undecided)?;
        let Body::Session { id, password, timeout_ms } = body else {
            return Err(undecided(OpError::Indeterminate(format!("no session: {body:?}"))));
        };
        if timeout_ms == 0 {
            return Err(OpError::Definite("the session has ended".into()));
        }
        let timeout = Duration::from_millis(timeout_ms);
        let line = Rc::new(Line {
            node: node.clone(),
            caller,
            events: Cell::new(events),
            ended: RefCell::new(None),
            answered: Answered::new(asked, timeout),
            zxid_seen: Cell::new(zxid),
        });
        let pings = node.spawn(Box::pin(line.clone().ping(timeout)));
        let session = Session { id, password, timeout, zxid_seen: zxid };
        Ok(ZkClient { line, session, pings: RefCell::new(Some(pings)) })
    }

    async fn ask<T>(&self, ask: Ask, read: impl FnOnce(Body) -> Option<T>) -> OpResult<Answer<T>> {
        match self.line.call(ask).await? {
            Body::Error(code) => self.classify(code),
            body => read(body)
                .map(Answer::Done)
                .ok_or_else(|| OpError::Indeterminate("an unexpected answer".into())),
        }
    }

    /// As the real client has it; whose session has ended has no connection any more.
    fn classify<T>(&self, code: i32) -> OpResult<Answer<T>> {
        if code == code::SESSION_EXPIRED {
            self.line.end(ZkEvent::Expired);
        }
        classify(code)
    }
}

impl Line {
    async fn call(&self, ask: Ask) -> OpResult<Body> {
        let sent = EnvApi::now(&self.node);
        let said = self.caller.call(ask).await;
        match said {
            Ok(Say { zxid, body }) => {
                self.zxid_seen.set(self.zxid_seen.get().max(zxid));
                self.answered.note(sent);
                Ok(body)
            }
            Err(error) => {
                self.end(ZkEvent::Disconnected);
                Err(error)
            }
        }
    }

    fn end(&self, how: ZkEvent) {
        self.ended.borrow_mut().get_or_insert(how);
        self.caller.finish("the connection has ended");
        self.caller.hang_up();
    }

    /// A ping each third of the time-out. Ends the connection when the server was silent for two thirds of it.
    async fn ping(self: Rc<Self>, timeout: Duration) {
        let third = timeout / 3;
        loop {
            self.node.sleep(third).await;
            if self.caller.is_finished() {
                return;
            }
            if EnvApi::now(&self.node) > self.answered.last() + (2 * third).as_nanos() as u64 {
                return self.end(ZkEvent::Disconnected);
            }
            let line = self.clone();
            self.node.run(async move {
                let sent = EnvApi::now(&line.node);
                if let Ok(pending) = line.caller.subscribe(Ask::Ping)
                    && let Ok(Say { .. }) = pending.next().await
                {
                    line.answered.note(sent);
                }
            });
        }
    }
}

/// A question that a server answers with an error about another node cannot be.
fn only_done<T>(answer: Answer<T>) -> OpResult<T> {
    answer.done().ok_or_else(|| OpError::Indeterminate("an unexpected error code".into()))
}

fn stat(body: Body) -> Option<Stat> {
    match body {
        Body::Stat(stat) => Some(stat),
        _ => None,
    }
}

fn done(body: Body) -> Option<()> {
    matches!(body, Body::Done).then_some(())
}

#[async_trait(?Send)]
impl ZkApi for ZkClient {
    async fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> OpResult<Answer<(String, Stat)>> {
        let ask = Ask::Create { path: path.to_owned(), data: data.to_vec(), mode };
        let read = |body| match body {
            Body::Created(path, stat) => Some((path, stat)),
            _ => None,
        };
        self.ask(ask, read).await
    }

    async fn exists(&self, path: &str, watch: bool) -> OpResult<Option<Stat>> {
        match self.ask(Ask::Exists { path: path.to_owned(), watch }, stat).await? {
            Answer::NoNode => Ok(None),
            other => only_done(other).map(Some),
        }
    }

    async fn get_children(&self, path: &str, watch: bool) -> OpResult<Answer<Vec<String>>> {
        let read = |body| match body {
            Body::Children(names) => Some(names),
            _ => None,
        };
        self.ask(Ask::Children { path: path.to_owned(), watch }, read).await
    }

    async fn get_data(&self, path: &str, watch: bool) -> OpResult<Answer<(Vec<u8>, Stat)>> {
        let read = |body| match body {
            Body::Data(data, stat) => Some((data, stat)),
            _ => None,
        };
        self.ask(Ask::Data { path: path.to_owned(), watch }, read).await
    }

    async fn set_data(&self, path: &str, data: &[u8], version: i32) -> OpResult<Answer<Stat>> {
        self.ask(Ask::SetData { path: path.to_owned(), data: data.to_vec(), version }, stat).await
    }

    async fn delete(&self, path: &str, version: i32) -> OpResult<Answer<()>> {
        self.ask(Ask::Delete { path: path.to_owned(), version }, done).await
    }

    async fn sync(&self, _path: &str) -> OpResult<()> {
        only_done(self.ask(Ask::Sync, done).await?)
    }

    fn session(&self) -> Session {
        Session { zxid_seen: self.line.zxid_seen.get(), ..self.session.clone() }
    }

    fn answered_before(&self, time: u64) -> u64 {
        self.line.answered.before(time)
    }

    async fn next_event(&self) -> ZkEvent {
        loop {
            if let Some(end) = self.line.ended.borrow().clone() {
                return end;
            }
            match self.line.caller.next_of(self.line.events.get()).await {
                Ok(Say { zxid, body: Body::Event(event) }) => {
                    self.line.zxid_seen.set(self.line.zxid_seen.get().max(zxid));
                    return event;
                }
                Ok(_) => {}
                Err(_) => self.line.end(ZkEvent::Disconnected),
            }
        }
    }

    async fn close(&self) -> OpResult<()> {
        let closed = self.ask(Ask::Close, done).await;
        self.detach();
        only_done(closed?)
    }

    fn detach(&self) {
        self.line.end(ZkEvent::Disconnected);
        self.pings.borrow_mut().take();
    }

    fn usable(&self) -> bool {
        !self.line.caller.is_finished()
    }
}
