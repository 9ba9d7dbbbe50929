//! ZooKeeper: a session on one server at a time.

use std::time::Duration;

use async_trait::async_trait;

use crate::error::OpResult;

/// A session's name, secret and negotiated time-out, enough to attach to it from another connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The servers' number for it.
    pub id: i64,
    /// What proves that it is ours.
    pub password: Vec<u8>,
    /// After this long without a word from the client the servers end it.
    pub timeout: Duration,
    /// The last transaction that the client has seen; a server that is behind refuses to be attached to.
    pub zxid_seen: i64,
}

/// Which session a new connection is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Open {
    /// A new one; the server negotiates the time-out.
    New {
        /// The time-out asked for.
        timeout: Duration,
    },
    /// Explicitly goes on with an existing one. `Definite` means that the session has ended; any other failure is `Indeterminate`.
    Attach(Session),
}

/// How a node is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateMode {
    /// Stays until deleted.
    Persistent,
    /// Ends with the session.
    Ephemeral,
    /// Ends with the session; the server appends ten digits that count up.
    EphemeralSequential,
}

/// What is known of a node beside its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// Transaction that created it.
    pub czxid: i64,
    /// Transaction that changed it last.
    pub mzxid: i64,
    /// Changes of its data.
    pub version: i32,
    /// The session that owns it, 0 for persistent ones.
    pub ephemeral_owner: i64,
}

/// A server's clear answer to an operation on the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// Done.
    Done(T),
    /// The node (on create: its parent) does not exist.
    NoNode,
    /// It exists already.
    NodeExists,
    /// The version asked for is not the node's.
    BadVersion,
    /// The node to delete has children.
    NotEmpty,
}

impl<T> Answer<T> {
    /// The result, if it was done.
    pub fn done(self) -> Option<T> {
        match self {
            Answer::Done(value) => Some(value),
            _ => None,
        }
    }
}

/// What a watch reported, once, or what became of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ZkEvent {
    /// The watched path was created.
    Created(String),
    /// The watched path was deleted.
    Deleted(String),
    /// The watched path's data changed.
    DataChanged(String),
    /// The watched path's children changed.
    ChildrenChanged(String),
    /// The connection is gone; the session may live on. Repeats for ever.
    Disconnected,
    /// The servers say that the session has ended. Repeats for ever.
    Expired,
}

/// One connection of one session. It pings by itself; it never reconnects.
#[async_trait(?Send)]
pub trait ZkApi {
    /// Creates a node: its path, with the sequence number where one was asked for.
    async fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> OpResult<Answer<(String, Stat)>>;
    /// Whether it exists, with a one-shot watch for creation, deletion or change.
    async fn exists(&self, path: &str, watch: bool) -> OpResult<Option<Stat>>;
    /// Names of the children, in no order.
    async fn get_children(&self, path: &str, watch: bool) -> OpResult<Answer<Vec<String>>>;
    /// The data.
    async fn get_data(&self, path: &str, watch: bool) -> OpResult<Answer<(Vec<u8>, Stat)>>;
    /// Replaces the data if the version is the one given (-1: any).
    async fn set_data(&self, path: &str, data: &[u8], version: i32) -> OpResult<Answer<Stat>>;
    /// Deletes if the version is the one given (-1: any).
    async fn delete(&self, path: &str, version: i32) -> OpResult<Answer<()>>;
    /// Makes this server catch up with the leader before the next read.
    async fn sync(&self, path: &str) -> OpResult<()>;
    /// The session this connection belongs to.
    fn session(&self) -> Session;
    /// When the last request before `time` was sent (`Env::now`) that the server has answered, pings included; when the
    /// connection was asked for, if that was later. It is no promise: a server that is cut off from its leader goes on
    /// answering pings and reads, while the leader ends the session.
    fn answered_before(&self, time: u64) -> u64;
    /// The next event; dropping the call loses nothing. One caller at a time.
    async fn next_event(&self) -> ZkEvent;
    /// Ends the session (its ephemeral nodes go) and the connection.
    async fn close(&self) -> OpResult<()>;
    /// Drops the connection without ending the session, to attach to it elsewhere.
    fn detach(&self);
    /// Whether the connection can still be used.
    fn usable(&self) -> bool;
}
