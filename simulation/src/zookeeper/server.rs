//! One server: serves clients while it belongs to a quorum, and drops them when it does not.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet, VecDeque},
    rc::{Rc, Weak},
    time::Duration,
};

use tokio::sync::Notify;
use workloads::{api::zookeeper::ZkEvent, clients::zookeeper::errors::code, env::EnvApi};

pub use super::tree::Change;
use super::{
    messages::{Ask, Body, Say},
    sessions::Tracker,
    tree::{Done, Op, Outcome, Tree},
};
use crate::{
    net::Port,
    node::{Node, NodeId},
    raft::{Log, Logged, Place, Stable, Timing},
    rpc::{Request, Responder, serve_each, within},
};

/// Where clients come.
pub const PORT: Port = 2181;
const PEER_PORT: Port = 2888;
/// Where followers tell the leader whom they have heard.
const TOUCH_PORT: Port = 2889;

/// What differs between configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `tickTime` in milliseconds.
    pub tick_ms: u64,
    /// `syncLimit` in ticks.
    pub sync_limit: u32,
    /// `maxSessionTimeout` in milliseconds; the least is two ticks.
    pub session_timeout_ms_max: u64,
}

impl Options {
    fn timing(&self) -> Timing {
        Timing {
            tick_ns: self.tick_ms * 500_000,
            heartbeat_ticks: 1,
            election_ticks: 2 * self.sync_limit,
            sync_ns: 500_000,
        }
    }
}

/// What a server's disk keeps.
pub type Kept = Stable<Logged<Change>>;

/// A running server.
pub struct Server {
    node: Node,
    options: Options,
    log: Log<Change, Outcome>,
    state: Rc<State>,
    serves: Cell<bool>,
    heard: RefCell<BTreeSet<i64>>,
    links: Cell<u64>,
}

/// What applying a change touches.
#[derive(Default)]
struct State {
    tree: RefCell<Tree>,
    tracker: RefCell<Tracker>,
    /// Each belongs to the task that talks over it, so that it ends with the process.
    links: RefCell<BTreeMap<u64, Weak<Link>>>,
}

/// Requests of one connection that wait for those before them.
type Queue = Rc<(RefCell<VecDeque<Request<Ask, Say>>>, Notify)>;

/// One client's connection.
struct Link {
    id: u64,
    session: Cell<i64>,
    /// Where events go, once the session stands.
    events: RefCell<Option<Responder<Say>>>,
    closing: Cell<bool>,
    data_watches: RefCell<BTreeSet<String>>,
    child_watches: RefCell<BTreeSet<String>>,
}

impl Server {
    /// Starts a server on a living node, with what its disk kept.
    pub fn start(node: &Node, members: &[NodeId], options: Options, kept: &Kept) -> Rc<Server> {
        let state = Rc::new(State::default());
        let apply = {
            let (node, state, tick_ns) = (node.clone(), state.clone(), options.tick_ms * 1_000_000);
            move |place: Place, change: &Change| {
                assert!(place.index >> 32 == 0, "a term has fewer than 2^32 transactions");
                let zxid = (place.term << 32) as i64 | place.index as i64;
                let outcome = state.tree.borrow_mut().apply(zxid, change);
                // Opening and attaching reach the leader's tracker at once; other requests with whom followers have heard.
                if matches!(change.op, Op::Open { .. } | Op::Attach) {
                    let tree = state.tree.borrow();
                    state.tracker.borrow_mut().touch(change.session, tick_ns, node.now(), &tree);
                }
                state.tell_watchers(zxid);
                outcome
            }
        };
        let log = Log::start(node, members, PEER_PORT, options.timing(), kept, apply);
        let links = Cell::new(node.random() << 16 | 1);
        let (serves, heard) = (Cell::new(false), RefCell::default());
        let server = Rc::new(Server { node: node.clone(), options, log, state, serves, heard, links });
        server.listen();
        node.run(server.clone().keep_serving());
        node.run(server.clone().end_sessions());
        node.run(server.clone().hear_followers());
        server
    }

    /// Whom this server takes for the leader.
    pub fn leader(&self) -> Option<NodeId> {
        self.log.leader()
    }

    /// Whether it takes clients.
    pub fn serves(&self) -> bool {
        self.serves.get()
    }

    /// Whether this server leads, and in which term.
    pub fn leads(&self) -> Option<u64> {
        self.log.leads()
    }

    fn listen(self: &Rc<Self>) {
        let server = self.clone();
        serve_each(&self.node, PORT, move || {
            let id = server.links.replace(server.links.get() + 1);
            let link = Rc::new(Link::new(id));
            let queue: Queue = Rc::default();
            server.node.run(server.clone().converse(link, queue.clone()));
            move |request| {
                queue.0.borrow_mut().push_back(request);
                queue.1.notify_one();
            }
        });
    }

    /// One connection: one request after the other.
    async fn converse(self: Rc<Self>, link: Rc<Link>, queue: Queue) {
        self.state.links.borrow_mut().insert(link.id, Rc::downgrade(&link));
        loop {
            let next = queue.0.borrow_mut().pop_front();
            let Some(Request { body, reply }) = next else {
                let gone = async {
                    match link.responder() {
                        Some(events) => events.cancelled().await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    biased;
                    () = queue.1.notified() => continue,
                    () = gone => break,
                }
            };
            if !self.serves.get() {
                reply.hang_up();
                break;
            }
            let served = self.handle(&link, body, &reply);
            tokio::select! {
                biased;
                () = reply.cancelled() => break,
                () = served => {}
            }
        }
        self.state.links.borrow_mut().remove(&link.id);
    }

    async fn handle(&self, link: &Rc<Link>, ask: Ask, reply: &Responder<Say>) {
        if let Ask::Connect { session, password, timeout_ms, zxid_seen } = ask {
            return self.connect(link, (session, password, timeout_ms), zxid_seen, reply).await;
        }
        self.hear(link.session.get());
        let body = match ask {
            Ask::Ping => Body::Done,
            Ask::Exists { path, watch } => self.read(
                &path,
                watch,
                &link.data_watches,
                |tree| tree.exists(&path).map(Body::Stat).ok_or(code::NO_NODE),
                true,
            ),
            Ask::Children { path, watch } => self.read(
                &path,
                watch,
                &link.child_watches,
                |tree| tree.children(&path).map(Body::Children),
                false,
            ),
            Ask::Data { path, watch } => self.read(
                &path,
                watch,
                &link.data_watches,
                |tree| tree.data(&path).map(|(data, stat)| Body::Data(data, stat)),
                false,
            ),
            Ask::Create { path, data, mode } => self.write(link, Op::Create { path, data, mode }).await,
            Ask::SetData { path, data, version } => {
                self.write(link, Op::SetData { path, data, version }).await
            }
            Ask::Delete { path, version } => self.write(link, Op::Delete { path, version }).await,
            Ask::Sync => self.write(link, Op::Sync).await,
            Ask::Close => {
                link.closing.set(true);
                self.write(link, Op::Close).await
            }
            Ask::Connect { .. } => Body::Error(code::BAD_ARGUMENTS),
        };
        // Who has lost the session to another connection is hung up on without an answer (`FinalRequestProcessor`).
        if matches!(body, Body::Error(code::SESSION_MOVED)) {
            return reply.hang_up();
        }
        reply.send(Say { zxid: self.state.tree.borrow().zxid, body });
        if link.closing.get() {
            reply.hang_up();
        }
    }

    async fn connect(
        &self,
        link: &Rc<Link>,
        (session, password, timeout_ms): (i64, Vec<u8>, u64),
        zxid_seen: i64,
        reply: &Responder<Say>,
    ) {
        // A client must not travel back in time.
        if zxid_seen > self.state.tree.borrow().zxid {
            return reply.hang_up();
        }
        let least = 2 * self.options.tick_ms;
        let timeout_ms = timeout_ms.clamp(least, self.options.session_timeout_ms_max.max(least));
        let (id, password, op) = match session {
            0 => {
                let id = (self.node.random() >> 1) as i64;
                (id, secret(id), Op::Open { timeout_ms })
            }
            id => {
                // Whoever asks for a session takes it from the connection that has it here, even with a wrong
                // secret (`ZooKeeperServer.processConnectRequest`).
                self.state.hang_up(|other| other.session.get() == id);
                (id, password, Op::Attach)
            }
        };
        link.session.set(id);
        let outcome = match password == secret(id) {
            true => self.log.submit(Change { session: id, link: link.id, op }).await,
            false => Err(code::SESSION_EXPIRED),
        };
        let timeout_ms = match outcome {
            Ok(Done::Session { timeout_ms }) => timeout_ms,
            _ => 0,
        };
        self.hear(id);
        let zxid = self.state.tree.borrow().zxid;
        reply.send(Say { zxid, body: Body::Session { id, password, timeout_ms } });
        match timeout_ms {
            0 => reply.hang_up(),
            _ => *link.events.borrow_mut() = Some(reply.clone()),
        }
    }

    async fn write(&self, link: &Link, op: Op) -> Body {
        match self.log.submit(Change { session: link.session.get(), link: link.id, op }).await {
            Ok(Done::Created(path, stat)) => Body::Created(path, stat),
            Ok(Done::Stat(stat)) => Body::Stat(stat),
            Ok(Done::Session { .. } | Done::Nothing) => Body::Done,
            Err(code) => Body::Error(code),
        }
    }

    /// From this server's own tree, however old. A watch stays when there is something to watch; one for
    /// existence (`absent`) also when there is not.
    fn read(
        &self,
        path: &str,
        watch: bool,
        watches: &RefCell<BTreeSet<String>>,
        look: impl FnOnce(&Tree) -> Result<Body, i32>,
        absent: bool,
    ) -> Body {
        let found = look(&self.state.tree.borrow());
        if watch && (found.is_ok() || absent) {
            watches.borrow_mut().insert(path.to_owned());
        }
        found.unwrap_or_else(Body::Error)
    }

    fn hear(&self, session: i64) {
        self.heard.borrow_mut().insert(session);
    }

    /// Serves while there is a leader whose log it has caught up with; without one it drops every client.
    async fn keep_serving(self: Rc<Self>) {
        loop {
            self.log.until(|| self.log.leader().is_some()).await;
            let patience = Duration::from_millis(self.options.tick_ms);
            if within(&self.node, patience, self.log.linearize()).await != Some(true) {
                continue;
            }
            self.serves.set(true);
            self.log.until(|| self.log.leader().is_none()).await;
            self.serves.set(false);
            self.state.hang_up(|_| true);
        }
    }

    /// Each half tick: a follower tells the leader whom it has heard, the leader ends sessions.
    async fn end_sessions(self: Rc<Self>) {
        let (half, tick_ns) = (self.options.tick_ms * 500_000, self.options.tick_ms * 1_000_000);
        loop {
            self.node.sleep_until(self.node.now() + half).await;
            let (leads, now) = (self.log.leads(), self.node.now());
            let heard: Vec<i64> = std::mem::take(&mut *self.heard.borrow_mut()).into_iter().collect();
            let ended = {
                let (tree, mut tracker) = (self.state.tree.borrow(), self.state.tracker.borrow_mut());
                tracker.follow(leads, tick_ns, now, &tree);
                heard.iter().for_each(|id| tracker.touch(*id, tick_ns, now, &tree));
                tracker.ended(now)
            };
            if leads.is_some() {
                for session in ended {
                    self.log.submit_as_leader(Change { session, link: 0, op: Op::Close });
                }
            } else if let (Some(leader), false) = (self.log.leader(), heard.is_empty()) {
                self.node.send_to(leader, TOUCH_PORT, heard);
            }
        }
    }

    async fn hear_followers(self: Rc<Self>) {
        let inbox = self.node.inbox(TOUCH_PORT);
        let tick_ns = self.options.tick_ms * 1_000_000;
        loop {
            let (_, heard) = inbox.recv::<Vec<i64>>().await;
            let (tree, mut tracker) = (self.state.tree.borrow(), self.state.tracker.borrow_mut());
            tracker.follow(self.log.leads(), tick_ns, self.node.now(), &tree);
            heard.iter().for_each(|id| tracker.touch(*id, tick_ns, self.node.now(), &tree));
        }
    }
}

/// What proves that a session is ours.
fn secret(session: i64) -> Vec<u8> {
    crate::rng::mix(session as u64).to_be_bytes().to_vec()
}

impl State {
    fn links(&self) -> Vec<Rc<Link>> {
        self.links.borrow().values().filter_map(Weak::upgrade).collect()
    }

    fn hang_up(&self, which: impl Fn(&Link) -> bool) {
        for link in self.links().iter().filter(|link| which(link)) {
            if let Some(events) = link.responder() {
                events.hang_up();
            }
        }
    }

    /// Each watch fires once, and a connection hears of a path's deletion once.
    fn tell_watchers(&self, zxid: i64) {
        let events = self.tree.borrow_mut().take_events();
        let links = self.links();
        for event in &events {
            for link in &links {
                if link.is_watching(event)
                    && let Some(to) = link.responder()
                {
                    to.send(Say { zxid, body: Body::Event(event.clone()) });
                }
            }
        }
        let tree = self.tree.borrow();
        let ended = |link: &Link| {
            let session = link.session.get();
            link.responder().is_some() && !link.closing.get() && !tree.sessions.contains_key(&session)
        };
        for link in links.iter().filter(|link| ended(link)) {
            link.responder().inspect(Responder::hang_up);
        }
    }
}

impl Link {
    fn new(id: u64) -> Link {
        Link {
            id,
            session: Cell::new(0),
            events: RefCell::default(),
            closing: Cell::new(false),
            data_watches: RefCell::default(),
            child_watches: RefCell::default(),
        }
    }

    fn responder(&self) -> Option<Responder<Say>> {
        self.events.borrow().clone()
    }

    /// Whether it waits for this event; it will not wait for the next.
    fn is_watching(&self, event: &ZkEvent) -> bool {
        let taken = |watches: &RefCell<BTreeSet<String>>, path: &String| watches.borrow_mut().remove(path);
        match event {
            ZkEvent::Created(path) | ZkEvent::DataChanged(path) => taken(&self.data_watches, path),
            ZkEvent::ChildrenChanged(path) => taken(&self.child_watches, path),
            ZkEvent::Deleted(path) => taken(&self.data_watches, path) | taken(&self.child_watches, path),
            ZkEvent::Disconnected | ZkEvent::Expired => false,
        }
    }
}
