//! The link between a primary and a replica: who goes on from where, and the stream of changes.
//!
//! Source: `replication.c` of Redis 7.0; redis.io, "Redis replication". The primary answers its client first; the
//! changes leave within a millisecond, whether or not anybody takes them. A replica whose history does not fit gets
//! everything anew. Simpler than the server: the link has a port of its own; a full copy is one message (the server
//! waits for `repl-diskless-sync-delay` and forks first; images here set no delay) and in the file at once (the server
//! rewrites it in the background); a replica feeds no replicas of its own; it acknowledges when `WAIT` asks, not also once a second.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use tokio::sync::Notify;
use workloads::env::EnvApi;

use super::{
    super::{
        keyspace::{Change, Keyspace},
        stream::{Item, Stream},
    },
    Replicated, Role,
};
use crate::{
    net::{Connection, Port, Reader, Writer},
    node::NodeId,
    rpc::within,
};

const PORT: Port = 16379;
/// What lies between an answer and the changes' way to the replicas, at most.
const LAG_NS_MAX: u64 = 1_000_000;
/// A replica without link tries again once a second (`replicationCron`).
const AGAIN: Duration = Duration::from_secs(1);
/// `repl-ping-replica-period`
const PING: Duration = Duration::from_secs(10);
/// `repl-timeout`
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Replica to primary.
#[derive(Debug)]
enum Up {
    /// Which history it has, and how much of it.
    Psync(u64, u64),
    Ack(u64),
}

/// Primary to replica.
#[derive(Debug)]
enum Down {
    /// It is a replica itself.
    NoPrimary,
    /// What the replica has fits the history of this name.
    Continue(u64),
    Full {
        id: u64,
        offset: u64,
        keys: Vec<Change>,
    },
    Changes {
        items: Vec<Item>,
        acknowledge: bool,
    },
}

/// A replica as its primary sees it.
pub(super) struct Attached {
    line: Writer<Down>,
    acked: Cell<u64>,
    gone: Cell<bool>,
}

/// Every replica that is attached, and who waits for them.
#[derive(Default)]
pub(super) struct Replicas {
    attached: RefCell<Vec<Rc<Attached>>>,
    /// How often `WAIT` has asked for acknowledgements.
    asked: Cell<u64>,
    /// There is something to send.
    work: Notify,
    /// A replica has acknowledged.
    acked: Notify,
}

impl Replicas {
    /// The stream has grown.
    pub(super) fn feed(&self) {
        self.work.notify_waiters();
    }

    /// How many have taken everything up to `offset`, once they are `wanted`. Give it a limit.
    pub(super) async fn until(&self, wanted: u64, offset: u64) {
        self.asked.set(self.asked.get() + 1);
        self.work.notify_waiters();
        while self.count(offset) < wanted {
            self.acked.notified().await;
        }
    }

    /// How many are known to have everything up to `offset`.
    pub(super) fn count(&self, offset: u64) -> u64 {
        self.attached.borrow().iter().filter(|replica| replica.acked.get() >= offset).count() as u64
    }

    /// Ends every link.
    pub(super) fn drop_all(&self) {
        for replica in self.attached.take() {
            replica.gone.set(true);
            replica.line.close();
        }
        self.work.notify_waiters();
    }
}

impl Replicated {
    /// Takes replicas.
    pub(super) async fn attach_replicas(self: Rc<Self>) {
        let listener = self.node.listen(PORT);
        loop {
            let Connection { writer, reader } = listener.accept().await;
            self.node.run(self.clone().attach(writer, reader));
        }
    }

    async fn attach(self: Rc<Self>, line: Writer<Down>, reader: Reader<Up>) {
        let Ok(Up::Psync(id, offset)) = reader.recv().await else { return };
        if self.role.get() != Role::Primary {
            return line.send(Down::NoPrimary);
        }
        let sent = {
            let (stream, keys) = (self.stream.borrow(), self.keyspace.borrow());
            let fits = stream.continues(id, offset);
            line.send(match fits {
                true => Down::Continue(stream.id()),
                false => Down::Full { id: stream.id(), offset: stream.offset(), keys: keys.snapshot() },
            });
            if fits { offset } else { stream.offset() }
        };
        let replica = Rc::new(Attached { line, acked: Cell::new(0), gone: Cell::new(false) });
        self.replicas.attached.borrow_mut().push(replica.clone());
        self.node.run(self.clone().stream_to(replica.clone(), sent));
        while let Ok(Up::Ack(offset)) = reader.recv().await {
            assert!(offset >= replica.acked.get(), "what was acknowledged stays acknowledged");
            replica.acked.set(offset);
            self.replicas.acked.notify_waiters();
        }
        replica.gone.set(true);
        replica.line.close();
        self.replicas.attached.borrow_mut().retain(|other| !Rc::ptr_eq(other, &replica));
        self.replicas.work.notify_waiters();
    }

    async fn stream_to(self: Rc<Self>, replica: Rc<Attached>, mut sent: u64) {
        let mut asked = self.replicas.asked.get();
        loop {
            let work = self.replicas.work.notified();
            let waits = self.stream.borrow().offset() == sent && self.replicas.asked.get() == asked;
            if waits && !replica.gone.get() {
                // Without news a ping shows that the primary lives.
                within(&self.node, PING, work).await;
            }
            self.node.sleep(Duration::from_nanos(self.node.random() % LAG_NS_MAX)).await;
            if replica.gone.get() {
                return;
            }
            let stream = self.stream.borrow();
            let Some(items) = stream.after(sent) else { return replica.line.close() };
            let items = items.cloned().collect();
            let acknowledge = std::mem::replace(&mut asked, self.replicas.asked.get()) != asked;
            sent = stream.offset();
            replica.line.send(Down::Changes { items, acknowledge });
        }
    }

    /// Copies whoever is to be copied.
    pub(super) async fn follow(self: Rc<Self>) {
        loop {
            let changed = self.role_changed.notified();
            let Role::Replica(primary) = self.role.get() else {
                changed.await;
                continue;
            };
            let copying = async {
                self.copy(primary).await;
                self.lost_link();
                self.node.sleep(AGAIN).await;
            };
            tokio::select! {
                biased;
                () = changed => self.lost_link(),
                () = copying => {}
            }
        }
    }

    /// Copies `primary` until the link breaks.
    async fn copy(&self, primary: NodeId) {
        let opened = within(&self.node, SILENCE_MAX, self.node.connect::<Up, Down>(primary, PORT)).await;
        let Some(Ok(Connection { writer, reader })) = opened else { return };
        let (id, offset) = (self.stream.borrow().id(), self.stream.borrow().offset());
        writer.send(Up::Psync(id, offset));
        while let Some(Ok(said)) = within(&self.node, SILENCE_MAX, reader.recv()).await {
            match said {
                Down::NoPrimary => return,
                Down::Continue(id) => self.stream.borrow_mut().rename(id),
                Down::Full { id, offset, keys } => self.take_over(Stream::taken_over(id, offset), keys),
                Down::Changes { items, acknowledge } => {
                    items.into_iter().for_each(|item| self.take(item));
                    self.sync_before_answer().await;
                    if acknowledge {
                        writer.send(Up::Ack(self.stream.borrow().offset()));
                    }
                }
            }
            self.has_link();
        }
    }

    fn take_over(&self, stream: Stream, keys: Vec<Change>) {
        *self.stream.borrow_mut() = stream;
        *self.keyspace.borrow_mut() = Keyspace::load(keys.iter().cloned());
        if self.persists() {
            // The new file is whole and synced when it takes the old one's place (`rewriteAppendOnlyFile`).
            self.kept.disk.replace(keys);
            self.kept.disk.sync();
        }
    }

    fn take(&self, item: Item) {
        let mut change = item.change.clone();
        if let (Some(left), Some((_, expires))) = (item.ttl, &mut change.now) {
            *expires = Some(self.node.wall().div_euclid(1_000_000) + left);
        }
        self.keyspace.borrow_mut().apply(change.clone());
        if self.persists() {
            self.kept.disk.append(change);
        }
        self.stream.borrow_mut().push(item);
    }
}
