//! The lock and the election on a queue of ephemeral sequential nodes.

use std::{collections::BTreeMap, rc::Rc, time::Duration};

use async_trait::async_trait;

use super::{
    queue::{Flaw, in_order, wait_for_turn},
    session::{OwnSession, ensure},
};
use crate::{
    api::{
        ZkApi,
        zookeeper::{Answer, CreateMode, ZkEvent},
    },
    env::TaskHandle,
    error::{OpError, OpResult},
    primitive::{Grant, Leader, Lock, Lost, Observe},
    recipes::{Context, context::owner_of},
};

/// One name at a time.
pub(in crate::recipes) struct QueueLock {
    session: OwnSession,
    held: BTreeMap<String, Node>,
    notice: Option<(Lost, Box<dyn TaskHandle>)>,
    /// What a broken variant does wrong.
    flaw: Option<Flaw>,
}

/// Our place in the queue.
#[derive(Clone)]
struct Node {
    directory: String,
    name: String,
    czxid: i64,
}

impl Node {
    fn path(&self) -> String {
        format!("{}/{}", self.directory, self.name)
    }
}

impl QueueLock {
    /// A client that looks at its clock also listens for the end of its session.
    pub(in crate::recipes) fn new(context: Context) -> QueueLock {
        QueueLock { session: OwnSession::new(context), held: BTreeMap::new(), notice: None, flaw: None }
    }

    /// The same, broken.
    pub(in crate::recipes) fn with(mut self, flaw: Flaw) -> Self {
        self.flaw = Some(flaw);
        self
    }

    /// Takes a place in the queue. Its name begins with a number of our own, by which it is found again if the answer is lost.
    async fn queue_up(&mut self, directory: &str) -> OpResult<Node> {
        let zk = self.session.zk().await?;
        ensure(&zk, directory).await?;
        let mark = format!("_c_{:016x}-", self.session.context.env.random());
        let data = self.session.context.unique();
        let path = format!("{directory}/{mark}lock-");
        match zk.create(&path, data.as_bytes(), CreateMode::EphemeralSequential).await {
            Ok(Answer::Done((path, stat))) => Ok(node(directory, &path, stat.czxid)),
            Ok(other) => Err(OpError::Definite(format!("cannot queue up: {other:?}"))),
            Err(OpError::Definite(why)) => Err(OpError::Definite(why)),
            Err(OpError::Indeterminate(why)) => self.find(directory, &mark, why).await,
        }
    }

    /// Looks for the node whose creation was not answered, on another connection of the same session.
    async fn find(&mut self, directory: &str, mark: &str, why: String) -> OpResult<Node> {
        let found = async {
            let zk = self.session.attach_elsewhere().await?;
            zk.sync(directory).await?;
            let names = in_order(&zk, directory).await?;
            let Some(name) = names.into_iter().find(|name| name.starts_with(mark)) else { return Ok(None) };
            let stat = zk.exists(&format!("{directory}/{name}"), false).await?;
            OpResult::Ok(stat.map(|stat| node(directory, &name, stat.czxid)))
        };
        match found.await {
            Ok(Some(node)) => Ok(node),
            // Not there, or nobody knows: only the end of the session is certain to keep it from coming yet.
            _ => Err(self.give_up_session(why).await),
        }
    }

    /// Leaves the queue after a failure: definite once the node is certainly gone.
    async fn leave(&mut self, node: &Node, failure: OpError) -> OpError {
        let (OpError::Definite(why) | OpError::Indeterminate(why)) = failure;
        if self.session.usable()
            && let Ok(zk) = self.session.zk().await
            && let Ok(Answer::Done(()) | Answer::NoNode) = zk.delete(&node.path(), -1).await
        {
            return OpError::Definite(why);
        }
        self.give_up_session(why).await
    }

    async fn give_up_session(&mut self, why: String) -> OpError {
        match self.session.ended().await {
            true => OpError::Definite(why),
            false => OpError::Indeterminate(format!("{why}; its node may be in the queue")),
        }
    }

    async fn wait(&mut self, node: &Node, wait: Duration) -> OpResult<()> {
        let zk = self.session.zk().await?;
        let turn = wait_for_turn(&zk, &node.directory, &node.name, self.flaw);
        match self.session.context.env.timeout(wait, turn).await {
            Ok(outcome) => outcome,
            Err(_) => Err(OpError::Indeterminate("held by another".into())),
        }
    }

    /// A grant for as long as the session certainly lives.
    ///
    /// What a server answers by itself, as pings and reads are, proves nothing: cut off from its leader it goes on
    /// answering for `syncLimit` ticks, while the leader ends the session. It tells the leader whom it has heard with
    /// its answers to the leader's pings, twice a tick, on the connection on which it forwards writes (ZooKeeper's
    /// `Learner.ping`, `LearnerHandler`). Two writes, one after the other, show that the leader has had those answers,
    /// and so has heard of what was asked half a tick earlier. A session's time-out is at least two ticks
    /// (`minSessionTimeout`), so a quarter of it is at least half a tick.
    async fn grant(&self, zk: &Rc<dyn ZkApi>, node: &Node) -> OpResult<Grant> {
        let session = zk.session();
        let context = &self.session.context;
        let begun = context.env.now();
        for _ in 0..2 {
            // The directory's data mean nothing, and nobody watches them.
            match zk.set_data(&node.directory, b"", -1).await? {
                Answer::Done(_) => {}
                other => return Err(OpError::Definite(format!("cannot write to the directory: {other:?}"))),
            }
        }
        let known = zk.answered_before(begun.saturating_sub((session.timeout / 4).as_nanos() as u64));
        let gone = Duration::from_nanos(begun.saturating_sub(known));
        Ok(Grant {
            token: Some(node.czxid as u64),
            lease: Some(format!("{:x}", session.id)),
            ..context.grant(begun, session.timeout.saturating_sub(gone))
        })
    }

    /// Raises `lost` when the servers say on this connection that the session has ended.
    fn listen(&mut self, zk: Rc<dyn ZkApi>, lost: Lost) {
        let told = lost.clone();
        let task = self.session.context.env.spawn(async move {
            loop {
                match zk.next_event().await {
                    ZkEvent::Expired => return told.raise(),
                    // The session may live on: only the deadline tells.
                    ZkEvent::Disconnected => return,
                    _ => {}
                }
            }
        });
        self.notice = Some((lost, task));
    }

    async fn attach_elsewhere(&mut self) -> OpResult<Rc<dyn ZkApi>> {
        let zk = self.session.attach_elsewhere().await?;
        if let Some((lost, _)) = self.notice.take() {
            self.listen(zk.clone(), lost);
        }
        Ok(zk)
    }

    fn held(&self, name: &str) -> OpResult<Node> {
        self.held.get(name).cloned().ok_or_else(|| OpError::Definite("not held".into()))
    }
}

#[async_trait(?Send)]
impl Lock for QueueLock {
    async fn acquire(&mut self, name: &str, wait: Duration) -> OpResult<Grant> {
        self.notice = None;
        let node = self.queue_up(&directory(name)).await?;
        if let Err(failure) = self.wait(&node, wait).await {
            return Err(self.leave(&node, failure).await);
        }
        let zk = self.session.zk().await?;
        let grant = match self.grant(&zk, &node).await {
            Ok(grant) => grant,
            Err(failure) => return Err(self.leave(&node, failure).await),
        };
        self.held.insert(name.to_string(), node);
        if self.session.context.aware {
            self.listen(zk, Lost::default());
        }
        Ok(grant)
    }

    /// The session is kept alive by its pings; this asks how long it certainly lives, and whether our node is still there.
    /// As every client of ZooKeeper does when its connection breaks, it first goes on with the session at another server.
    async fn renew(&mut self, name: &str) -> OpResult<Grant> {
        let node = self.held(name)?;
        let zk = match self.session.usable() {
            true => self.session.zk().await?,
            false => self.attach_elsewhere().await?,
        };
        let grant = self.grant(&zk, &node).await?;
        match zk.exists(&node.path(), false).await? {
            Some(stat) if stat.czxid == node.czxid => Ok(grant),
            _ => Err(OpError::Definite("our node is gone".into())),
        }
    }

    async fn release(&mut self, name: &str) -> OpResult<()> {
        let node = self.held(name)?;
        self.held.remove(name);
        self.notice = None;
        let zk = match self.session.usable() {
            true => self.session.zk().await?,
            // Nothing was asked of anybody yet.
            false => self.session.attach_elsewhere().await.map_err(definite)?,
        };
        match zk.delete(&node.path(), -1).await? {
            Answer::Done(()) => Ok(()),
            Answer::NoNode => Err(OpError::Definite("no longer ours".into())),
            other => Err(OpError::Indeterminate(format!("cannot delete our node: {other:?}"))),
        }
    }

    fn usable(&self) -> bool {
        self.session.usable()
    }

    fn lost(&self) -> Option<Lost> {
        self.notice.as_ref().map(|(lost, _)| lost.clone())
    }
}

#[async_trait(?Send)]
impl Observe for QueueLock {
    async fn observe(&mut self, name: &str) -> OpResult<Option<Leader>> {
        let zk = self.session.zk().await?;
        let directory = directory(name);
        loop {
            let Some(first) = in_order(&zk, &directory).await?.into_iter().next() else { return Ok(None) };
            // It may have gone in between: then there is a new first.
            if let Answer::Done((data, stat)) = zk.get_data(&format!("{directory}/{first}"), false).await? {
                let id = owner_of(&String::from_utf8_lossy(&data)).to_string();
                return Ok(Some(Leader { id, token: Some(stat.czxid as u64) }));
            }
        }
    }
}

/// A failure before anything was asked for.
fn definite(failure: OpError) -> OpError {
    let (OpError::Definite(why) | OpError::Indeterminate(why)) = failure;
    OpError::Definite(why)
}

fn node(directory: &str, path: &str, czxid: i64) -> Node {
    let name = path.rsplit('/').next().unwrap_or(path).to_string();
    Node { directory: directory.to_string(), name, czxid }
}

fn directory(name: &str) -> String {
    format!("/lock/{name}")
}
