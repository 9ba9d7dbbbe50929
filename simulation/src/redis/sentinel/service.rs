//! A sentinel on its node: what it hears, what it sends, what it answers to clients; and its server's end of it.

use std::{cell::RefCell, rc::Rc, time::Duration};

use workloads::env::EnvApi;

use super::{
    super::{
        kept::Kept,
        replicated::{Replicated, Role},
    },
    Ask, Info, Member, Out, PERIOD_MS, Said, State,
};
use crate::{
    net::Port,
    node::{Node, NodeId},
    rpc::serve,
};

/// Where clients and the others reach it.
pub(in crate::redis) const PORT: Port = 26379;
/// Where servers are asked. (Real ones are asked where their clients ask, 6379.)
const SERVER: Port = 6379;
/// `sentinelTimer` runs about `hz 10` times a second.
const LOOK: Duration = Duration::from_millis(100);

/// `SENTINEL GET-MASTER-ADDR-BY-NAME`
#[derive(Debug)]
pub struct AskPrimary;

/// A running sentinel. Its tasks end with its node.
pub struct Sentinel {
    node: Node,
    members: Vec<NodeId>,
    kept: Kept,
    state: RefCell<State>,
}

impl Sentinel {
    /// Starts the sentinel beside `server`, on its node.
    pub fn start(server: &Rc<Replicated>, members: &[NodeId]) -> Rc<Sentinel> {
        let (node, kept) = (server.node.clone(), server.kept.clone());
        let me = members.iter().position(|member| *member == node.id()).unwrap_or(0);
        let known = kept.sentinel.borrow().clone();
        let state = State::new(me, members.len(), server.options.sentinel, known, wall_ms(&node));
        let members = members.to_vec();
        let sentinel = Rc::new(Sentinel { node: node.clone(), members, kept, state: RefCell::new(state) });
        let asked = sentinel.clone();
        serve(&node, PORT, move |request: crate::rpc::Request<AskPrimary, NodeId>| {
            request.reply.send(asked.members[asked.primary().0]);
        });
        node.run(sentinel.clone().look());
        node.run(sentinel.clone().hear());
        node.run(answer(server.clone(), sentinel.members.clone()));
        sentinel
    }

    /// The member that it takes for the primary, and the epoch of that belief.
    pub fn primary(&self) -> (usize, u64) {
        self.state.borrow().primary()
    }

    async fn look(self: Rc<Self>) {
        loop {
            // As the program's timer, each at times of its own, lest all sentinels ask for votes at once.
            self.node.sleep(LOOK + Duration::from_micros(self.node.random() % 10_000)).await;
            let desync = self.desync();
            self.state.borrow_mut().look(wall_ms(&self.node), desync);
            self.send();
        }
    }

    async fn hear(self: Rc<Self>) {
        let inbox = self.node.inbox(PORT);
        loop {
            let (from, said) = inbox.recv::<Said>().await;
            if let Some(from) = self.members.iter().position(|member| *member == from) {
                let desync = self.desync();
                self.state.borrow_mut().hear(from, said, wall_ms(&self.node), desync);
                self.send();
            }
        }
    }

    /// Keeps what it knows, then speaks.
    fn send(&self) {
        let mut state = self.state.borrow_mut();
        let out = state.take_out();
        assert!(
            self.kept.sentinel.borrow().epoch <= state.kept().epoch,
            "an epoch never goes back, whatever was restarted"
        );
        self.kept.sentinel.replace(state.kept().clone());
        for message in out {
            match message {
                Out::Server(member, ask) => self.node.send_to(self.members[member], SERVER, ask),
                Out::Sentinel(member, said) => self.node.send_to(self.members[member], PORT, said),
            }
        }
    }

    fn desync(&self) -> i64 {
        (self.node.random() % PERIOD_MS as u64) as i64
    }
}

/// The server's end.
async fn answer(server: Rc<Replicated>, members: Vec<NodeId>) {
    let inbox = server.node.inbox(SERVER);
    loop {
        let (from, ask) = inbox.recv::<Ask>().await;
        let said = match ask {
            Ask::Ping => Said::Pong,
            Ask::Info => Said::Info(info(&server, &members)),
            Ask::Follow(primary) => {
                server.follow_from_now(primary.map(|member| members[member]));
                continue;
            }
        };
        server.node.send_to(from, PORT, said);
    }
}

fn info(server: &Replicated, members: &[NodeId]) -> Info {
    let number = |node: NodeId| -> Option<Member> { members.iter().position(|member| *member == node) };
    match server.role.get() {
        Role::Primary => Info { copies: None, offset: server.stream.borrow().offset(), unlinked_ms: 0 },
        Role::Replica(primary) => Info {
            copies: number(primary),
            offset: server.stream.borrow().offset(),
            unlinked_ms: server.unlinked_ms(),
        },
    }
}

fn wall_ms(node: &Node) -> i64 {
    node.wall().div_euclid(1_000_000)
}
