//! The server process: one command at a time, the append-only file before the answer.

use std::{cell::RefCell, collections::VecDeque, rc::Rc, time::Duration};

use smallvec::SmallVec;
use tokio::sync::Notify;
use workloads::{
    api::redis::{Keys, Script, Value},
    env::EnvApi,
};

use super::{
    keyspace::{Change, Keyspace},
    words::{WORDS, Words},
};
use crate::{
    disk::Disk,
    net::Port,
    node::Node,
    rpc::{Request, serve},
};

/// Where it listens.
pub const PORT: Port = 6379;
/// Redis' `hz 10`: how often expired keys are looked for.
pub(super) const ACTIVE_EXPIRY: Duration = Duration::from_millis(100);
pub(super) const FSYNC_EVERY: Duration = Duration::from_secs(1);

/// What survives a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// Nothing.
    None,
    /// `appendfsync everysec`: the process may die, a power cut loses up to a second.
    EverySecond,
    /// `appendfsync always`: synced before the answer; each sync takes so long.
    Always(Duration),
}

/// A command as it travels.
#[derive(Debug)]
pub(super) enum Command {
    /// Key and value.
    SetNxPx(Words, Duration),
    Get(String),
    Del(String),
    Pttl(String),
    Time,
    Wait(u64, Duration),
    Role,
    Eval(&'static Script, Words),
}

/// What comes back: a value, or the text of an error.
pub(super) type Answer = Result<Value, &'static str>;

/// Starts the server on a living node, with what its disk kept.
pub fn start(node: &Node, disk: &Disk<Change>, persistence: Persistence) {
    let keyspace = match persistence {
        Persistence::None => Keyspace::default(),
        _ => Keyspace::load(disk.read()),
    };
    let server = Rc::new(Server { node: node.clone(), disk: disk.clone(), keyspace: RefCell::new(keyspace) });
    match persistence {
        Persistence::Always(_) => serve_synced(server.clone(), persistence),
        _ => {
            let server = server.clone();
            serve(node, PORT, move |request: Request<Command, Answer>| {
                let answer = server.execute(&request.body, persistence);
                request.reply.send(Ok(answer));
            });
        }
    }
    node.run(server.clone().expire(persistence));
    if persistence == Persistence::EverySecond {
        node.run(server.sync_every_second());
    }
}

struct Server {
    node: Node,
    disk: Disk<Change>,
    keyspace: RefCell<Keyspace>,
}

impl Persistence {
    /// With `appendfsync always` nothing is said, to a client or a primary, before what was written is synced
    /// (`beforeSleep` in `server.c`).
    pub(super) async fn sync_before_answer(self, node: &Node, disk: &Disk<Change>) {
        let Persistence::Always(sync) = self else { return };
        if disk.unsynced() > 0 {
            node.sleep(sync).await;
            disk.sync();
        }
    }
}

/// The one thread of a server that syncs: how to hand something over, and the task that does it, each thing to its end
/// before the next.
pub(super) fn in_turn<T>(act: impl AsyncFn(T)) -> (impl Fn(T) + Clone, impl Future<Output = ()>) {
    let queue = Rc::new((RefCell::new(VecDeque::new()), Notify::new()));
    let tail = queue.clone();
    let hand_over = move |next| {
        tail.0.borrow_mut().push_back(next);
        tail.1.notify_one();
    };
    let task = async move {
        loop {
            let next = queue.0.borrow_mut().pop_front();
            match next {
                Some(next) => act(next).await,
                None => queue.1.notified().await,
            }
        }
    };
    (hand_over, task)
}

/// With `always` the one thread waits for the disk after each command that wrote.
fn serve_synced(server: Rc<Server>, persistence: Persistence) {
    let node = server.node.clone();
    let (hand_over, task) = in_turn(async move |request: Request<Command, Answer>| {
        let answer = server.execute(&request.body, persistence);
        persistence.sync_before_answer(&server.node, &server.disk).await;
        request.reply.send(Ok(answer));
    });
    serve(&node, PORT, hand_over);
    node.run(task);
}

impl Server {
    fn execute(&self, command: &Command, persistence: Persistence) -> Value {
        let wall = self.node.wall();
        let mut keyspace = self.keyspace.borrow_mut();
        keyspace.set_time(wall);
        let answer = run(&mut keyspace, command, wall);
        self.log(&mut keyspace, persistence);
        answer
    }

    fn log(&self, keyspace: &mut Keyspace, persistence: Persistence) {
        let changes = keyspace.take_changes();
        if persistence != Persistence::None {
            changes.into_iter().for_each(|change| self.disk.append(change));
        }
    }

    async fn expire(self: Rc<Self>, persistence: Persistence) {
        loop {
            self.node.sleep_until(self.node.now() + ACTIVE_EXPIRY.as_nanos() as u64).await;
            let mut keyspace = self.keyspace.borrow_mut();
            keyspace.set_time(self.node.wall());
            if keyspace.expire_actively() > 0 {
                self.log(&mut keyspace, persistence);
            }
        }
    }

    async fn sync_every_second(self: Rc<Self>) {
        loop {
            self.node.sleep(FSYNC_EVERY).await;
            self.disk.sync();
        }
    }
}

/// A command on a server that takes writes. Nobody replicates here: `WAIT` has none to wait for, and does not.
pub(super) fn run(keyspace: &mut Keyspace, command: &Command, wall: i64) -> Value {
    match command {
        Command::SetNxPx(words, ttl) => set_nx_px(keyspace, words, *ttl),
        Command::Get(key) => keyspace.get(key).map_or(Value::Nil, |value| Value::Text(value.to_owned())),
        Command::Del(key) => Value::Integer(keyspace.del(key).into()),
        Command::Pttl(key) => keyspace.pttl(key).map_or(Value::Nil, Value::Integer),
        Command::Time => Value::Integer(wall.div_euclid(1000)),
        Command::Wait(..) => Value::Integer(0),
        Command::Role => Value::Array(vec![Value::Text("master".into())]),
        Command::Eval(script, words) => eval(keyspace, script, words),
    }
}

pub(super) fn eval(keys: &mut dyn Keys, script: &'static Script, words: &Words) -> Value {
    let all: SmallVec<[&str; WORDS]> = words.iter().collect();
    let (names, args) = all.split_at(words.keys());
    (script.rust)(keys, names, args)
}

fn set_nx_px(keyspace: &mut Keyspace, words: &Words, ttl: Duration) -> Value {
    let mut words = words.iter();
    match (words.next(), words.next()) {
        (Some(key), Some(value)) if keyspace.get(key).is_none() => {
            keyspace.set(key, value, Some(ttl));
            Value::Text("OK".into())
        }
        _ => Value::Nil,
    }
}
