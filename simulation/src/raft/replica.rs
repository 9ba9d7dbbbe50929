//! One member on its node: ticker, inbox, disk, and the application behind the log.

use std::{
    cell::{Cell, RefCell},
    fmt::Debug,
    future::poll_fn,
    rc::Rc,
    task::{Poll, Waker},
};

use tokio::sync::Notify;
use workloads::env::EnvApi;

use super::{
    consensus::{Raft, Role},
    message::{Entry, Message, Timing},
};
use crate::{net::Port, node::Node, node::NodeId, rng::Rng};

/// What a member's disk keeps. Everything here is synced: a member sends nothing before.
#[derive(Debug)]
pub struct Stable<C>(Rc<RefCell<Kept<C>>>);

#[derive(Debug)]
struct Kept<C> {
    term: u64,
    vote: Option<usize>,
    log: Vec<Entry<C>>,
}

impl<C> Clone for Stable<C> {
    fn clone(&self) -> Self {
        Stable(self.0.clone())
    }
}

impl<C> Default for Stable<C> {
    fn default() -> Self {
        Stable(Rc::new(RefCell::new(Kept { term: 0, vote: None, log: Vec::new() })))
    }
}

/// Where a command stands in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The term in which a leader took it.
    pub term: u64,
    /// Its position, from 1.
    pub index: usize,
}

/// A running member. Its tasks end with its node.
pub struct Replica<C> {
    node: Node,
    members: Vec<NodeId>,
    port: Port,
    timing: Timing,
    raft: RefCell<Raft<C>>,
    stable: Stable<C>,
    work: Notify,
    applied: Cell<usize>,
    reads: RefCell<Vec<PendingRead>>,
    read_ids: Cell<u64>,
    /// Tasks that wait for `applied`, role or leader to change.
    watchers: RefCell<Vec<Waker>>,
}

struct PendingRead {
    id: u64,
    index: Option<usize>,
}

impl<C: Clone + Debug + 'static> Replica<C> {
    /// Starts member `index` of `members` on a living node; `apply` gets every committed command in order.
    pub fn start(
        node: &Node,
        members: &[NodeId],
        port: Port,
        timing: Timing,
        stable: &Stable<C>,
        mut apply: impl FnMut(Place, &C) + 'static,
    ) -> Rc<Replica<C>> {
        let index = members.iter().position(|member| *member == node.id()).unwrap_or(0);
        let raft = {
            let kept = stable.0.borrow();
            let rng = Rng::new(node.random(), 0);
            Raft::new(index, members.len(), timing, rng, kept.term, kept.vote, kept.log.clone())
        };
        let replica = Rc::new(Replica {
            node: node.clone(),
            members: members.to_vec(),
            port,
            timing,
            raft: RefCell::new(raft),
            stable: stable.clone(),
            work: Notify::new(),
            applied: Cell::new(0),
            reads: RefCell::default(),
            read_ids: Cell::new(0),
            watchers: RefCell::default(),
        });
        node.run(replica.clone().tick());
        node.run(replica.clone().receive());
        let worker = replica.clone();
        node.run(async move {
            loop {
                worker.work().await;
                worker.apply(&mut apply);
            }
        });
        replica
    }

    /// Hands a command to the log. False without a leader: it is dropped.
    /// True promises nothing; a command that got in is applied on every member.
    pub fn propose(&self, command: C) -> bool {
        let taken = self.raft.borrow_mut().propose(command).is_ok();
        self.work.notify_one();
        taken
    }

    /// Waits until this member has applied everything committed before the call. Never completes if the leader
    /// is lost meanwhile; false when there is none now.
    pub async fn linearize(&self) -> bool {
        let id = self.read_ids.get() + 1;
        self.read_ids.set(id);
        if !self.raft.borrow_mut().read(id) {
            return false;
        }
        self.reads.borrow_mut().push(PendingRead { id, index: None });
        self.work.notify_one();
        let _forget = Forget(&self.reads, id);
        self.until(|| {
            let reads = self.reads.borrow();
            let index = reads.iter().find(|read| read.id == id).and_then(|read| read.index);
            index.is_some_and(|index| self.applied.get() >= index)
        })
        .await;
        true
    }

    /// Waits for a condition that depends on what is applied, who leads, or the term.
    pub async fn until(&self, condition: impl Fn() -> bool) {
        poll_fn(|context| match condition() {
            true => Poll::Ready(()),
            false => {
                let mut watchers = self.watchers.borrow_mut();
                if !watchers.iter().any(|waker| waker.will_wake(context.waker())) {
                    watchers.push(context.waker().clone());
                }
                Poll::Pending
            }
        })
        .await;
    }

    /// Whether this member leads, and in which term.
    pub fn leads(&self) -> Option<u64> {
        let raft = self.raft.borrow();
        (raft.role() == Role::Leader).then(|| raft.term())
    }

    /// Whom this member takes for the leader.
    pub fn leader(&self) -> Option<NodeId> {
        self.raft.borrow().leader().map(|index| self.members[index])
    }

    /// This member's term.
    pub fn term(&self) -> u64 {
        self.raft.borrow().term()
    }

    /// Entries applied here.
    pub fn applied(&self) -> usize {
        self.applied.get()
    }

    async fn tick(self: Rc<Self>) {
        loop {
            self.node.sleep_until(self.node.now() + self.timing.tick_ns).await;
            self.raft.borrow_mut().tick();
            self.work.notify_one();
        }
    }

    async fn receive(self: Rc<Self>) {
        let inbox = self.node.inbox(self.port);
        loop {
            let (from, message) = inbox.recv::<Message<C>>().await;
            if let Some(from) = self.members.iter().position(|member| *member == from) {
                self.raft.borrow_mut().step(from, message);
                self.work.notify_one();
            }
        }
    }

    /// Sync first, then speak.
    async fn work(&self) {
        let output = self.raft.borrow_mut().output();
        let Some(output) = output else {
            self.wake();
            self.work.notified().await;
            return;
        };
        if let Some((term, vote, from, entries)) = output.write {
            self.node.sleep_until(self.node.now() + self.timing.sync_ns).await;
            let synced = {
                let mut kept = self.stable.0.borrow_mut();
                assert!(term >= kept.term, "a term never goes back on disk");
                assert!(
                    term > kept.term || kept.vote.is_none() || kept.vote == vote,
                    "one vote a term, whatever was restarted"
                );
                assert!(from <= kept.log.len(), "a log on disk has no gap");
                kept.term = term;
                kept.vote = vote;
                kept.log.truncate(from);
                kept.log.extend(entries);
                kept.log.len()
            };
            self.raft.borrow_mut().synced(synced);
        }
        for (to, message) in output.messages {
            self.node.send_to(self.members[to], self.port, message);
        }
        for (id, index) in output.reads {
            if let Some(read) = self.reads.borrow_mut().iter_mut().find(|read| read.id == id) {
                read.index = Some(index);
            }
        }
    }

    fn apply(&self, apply: &mut impl FnMut(Place, &C)) {
        assert!(self.applied.get() <= self.raft.borrow().commit(), "only what is committed was applied");
        while self.applied.get() < self.raft.borrow().commit() {
            let index = self.applied.get() + 1;
            let entry = self.raft.borrow().entry(index).clone();
            assert!(entry.term <= self.raft.borrow().term(), "no entry is of a term yet to come");
            if let Some(command) = entry.command {
                apply(Place { term: entry.term, index }, &command);
            }
            self.applied.set(index);
        }
        self.wake();
    }

    fn wake(&self) {
        for waker in self.watchers.borrow_mut().drain(..) {
            waker.wake();
        }
    }
}

struct Forget<'a>(&'a RefCell<Vec<PendingRead>>, u64);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().retain(|read| read.id != self.1);
    }
}
