//! What the checks look at: one pass over a history makes a table of attempts, holds, promises and accesses.

mod build;
mod compact;
mod crash;
mod faults;

use std::{collections::BTreeMap, num::NonZeroU32};

use rustc_hash::FxHashMap;

use super::counts::OperationCounts;
use crate::history::Outcome;

use compact::Maybe;

pub use compact::At;
pub use faults::{FaultRecord, Phase};

/// The history of all locks and elections, typed. Numbers of locks and holds are positions in these lists.
///
/// Memory: about 40 bytes an attempt, 140 a hold with its promise, 90 an access; an event is part of one of them at most.
#[derive(Debug, Default)]
pub struct LockTable<'h> {
    /// Every lock or election that was named, in order of appearance.
    pub locks: Vec<LockName<'h>>,
    /// Every acquire and campaign, in order of invocation.
    pub attempts: Vec<Attempt>,
    /// Every certain hold, in order of grant.
    pub holds: Vec<Hold>,
    /// Every promise of the service, by grant or by renewal, in the order in which clients learned of it.
    pub promises: Vec<Promise>,
    /// Every read and write of the protected resource, in order of invocation.
    pub accesses: Vec<Access<'h>>,
    /// Every fault of the run, in order of start.
    pub faults: Vec<FaultRecord>,
    /// The phases of the run.
    pub phases: Vec<Phase>,
    /// By operation: outcomes, and how long the successful ones took.
    pub operations: BTreeMap<String, OperationCounts>,
    /// The last event.
    pub end: At,
    nodes: FxHashMap<u32, &'h str>,
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
    hold: Option<NonZeroU32>,
}

/// The time in which a client was entitled to believe that it had a lock. Only the certain counts.
#[derive(Clone, Copy, Debug)]
pub struct Hold {
    /// The lock.
    pub lock: u32,
    /// Who.
    pub process: u32,
    /// Invocation of the acquire.
    pub invoke: At,
    /// Its ok: the hold begins.
    pub start: At,
    /// The hold ends.
    pub end: At,
    /// Why it ends.
    pub ending: Ending,
    /// The deadline that came with the grant had passed when it came: its client never believed.
    pub late: bool,
    token: Maybe,
    /// The last promise of the service, a position in [`LockTable::promises`].
    pub promise: u32,
    /// The first release or resign, also one that came after the end of the hold.
    pub release: Option<Release>,
}

/// Why a client no longer believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It invoked release or resign, whatever came of that.
    Released,
    /// It learned of the loss or passed its own deadline.
    Lapsed,
    /// The service refused a renewal: the grant was lost.
    Refused,
    /// It asked for the same lock again.
    Reacquired,
    /// An operation of its process ended indeterminate, so it dropped its connections and its belief.
    Retired,
    /// Its node was killed. The hold is certain only up to the last sign of life before.
    Crashed,
    /// The history ends.
    Open,
}

/// A release or resign.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// Its invocation: from here on the service may have given the lock to others.
    pub invoke: At,
    /// Its completion; the end of the history where there is none.
    pub end: At,
    /// `Info` where there is no completion.
    pub outcome: Outcome,
}

/// What the service promised with a grant or a renewal.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// The hold that it belongs to.
    pub hold: u32,
    /// Invocation of the acquire or renew.
    pub invoke: At,
    /// Its ok.
    pub ok: At,
    asked_ns: Maybe,
    ttl_ns: Maybe,
    deadline_ns: Maybe,
}

/// A read or a write of the protected resource.
#[derive(Clone, Copy, Debug)]
pub struct Access<'h> {
    /// Whether it is a write.
    pub write: bool,
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
    /// The fencing token that it carried.
    pub token: Option<u64>,
    /// The id that a write carried.
    pub id: Option<&'h str>,
    /// Position in the resource's serial order.
    pub seq: Option<u64>,
    /// Whether the fenced register refused it.
    pub refused: bool,
    /// The last promise that its process had for the lock when it was invoked.
    pub promise: Option<u32>,
}

impl Attempt {
    /// The hold that it began.
    pub fn hold(&self) -> Option<u32> {
        self.hold.map(|place| place.get() - 1)
    }
}

impl Hold {
    /// Fencing token or term.
    pub fn token(&self) -> Option<u64> {
        self.token.get()
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

    /// The earliest end of the promised time, in nanoseconds since the run began: it cannot have begun before it was
    /// asked for.
    pub fn end_ns(&self) -> Option<u64> {
        let asked_ns = self.asked_ns().unwrap_or(0).max(self.invoke.time);
        Some(asked_ns.saturating_add(self.ttl_ns()?))
    }
}

impl LockTable<'_> {
    /// The node that a process ran on, where the history tells.
    pub fn node(&self, process: u32) -> Option<&str> {
        self.nodes.get(&process).copied()
    }

    /// Whether both processes are the same client, as far as the history tells.
    pub fn same_client(&self, a: u32, b: u32) -> bool {
        a == b || (self.node(a).is_some() && self.node(a) == self.node(b))
    }

    /// The phase with this name.
    pub fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }
}

impl Access<'_> {
    /// The write's id, or a hyphen.
    pub fn name(&self) -> &str {
        self.id.unwrap_or("-")
    }
}
