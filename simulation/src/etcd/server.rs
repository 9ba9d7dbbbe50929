//! One member: takes requests, puts changes through the log, ends leases.

use std::{cell::RefCell, rc::Rc, time::Duration};

use workloads::{
    api::etcd::{KeyValue, Lease, Range, RangeReply, Txn, TxnReply, WatchEvent},
    env::EnvApi,
};

pub use super::store::Change;
use super::{
    failure::{Failure, LEASE_NOT_FOUND},
    lessor::Lessor,
    store::{Done, Outcome, Store},
};
use crate::{
    net::Port,
    node::{Node, NodeId},
    raft::{Log, Logged, Stable, Timing},
    rpc::{Caller, Request, Responder, serve, within},
};

/// Where clients come.
pub const PORT: Port = 2379;
const PEER_PORT: Port = 2380;
/// Where other members forward keepalives to.
const LEASE_PORT: Port = 2381;
/// How often the leader looks for leases that have ended.
const EXPIRY_LOOK_NS: u64 = 500_000_000;

/// How often an unanswered read asks the leader again.
const READ_RETRY: Duration = Duration::from_millis(500);
const KEEPALIVE_RETRY: Duration = Duration::from_millis(50);

/// What differs between versions and configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Heartbeats and elections.
    pub timing: Timing,
    /// Until 3.5.0 the lock service does not look whether the waiter's own key still exists
    /// (github.com/etcd-io/etcd issue 11456).
    pub lock_hole: bool,
    /// Since 3.4.31 and 3.5.13 a leader confirms that it leads before it renews or revokes a lease (issue 15247).
    pub confirms_leases: bool,
}

impl Options {
    /// Of a version such as `3.4.23`; an unreadable part counts as new.
    pub fn of_version(version: &str, timing: Timing) -> Options {
        let mut parts = version.split('.').map(|part| part.parse().unwrap_or(u32::MAX));
        let (major, minor) = (parts.next().unwrap_or(3), parts.next().unwrap_or(u32::MAX));
        let patch = parts.next().unwrap_or(u32::MAX);
        let confirms_leases = match (major, minor) {
            (3, 4) => patch >= 31,
            (3, 5) => patch >= 13,
            newer => newer > (3, 5),
        };
        Options { timing, lock_hole: (major, minor) < (3, 5), confirms_leases }
    }

    /// The least TTL that is granted, in seconds: one and a half elections.
    fn ttl_min_s(&self) -> i64 {
        (self.election_ns() * 3 / 2).div_ceil(1_000_000_000) as i64
    }

    fn election_ns(&self) -> u64 {
        self.timing.tick_ns * u64::from(self.timing.election_ticks)
    }
}

/// What a member's disk keeps.
pub type Kept = Stable<Logged<Change>>;

/// What clients ask.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    Txn(Txn),
    Range(Range),
    Grant(i64),
    Keepalive(i64),
    Revoke(i64),
    Watch(String, i64),
    Lock(String, i64),
    Campaign(String, i64, String),
}

/// What they get.
#[derive(Clone, Debug)]
pub(super) enum Say {
    Txn(TxnReply),
    Range(RangeReply),
    Granted(Lease),
    Left(i64),
    Revoked,
    Events(Vec<WatchEvent>),
    Locked { key: String, revision: i64 },
    Elected(KeyValue),
    Failed(Failure),
}

/// A running member.
pub struct Server {
    pub(super) node: Node,
    pub(super) options: Options,
    pub(super) log: Log<Change, Outcome>,
    pub(super) store: Rc<RefCell<Store>>,
    lessor: Rc<RefCell<Lessor>>,
}

impl Server {
    /// Starts a member on a living node, with what its disk kept.
    pub fn start(node: &Node, members: &[NodeId], options: Options, kept: &Kept) -> Rc<Server> {
        let store = Rc::new(RefCell::new(Store::default()));
        let lessor = Rc::new(RefCell::new(Lessor::default()));
        let apply = {
            let (node, store, lessor) = (node.clone(), store.clone(), lessor.clone());
            move |_, change: &Change| {
                let outcome = store.borrow_mut().apply(change);
                match change {
                    Change::Grant { id, ttl_s } if outcome.is_ok() => {
                        lessor.borrow_mut().refresh(*id, *ttl_s, node.now());
                    }
                    Change::Revoke(id) => lessor.borrow_mut().forget(*id),
                    _ => {}
                }
                outcome
            }
        };
        let log = Log::start(node, members, PEER_PORT, options.timing, kept, apply);
        let server = Rc::new(Server { node: node.clone(), options, log, store, lessor });
        server.listen();
        server.node.run(server.clone().end_leases());
        server
    }

    /// Whom this member takes for the leader.
    pub fn leader(&self) -> Option<NodeId> {
        self.log.leader()
    }

    /// Whether this member leads, and in which term.
    pub fn leads(&self) -> Option<u64> {
        self.log.leads()
    }

    fn listen(self: &Rc<Self>) {
        let server = self.clone();
        serve(&self.node, PORT, move |request: Request<Ask, Say>| {
            let server = server.clone();
            let node = server.node.clone();
            node.run(async move { server.handle(request).await });
        });
        let server = self.clone();
        serve(&self.node, LEASE_PORT, move |request: Request<i64, Result<i64, Failure>>| {
            let server = server.clone();
            let node = server.node.clone();
            node.run(async move { request.reply.send(server.renew_here(request.body).await) });
        });
    }

    async fn handle(self: Rc<Self>, request: Request<Ask, Say>) {
        let Request { body, reply } = request;
        // Every call asks for a member that has a leader.
        if self.log.leader().is_none() {
            return reply.send(Say::Failed(Failure::NoLeader));
        }
        match body {
            Ask::Watch(key, from) => self.watch(&key, from, &reply).await,
            Ask::Lock(name, lease) => self.lock(&name, lease, &reply).await,
            Ask::Campaign(name, lease, value) => self.campaign(&name, lease, &value, &reply).await,
            simple => {
                let answer = self.simple(simple).await;
                reply.send(answer.unwrap_or_else(Say::Failed));
            }
        }
    }

    async fn simple(&self, ask: Ask) -> Result<Say, Failure> {
        match ask {
            Ask::Txn(txn) => self.txn(txn).await.map(Say::Txn),
            Ask::Range(range) => self.range(&range).await.map(Say::Range),
            Ask::Grant(ttl_s) => self.grant(ttl_s).await.map(Say::Granted),
            Ask::Keepalive(lease) => self.keepalive(lease).await.map(Say::Left),
            Ask::Revoke(lease) => self.change(Change::Revoke(lease)).await.map(|_| Say::Revoked),
            Ask::Watch(..) | Ask::Lock(..) | Ask::Campaign(..) => {
                Err(Failure::Refused("etcdserver: a stream cannot be answered at once"))
            }
        }
    }

    pub(super) async fn txn(&self, txn: Txn) -> Result<TxnReply, Failure> {
        match self.change(Change::Txn(txn)).await? {
            Done::Txn(reply) => Ok(reply),
            _ => Err(Failure::Refused("etcdserver: mismatched answer")),
        }
    }

    pub(super) async fn range(&self, range: &Range) -> Result<RangeReply, Failure> {
        self.linearize().await?;
        Ok(self.store.borrow().range(range))
    }

    pub(super) async fn grant(&self, ttl_s: i64) -> Result<Lease, Failure> {
        let ttl_s = ttl_s.max(self.options.ttl_min_s());
        let id = (self.node.random() >> 1) as i64;
        self.change(Change::Grant { id, ttl_s }).await?;
        Ok(Lease { id, ttl_s })
    }

    /// Puts a change through the log and waits until it is applied here.
    async fn change(&self, change: Change) -> Result<Done, Failure> {
        let outcome = within(&self.node, self.limit(), self.log.submit(change)).await;
        outcome.ok_or(Failure::TimedOut)?.map_err(Failure::Refused)
    }

    /// Asks again and again for the leader's word, as etcd does.
    async fn linearize(&self) -> Result<(), Failure> {
        let confirmed = async {
            while within(&self.node, READ_RETRY, self.log.linearize()).await != Some(true) {
                self.log.until(|| self.log.leader().is_some()).await;
            }
        };
        within(&self.node, self.limit(), confirmed).await.ok_or(Failure::TimedOut)
    }

    /// etcd gives a request five seconds and two elections.
    fn limit(&self) -> Duration {
        Duration::from_secs(5) + 2 * Duration::from_nanos(self.options.election_ns())
    }

    /// Whether this member leads still, by the word of a quorum.
    async fn confirms_lead(&self) -> bool {
        self.linearize().await.is_ok() && self.log.leads().is_some()
    }

    /// Goes to the leader, whoever that is, until the limit.
    async fn keepalive(&self, lease: i64) -> Result<i64, Failure> {
        let renewed = async {
            loop {
                let answer = match self.log.leader() {
                    Some(leader) if leader == self.node.id() => self.renew_here(lease).await,
                    Some(leader) => self.forward_renewal(lease, leader).await,
                    None => Err(Failure::NoLeader),
                };
                match answer {
                    Ok(ttl_s) => return Ok(ttl_s),
                    Err(Failure::Refused(why)) => return Err(Failure::Refused(why)),
                    Err(_) => self.node.sleep(KEEPALIVE_RETRY).await,
                }
            }
        };
        within(&self.node, self.limit(), renewed).await.unwrap_or(Err(Failure::TimedOut))
    }

    async fn forward_renewal(&self, lease: i64, leader: NodeId) -> Result<i64, Failure> {
        let lost = |_| Failure::TimedOut;
        let line = Caller::<i64, Result<i64, Failure>>::open(&self.node, leader, LEASE_PORT, self.limit());
        line.await.map_err(lost)?.call(lease).await.map_err(lost)?
    }

    /// On the leader only; `NoLeader` when this member is none.
    async fn renew_here(&self, lease: i64) -> Result<i64, Failure> {
        let leads = || {
            self.follow();
            self.log.leads().ok_or(Failure::NoLeader)
        };
        leads()?;
        if self.options.confirms_leases {
            self.linearize().await?;
            leads()?;
        }
        // One that has ended but is not revoked yet is waited for.
        if self.lessor.borrow().has_ended(lease, self.node.now()) {
            let gone = self
                .log
                .until(|| self.log.leads().is_none() || !self.store.borrow().leases.contains_key(&lease));
            within(&self.node, self.limit(), gone).await.ok_or(Failure::TimedOut)?;
            leads()?;
        }
        let ttl_s = self.store.borrow().leases.get(&lease).map(|lease| lease.ttl_s);
        let ttl_s = ttl_s.ok_or(Failure::Refused(LEASE_NOT_FOUND))?;
        self.lessor.borrow_mut().refresh(lease, ttl_s, self.node.now());
        Ok(ttl_s)
    }

    fn follow(&self) {
        let (leads, extend, now) = (self.log.leads(), self.options.election_ns(), self.node.now());
        self.lessor.borrow_mut().follow(leads, extend, now, &self.store.borrow());
    }

    async fn end_leases(self: Rc<Self>) {
        let watcher = self.clone();
        // A new leader extends leases at once, not at its next look.
        self.node.run(async move {
            loop {
                let leads = watcher.log.leads();
                watcher.follow();
                watcher.log.until(|| watcher.log.leads() != leads).await;
            }
        });
        loop {
            self.node.sleep_until(self.node.now() + EXPIRY_LOOK_NS).await;
            self.follow();
            let due = self.lessor.borrow_mut().due(self.node.now());
            if due.is_empty() || (self.options.confirms_leases && !self.confirms_lead().await) {
                continue;
            }
            for lease in due {
                let server = self.clone();
                // A member that has lost the lead meanwhile passes the proposal on: the defect that
                // confirming closes.
                self.node.run(async move { drop(server.change(Change::Revoke(lease)).await) });
            }
        }
    }

    async fn watch(&self, key: &str, from: i64, reply: &Responder<Say>) {
        let (from, mut position) = {
            let store = self.store.borrow();
            let from = if from == 0 { store.revision() + 1 } else { from };
            (from, store.position(from))
        };
        // The answer to the request itself: the watch stands.
        reply.send(Say::Events(Vec::new()));
        loop {
            let (events, next) = self.store.borrow().events(key, position, from);
            position = next;
            if !events.is_empty() {
                reply.send(Say::Events(events));
            }
            let more = self.log.until(|| {
                self.store.borrow().events(key, position, from).1 > position || self.log.leader().is_none()
            });
            tokio::select! {
                biased;
                () = reply.cancelled() => return,
                () = more => {}
            }
            if self.log.leader().is_none() && self.stays_leaderless(reply).await {
                return reply.send(Say::Failed(Failure::NoLeader));
            }
        }
    }

    /// A stream survives a short spell without leader: etcd allows three elections.
    async fn stays_leaderless(&self, reply: &Responder<Say>) -> bool {
        let spell = Duration::from_nanos(3 * self.options.election_ns());
        let led = self.log.until(|| self.log.leader().is_some());
        tokio::select! {
            biased;
            () = reply.cancelled() => true,
            back = within(&self.node, spell, led) => back.is_none(),
        }
    }
}
