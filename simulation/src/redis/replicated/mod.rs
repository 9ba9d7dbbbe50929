//! A server that replicates: a primary, or a replica of one, as its sentinels tell it.
//!
//! Source: `replication.c`, `expire.c` and `config.c` of Redis 7.0; redis.io, "Redis replication". A replica hides
//! expired keys and deletes none; the primary deletes them and says so. Expiries travel as instants, before 7.0 as times
//! to live, which the replica counts on its own clock from their arrival ([`Options::of_version`]). Which primary a
//! server follows is in its configuration file and outlives a restart; its keys do as `persistence` says, and a restarted
//! server begins a history of its own. Told to change its role it closes its clients' connections, as sentinels
//! ask of it (`CLIENT KILL TYPE normal`).
//! Simpler than the server: while it loads a full copy it answers as before, not with `LOADING`.

mod replication;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    time::Duration,
};

use tokio::sync::Notify;
use workloads::{api::redis::Value, env::EnvApi};

use self::replication::Replicas;
use super::{
    kept::Kept,
    keyspace::Keyspace,
    options::Options,
    readonly,
    server::{self, ACTIVE_EXPIRY, Answer, Command, FSYNC_EVERY, PORT, Persistence},
    stream::{Item, Stream},
};
use crate::{
    node::{Node, NodeId},
    rpc::{Request, Responder, serve_each, within},
};

/// What a server is to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Primary,
    Replica(NodeId),
}

/// A running server. Its tasks end with its node.
pub struct Replicated {
    pub(super) node: Node,
    pub(super) options: Options,
    pub(super) kept: Kept,
    keyspace: RefCell<Keyspace>,
    pub(super) stream: RefCell<Stream>,
    pub(super) role: Cell<Role>,
    role_changed: Notify,
    replicas: Replicas,
    /// Since when a replica has had no link, nanoseconds; `None` while it has one.
    unlinked: Cell<Option<u64>>,
    /// The way to each client that has asked something, by number of its connection.
    clients: RefCell<BTreeMap<u64, Responder<Answer>>>,
}

impl Replicated {
    /// Starts the server on a living node, with what was kept.
    pub fn start(node: &Node, options: Options, kept: &Kept) -> Rc<Replicated> {
        let keyspace = match options.persistence {
            Persistence::None => Keyspace::default(),
            _ => Keyspace::load(kept.disk.read()),
        };
        let server = Rc::new(Replicated {
            node: node.clone(),
            options,
            kept: kept.clone(),
            keyspace: RefCell::new(keyspace),
            stream: RefCell::new(Stream::new(node.random())),
            role: Cell::new(kept.replica_of.get().map_or(Role::Primary, Role::Replica)),
            role_changed: Notify::new(),
            replicas: Replicas::default(),
            unlinked: Cell::new(Some(node.now())),
            clients: RefCell::default(),
        });
        server.clone().serve_clients();
        node.run(server.clone().attach_replicas());
        node.run(server.clone().follow());
        node.run(server.clone().expire());
        if options.persistence == Persistence::EverySecond {
            node.run(server.clone().sync_every_second());
        }
        server
    }

    /// The node that it runs on.
    pub fn id(&self) -> NodeId {
        self.node.id()
    }

    /// Whether it takes writes.
    pub fn is_primary(&self) -> bool {
        self.role.get() == Role::Primary
    }

    /// Whether it is a primary, or a replica that copies one now.
    pub fn is_in_sync(&self) -> bool {
        self.is_primary() || self.unlinked.get().is_none()
    }

    /// `SLAVEOF`, `CONFIG REWRITE` and `CLIENT KILL TYPE normal`, in one transaction.
    pub fn follow_from_now(&self, primary: Option<NodeId>) {
        let role = primary.map_or(Role::Primary, Role::Replica);
        if self.role.replace(role) != role {
            self.kept.replica_of.set(primary);
            if role == Role::Primary {
                self.stream.borrow_mut().fork(self.node.random());
            }
            self.unlinked.set(Some(self.node.now()));
            self.replicas.drop_all();
            self.role_changed.notify_waiters();
        }
        self.clients.take().values().for_each(Responder::hang_up);
    }

    pub(super) fn has_link(&self) {
        self.unlinked.set(None);
    }

    pub(super) fn lost_link(&self) {
        if self.unlinked.get().is_none() {
            self.unlinked.set(Some(self.node.now()));
        }
    }

    /// How long a replica has had no link, milliseconds; 0 while it has one.
    pub(super) fn unlinked_ms(&self) -> i64 {
        self.unlinked.get().map_or(0, |since| (self.node.now() - since) as i64 / 1_000_000)
    }

    pub(super) fn persists(&self) -> bool {
        self.options.persistence != Persistence::None
    }

    /// One thread: with `appendfsync always` a command waits for the sync of the one before.
    fn serve_clients(self: Rc<Self>) {
        let synced = matches!(self.options.persistence, Persistence::Always(_));
        let (connections, server, node) = (Cell::new(0), self.clone(), self.node.clone());
        let (hand_over, task) =
            server::in_turn(async move |(request, written): (Request<_, _>, Rc<Cell<u64>>)| {
                let answer = server.execute(&request, &written);
                server.sync_before_answer().await;
                answer.into_iter().for_each(|answer| request.reply.send(answer));
            });
        serve_each(&node, PORT, move || {
            connections.set(connections.get() + 1);
            let (server, hand_over, number) = (self.clone(), hand_over.clone(), connections.get());
            let written = Rc::new(Cell::new(0));
            move |request: Request<Command, Answer>| {
                server.clients.borrow_mut().insert(number, request.reply.clone());
                if synced {
                    return hand_over((request, written.clone()));
                }
                let answer = server.execute(&request, &written);
                answer.into_iter().for_each(|answer| request.reply.send(answer));
            }
        });
        if synced {
            node.run(task);
        }
    }

    /// See [`Persistence::sync_before_answer`].
    pub(super) async fn sync_before_answer(&self) {
        self.options.persistence.sync_before_answer(&self.node, &self.kept.disk).await;
    }

    /// One command; `None` when its answer comes later. `written`: up to where the stream has what this client wrote.
    fn execute(self: &Rc<Self>, request: &Request<Command, Answer>, written: &Cell<u64>) -> Option<Answer> {
        let wall = self.node.wall();
        let mut keyspace = self.keyspace.borrow_mut();
        keyspace.set_time(wall);
        if !self.is_primary() {
            return Some(readonly::run(&keyspace, &request.body, wall));
        }
        if let Command::Wait(replicas, limit) = request.body {
            self.node.run(self.clone().wait(replicas, written.get(), limit, request.reply.clone()));
            return None;
        }
        let answer = server::run(&mut keyspace, &request.body, wall);
        self.pass_on(&mut keyspace);
        written.set(self.stream.borrow().offset());
        Some(Ok(answer))
    }

    async fn wait(self: Rc<Self>, replicas: u64, offset: u64, limit: Duration, reply: Responder<Answer>) {
        if self.replicas.count(offset) < replicas {
            within(&self.node, limit, self.replicas.until(replicas, offset)).await;
        }
        reply.send(Ok(Value::Integer(self.replicas.count(offset) as i64)));
    }

    /// What has changed goes to the file and into the stream.
    fn pass_on(&self, keyspace: &mut Keyspace) {
        let changes = keyspace.take_changes();
        if changes.is_empty() {
            return;
        }
        let mut stream = self.stream.borrow_mut();
        for change in changes {
            let expires = change.now.as_ref().and_then(|(_, expires)| *expires);
            let ttl = expires.filter(|_| self.options.relative_expiry).map(|when| when - keyspace.now());
            if self.persists() {
                self.kept.disk.append(change.clone());
            }
            stream.push(Item { change, ttl });
        }
        self.replicas.feed();
    }

    /// Only a primary looks for what has expired.
    async fn expire(self: Rc<Self>) {
        loop {
            self.node.sleep(ACTIVE_EXPIRY).await;
            if self.is_primary() {
                let mut keyspace = self.keyspace.borrow_mut();
                keyspace.set_time(self.node.wall());
                keyspace.expire_actively();
                self.pass_on(&mut keyspace);
            }
        }
    }

    async fn sync_every_second(self: Rc<Self>) {
        loop {
            self.node.sleep(FSYNC_EVERY).await;
            self.kept.disk.sync();
        }
    }
}
