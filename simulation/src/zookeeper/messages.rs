//! What clients and servers say to each other.

use workloads::api::zookeeper::{CreateMode, Stat, ZkEvent};

/// Client to server.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    /// The first message of a connection; its answers go on with watch events. Session 0: a new one.
    Connect {
        session: i64,
        password: Vec<u8>,
        timeout_ms: u64,
        zxid_seen: i64,
    },
    Ping,
    Create {
        path: String,
        data: Vec<u8>,
        mode: CreateMode,
    },
    SetData {
        path: String,
        data: Vec<u8>,
        version: i32,
    },
    Delete {
        path: String,
        version: i32,
    },
    Sync,
    Close,
    Exists {
        path: String,
        watch: bool,
    },
    Children {
        path: String,
        watch: bool,
    },
    Data {
        path: String,
        watch: bool,
    },
}

/// Server to client, with the last transaction that the server has applied.
#[derive(Clone, Debug)]
pub(super) struct Say {
    pub(super) zxid: i64,
    pub(super) body: Body,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    /// A time-out of 0: the session has ended.
    Session {
        id: i64,
        password: Vec<u8>,
        timeout_ms: u64,
    },
    Event(ZkEvent),
    Done,
    Created(String, Stat),
    Stat(Stat),
    Children(Vec<String>),
    Data(Vec<u8>, Stat),
    /// An error code.
    Error(i32),
}
