//! What the checks look at: one pass over a history makes a table of attempts, grants, holds, promises and accesses.

mod access;
mod belief;
mod build;
mod clients;
mod compact;
mod complete;
mod faults;
mod fields;
mod operation;
mod ungiven;

use std::{collections::BTreeMap, num::NonZeroU32};

use rustc_hash::FxHashMap;

use super::counts::OperationCounts;
use history::{
    History, Outcome, Words,
    holds::Ending,
    judgement::{Exit, FaultRecord},
    stalls::Stall,
};

use compact::{Maybe, MaybeToken};

pub use access::Access;
pub use compact::At;
pub use faults::Phase;
pub use ungiven::Ungiven;

/// The history of all locks and elections, typed. Numbers of locks, grants, holds and so on are positions in these lists.
///
/// Memory: about 40 bytes an attempt, 130 a grant with its hold and its promise, 30 a release, 50 an access; an event is part
/// of one of them at most.
#[derive(Debug)]
pub struct LockTable<'h> {
    /// Every lock or election that was named, in order of appearance.
    pub locks: Vec<LockName<'h>>,
    /// Every acquire and campaign, in order of invocation.
    pub attempts: Vec<Attempt>,
    /// Every certain grant, in order of its answer.
    pub grants: Vec<Grant>,
    /// Every certain hold, in order of begin. A grant has several where its belief ended and a renewal was answered later.
    pub holds: Vec<Hold>,
    /// Every promise of the service, by grant or by renewal, in the order in which clients learned of it.
    pub promises: Vec<Promise>,
    /// Every release and resign of a grant, by grant and then in order of invocation.
    pub releases: Vec<Release>,
    /// Every read and write of the protected resource, in order of invocation.
    pub accesses: Vec<Access>,
    /// Every leader that an observer saw, in order of observation.
    pub sightings: Vec<Sighting<'h>>,
    /// Every fault of the run, in order of start.
    pub faults: Vec<FaultRecord>,
    /// Every time in which a node's agent or the harness stood still though no fault of ours made it, in order of time.
    pub stalls: Vec<Stall>,
    /// Every server whose process ended by itself, in order of time.
    pub exits: Vec<Exit>,
    /// The phases of the run.
    pub phases: Vec<Phase>,
    /// By operation: outcomes, and how long the successful ones took.
    pub operations: BTreeMap<String, OperationCounts>,
    /// How late clients noticed that their stated deadline had passed.
    pub noticed_late: NoticedLate,
    /// The first client that was granted a lock again which it still held, where there is one.
    pub reacquired: Option<Reacquired>,
    /// The first use of a grant that no answer had given, where there is one.
    pub ungiven: Option<Ungiven>,
    /// The last event.
    pub end: At,
    history: &'h History,
    words: Words<{ access::FIELDS.len() }>,
    /// Why clients that used the resource held nothing.
    withouts: Vec<Without>,
    /// By grant: where its releases begin; at the end, how many there are.
    release_places: Vec<u32>,
    /// By process: its client, and its node where the history tells.
    processes: FxHashMap<u32, (u32, Option<&'h str>)>,
}

/// A lock, or an election: a lock whose holder is the leader and whose token is the term.
#[derive(Clone, Copy, Debug)]
pub struct LockName<'h> {
    /// Its name.
    pub name: &'h str,
    /// Whether it was campaigned for.
    pub election: bool,
}

/// An acquire or campaign.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// The lock.
    pub lock: u32,
    /// Who.
    pub process: u32,
    /// Its invocation.
    pub invoke: At,
    /// Its completion; the end of the history where there is none.
    pub end: At,
    /// `Info` where there is no completion.
    pub outcome: Outcome,
    grant: Option<NonZeroU32>,
}

/// A lock that was certainly given to a client. It belongs to the client's node, whatever process number it goes on under.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// The lock.
    pub lock: u32,
    /// The process that asked.
    pub process: u32,
    /// The client: processes of one node are one.
    pub client: u32,
    /// The promise that its acquire was answered with: [`LockTable::given`].
    first: u32,
    /// The last promise of the service.
    pub promise: u32,
    hold: Option<NonZeroU32>,
    /// It came while its own client still held the lock under an earlier grant.
    pub again: bool,
}

/// A time in which a client was entitled to believe that it had a lock. Only the certain counts.
#[derive(Clone, Copy, Debug)]
pub struct Hold {
    /// The grant.
    pub grant: u32,
    /// It begins: the ok of the acquire, or of a renewal that was answered after the belief had ended.
    pub start: At,
    /// It ends; the last event where it lasts beyond that.
    pub end: At,
    /// Why it ends.
    pub ending: Ending,
    /// Nothing up to the last event ends it.
    pub beyond: bool,
}

/// A release or resign.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// The grant that was given back.
    pub grant: u32,
    /// Its invocation: from here on the service may have given the lock to others.
    pub invoke: At,
    /// Its completion; the end of the history where there is none.
    pub end: At,
    /// `Info` where there is no completion; after `Fail` nothing was given back.
    pub outcome: Outcome,
}

/// What the service promised with a grant or a renewal.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// The grant that it belongs to.
    pub grant: u32,
    /// Invocation of the acquire or renew. A keepalive in the background was sent at the time of this, the event is the
    /// one that tells of it.
    pub invoke: At,
    /// Its ok.
    pub ok: At,
    asked_ns: Maybe,
    ttl_ns: Maybe,
    deadline_ns: Maybe,
    token: MaybeToken,
}

/// Why a client certainly holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without {
    /// It was never granted the lock. Its last try, if it made any.
    NeverGranted(Option<u32>),
    /// Its belief had ended so, at this moment.
    Ended(Ending, At),
}

/// A leader as an observer saw it.
#[derive(Clone, Copy, Debug)]
pub struct Sighting<'h> {
    /// The election.
    pub lock: u32,
    /// The observer.
    pub process: u32,
    /// The answer.
    pub ok: At,
    /// The leader's name for itself.
    pub leader: &'h str,
    /// The term, where it was told.
    pub token: Option<i128>,
}

/// Lapses that came after the stated deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoticedLate {
    /// How many.
    pub count: u64,
    /// By how much at most, in nanoseconds.
    pub max_ns: u64,
}

/// A client that was granted a lock again which it still held.
#[derive(Clone, Copy, Debug)]
pub struct Reacquired {
    /// The lock.
    pub lock: u32,
    /// Who.
    pub process: u32,
    /// The second grant's ok.
    pub ok: At,
}

impl Attempt {
    /// The grant that it led to.
    pub fn grant(&self) -> Option<u32> {
        self.grant.map(|place| place.get() - 1)
    }
}

impl Grant {
    /// Its last hold; none if its deadline had passed before it came.
    pub fn hold(&self) -> Option<u32> {
        self.hold.map(|place| place.get() - 1)
    }
}

impl Hold {
    /// When it ends, in nanoseconds since the run began; later than everything if nothing up to the last event ends it.
    pub fn until_ns(&self) -> u64 {
        if self.beyond { u64::MAX } else { self.end.time }
    }
}

impl Promise {
    /// When the request that the promise counts from was sent, where the client tells, in nanoseconds since the run
    /// began: an acquire that waits sends many.
    pub fn asked_ns(&self) -> Option<u64> {
        self.asked_ns.get()
    }

    /// How long the service promised, in nanoseconds.
    pub fn ttl_ns(&self) -> Option<u64> {
        self.ttl_ns.get()
    }

    /// Until when the client means to rely on it, in nanoseconds since the run began.
    pub fn deadline_ns(&self) -> Option<u64> {
        self.deadline_ns.get()
    }

    /// The token or term that came with it.
    pub fn token(&self) -> Option<i128> {
        self.token.get()
    }

    /// The earliest end of the promised time, in nanoseconds since the run began: it cannot have begun before it was
    /// asked for.
    pub fn end_ns(&self) -> Option<u64> {
        let asked_ns = self.asked_ns().unwrap_or(0).max(self.invoke.time);
        Some(asked_ns.saturating_add(self.ttl_ns()?))
    }
}

impl<'h> LockTable<'h> {
    fn empty(history: &'h History) -> LockTable<'h> {
        LockTable {
            locks: Vec::new(),
            attempts: Vec::new(),
            grants: Vec::new(),
            holds: Vec::new(),
            promises: Vec::new(),
            releases: Vec::new(),
            accesses: Vec::new(),
            sightings: Vec::new(),
            faults: Vec::new(),
            stalls: Vec::new(),
            exits: Vec::new(),
            phases: Vec::new(),
            operations: BTreeMap::new(),
            noticed_late: NoticedLate::default(),
            reacquired: None,
            ungiven: None,
            end: At::default(),
            history,
            words: Words::new(history, access::FIELDS),
            withouts: Vec::new(),
            release_places: Vec::new(),
            processes: FxHashMap::default(),
        }
    }

    /// The node that a process ran on, where the history tells.
    pub fn node(&self, process: u32) -> Option<&'h str> {
        self.processes.get(&process)?.1
    }

    /// The nodes of clients; one may come several times.
    pub fn nodes(&self) -> impl Iterator<Item = &'h str> + '_ {
        self.processes.values().filter_map(|&(_, node)| node)
    }

    /// The client that a process belongs to: processes of one node are one client.
    pub fn client(&self, process: u32) -> u32 {
        self.processes.get(&process).map_or(u32::MAX, |&(client, _)| client)
    }

    /// The phase with this name.
    pub fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// What a grant's acquire was asked and answered.
    pub fn given(&self, grant: &Grant) -> &Promise {
        &self.promises[grant.first as usize]
    }

    /// The grant of a hold.
    pub fn grant_of(&self, hold: &Hold) -> &Grant {
        &self.grants[hold.grant as usize]
    }

    /// When the client last ceased to believe in a grant.
    pub fn end_of(&self, grant: &Grant) -> At {
        grant.hold().map_or_else(|| self.given(grant).ok, |hold| self.holds[hold as usize].end)
    }

    /// Every release of a grant, in order of invocation.
    pub fn releases_of(&self, grant: u32) -> &[Release] {
        let [from, to] = [grant, grant + 1].map(|grant| self.release_places[grant as usize] as usize);
        &self.releases[from..to]
    }
}
