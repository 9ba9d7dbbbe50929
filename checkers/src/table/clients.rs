use rustc_hash::FxHashMap;

use super::{At, operation::Open};
use history::Row;

/// How many grants of one client and lock are looked through for the one that an event names by its token.
const REMEMBERED: usize = 32;

/// Who is who, what each has under way, and which grants each has.
///
/// A client is a node, under whatever process numbers it goes on; where the history names no node, a process.
#[derive(Default)]
pub(super) struct Clients<'h> {
    node_places: FxHashMap<&'h str, u32>,
    nodes: Vec<Node>,
    places: FxHashMap<u32, u32>,
    processes: Vec<Process<'h>>,
    states: Vec<Client>,
}

/// A process that did something, and its client.
#[derive(Clone, Copy)]
pub(super) struct Who {
    pub(super) process: u32,
    pub(super) client: u32,
    place: u32,
}

struct Process<'h> {
    number: u32,
    client: u32,
    /// The first node that an event of it named.
    node: Option<&'h str>,
    /// The node of its last event: by the history's number, and its place.
    at: (u32, u32),
    /// The operations under way.
    open: Vec<Open>,
}

#[derive(Clone, Copy, Default)]
struct Node {
    client: Option<u32>,
    /// Its client's last own event.
    life: Option<At>,
}

/// What one client has.
#[derive(Default)]
pub(super) struct Client {
    /// Whether the history names its node.
    pub(super) named: bool,
    locks: Vec<Own>,
}

/// What a client has of one lock.
struct Own {
    lock: u32,
    /// The grants, the latest last.
    grants: Vec<u32>,
    /// By place in the grants, a bit each: which may be believed in.
    open: u32,
    /// The last try, a position in the table's attempts.
    tried: Option<u32>,
}

impl<'h> Clients<'h> {
    /// Whose event this is. The client of a process is told from the process' first event.
    pub(super) fn of(&mut self, process: u32, row: Row<'h>) -> Who {
        let place = match self.places.get(&process) {
            Some(&place) => place,
            None => self.meet(process, row.node()),
        };
        let known = &self.processes[place as usize];
        let client = known.client;
        if known.at.0 != row.node_id()
            && let Some(node) = row.node()
        {
            let node_place = self.node_place(node);
            let known = &mut self.processes[place as usize];
            known.node.get_or_insert(node);
            known.at = (row.node_id(), node_place);
        }
        Who { process, client, place }
    }

    fn meet(&mut self, process: u32, node: Option<&'h str>) -> u32 {
        let fresh = self.states.len() as u32;
        let client = node.map_or(fresh, |node| {
            let place = self.node_place(node);
            *self.nodes[place as usize].client.get_or_insert(fresh)
        });
        if client == fresh {
            self.states.push(Client { named: node.is_some(), ..Client::default() });
        }
        let place = self.processes.len() as u32;
        self.processes.push(Process { number: process, client, node: None, at: (0, 0), open: Vec::new() });
        self.places.insert(process, place);
        place
    }

    fn node_place(&mut self, node: &'h str) -> u32 {
        let fresh = self.nodes.len() as u32;
        let place = *self.node_places.entry(node).or_insert(fresh);
        if place == fresh {
            self.nodes.push(Node::default());
        }
        place
    }

    /// The process acts, on the node that this event of it names.
    pub(super) fn lives(&mut self, who: Who, row: Row<'h>, at: At) {
        if row.node_id() != 0 {
            let (_, node) = self.processes[who.place as usize].at;
            self.nodes[node as usize].life = Some(at);
        }
    }

    /// The client on a node and its last own event, if it was heard of.
    pub(super) fn on(&self, node: &str) -> Option<(u32, At)> {
        let node = self.nodes[*self.node_places.get(node)? as usize];
        node.client.zip(node.life)
    }

    pub(super) fn client(&mut self, client: u32) -> &mut Client {
        &mut self.states[client as usize]
    }

    /// What a process has under way.
    pub(super) fn open(&mut self, who: Who) -> &mut Vec<Open> {
        &mut self.processes[who.place as usize].open
    }

    /// Of every process: its number, its client, its node.
    pub(super) fn processes(&self) -> impl Iterator<Item = (u32, (u32, Option<&'h str>))> {
        self.processes.iter().map(|process| (process.number, (process.client, process.node)))
    }
}

impl Client {
    /// Its grants of a lock that are still remembered, the latest last.
    pub(super) fn grants(&self, lock: u32) -> &[u32] {
        self.known(lock).map_or(&[], |own| &own.grants)
    }

    /// Those of its remembered grants that it may believe in: of no other does a hold go on.
    pub(super) fn open(&self, lock: u32) -> impl Iterator<Item = u32> + '_ {
        self.known(lock).into_iter().flat_map(Own::open)
    }

    /// Those of all locks.
    pub(super) fn all_open(&self) -> impl Iterator<Item = u32> + '_ {
        self.locks.iter().flat_map(Own::open)
    }

    /// All grants that are still remembered.
    pub(super) fn all(&self) -> impl Iterator<Item = u32> + '_ {
        self.locks.iter().flat_map(|own| own.grants.iter().copied())
    }

    /// Its last try to get a lock, a position in the table's attempts.
    pub(super) fn last_try(&self, lock: u32) -> Option<u32> {
        self.known(lock)?.tried
    }

    pub(super) fn tried(&mut self, lock: u32, attempt: u32) {
        self.own(lock).tried = Some(attempt);
    }

    /// Returns the grant that is forgotten in exchange, if there is one.
    pub(super) fn granted(&mut self, lock: u32, grant: u32) -> Option<u32> {
        let own = self.own(lock);
        let mut forgotten = None;
        if own.grants.len() == REMEMBERED {
            forgotten = Some(own.grants.remove(0));
            own.open >>= 1;
        }
        own.open |= 1 << own.grants.len();
        own.grants.push(grant);
        forgotten
    }

    /// It may believe in one of its grants anew.
    pub(super) fn reopened(&mut self, lock: u32, grant: u32) {
        let own = self.own(lock);
        if let Some(place) = own.grants.iter().rposition(|&known| known == grant) {
            own.open |= 1 << place;
        }
    }

    /// Forgets of its grants of a lock which were open and are not.
    pub(super) fn prune(&mut self, lock: u32, is_open: impl Fn(u32) -> bool) {
        let own = self.own(lock);
        for place in places(own.open) {
            if !is_open(own.grants[place]) {
                own.open &= !(1 << place);
            }
        }
    }

    fn known(&self, lock: u32) -> Option<&Own> {
        self.locks.iter().find(|own| own.lock == lock)
    }

    fn own(&mut self, lock: u32) -> &mut Own {
        let known = self.locks.iter().position(|own| own.lock == lock);
        let place = known.unwrap_or_else(|| {
            self.locks.push(Own { lock, grants: Vec::new(), open: 0, tried: None });
            self.locks.len() - 1
        });
        &mut self.locks[place]
    }
}

impl Own {
    fn open(&self) -> impl Iterator<Item = u32> + '_ {
        places(self.open).map(|place| self.grants[place])
    }
}

/// The bits that are set, the lowest first.
fn places(bits: u32) -> impl Iterator<Item = usize> {
    let next = |bits: &u32| Some(bits & (bits - 1)).filter(|&rest| rest != 0);
    let first = (bits != 0).then_some(bits);
    std::iter::successors(first, next).map(|bits| bits.trailing_zeros() as usize)
}
