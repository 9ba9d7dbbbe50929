use rustc_hash::FxHashMap;

use super::Promises;
use history::{Outcome, Reacquire};

use crate::table::{Promise, Release};

/// Stands for a term that is not there.
pub(super) const NEVER: usize = usize::MAX;

/// What the service promised about one lock, or in a stretch of its answers.
pub(super) struct Lock {
    /// In order of [`Term::at_ns`].
    pub(super) terms: Vec<Term>,
    /// How many grants there are; each owns its terms.
    pub(super) owners: usize,
    /// By place: the earliest invocation of the terms from there on.
    pub(super) least_invoke_ns: Vec<u64>,
    /// Of releases that may have given something back: the invocation, and the last instant in which they can have.
    returns: Vec<(u64, u64)>,
}

/// One answer by which the service promised the lock to an owner. Times are nanoseconds since the run began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    /// Position in the table's promises.
    pub(super) promise: u32,
    /// The grant, counted within these.
    pub(super) owner: usize,
    pub(super) client: u32,
    /// It was given at an instant from here …
    pub(super) invoke_ns: u64,
    /// … to here.
    pub(super) ok_ns: u64,
    /// The instant that leaves the service most room: the ok; or the end of a release that was under way meanwhile.
    pub(super) at_ns: u64,
    /// It is in force up to here at least, exclusive, whenever it was given.
    pub(super) end_ns: u64,
    /// Up to here, exclusive, if nothing is given back.
    promised_ns: u64,
    /// The releases that may have given it back, in the lock's list.
    returns: (u32, u32),
    /// One of them was under way when it was given, perhaps: the instant decides what is given back.
    pub(super) overlaps_release: bool,
    /// The token, of a grant, where tokens fix the order of grants.
    pub(super) token: Option<i128>,
    /// The grant with the next lower token, which must have been given before; or [`NEVER`].
    pub(super) lower: usize,
    /// The earliest ok of the grants with higher tokens: it must be given by then.
    pub(super) higher_ok_ns: u64,
    /// The owner's term before and after this one, or [`NEVER`].
    pub(super) previous: usize,
    pub(super) next: usize,
    /// Its grant is a second one to a client that still held the lock, where that is a defect.
    again: bool,
}

impl Lock {
    /// Whether the second must respect what is promised by the first.
    pub(super) fn are_others(&self, first: usize, second: usize) -> bool {
        let (first, second) = (&self.terms[first], &self.terms[second]);
        first.owner != second.owner && (first.client != second.client || first.again || second.again)
    }

    /// What these answers promise, by their positions in the table; all are about one lock.
    pub(super) fn of(promises: &Promises<'_, '_>, places: &[u32]) -> Lock {
        let table = promises.table;
        let mut lock = Lock {
            terms: Vec::with_capacity(places.len()),
            owners: 0,
            least_invoke_ns: Vec::new(),
            returns: Vec::new(),
        };
        // By grant: who it is, and its last term. Terms of one grant are given in the order of their answers.
        let mut owners: FxHashMap<u32, (usize, u64)> = FxHashMap::default();
        for &place in places {
            let promise = &table.promises[place as usize];
            let grant = &table.grants[promise.grant as usize];
            let (owner, last_ns) = owners.entry(promise.grant).or_insert_with(|| {
                lock.owners += 1;
                (lock.owners - 1, 0)
            });
            let releases = table.releases_of(promise.grant);
            let mut term = Term {
                promise: place,
                owner: *owner,
                client: grant.client,
                token: promises.token(promise, grant),
                again: grant.again && promises.reacquire == Reacquire::Defect,
                ..span(promise, releases, promises.promised_ns(promise), &mut lock.returns)
            };
            term.at_ns = term.at_ns.max(*last_ns);
            *last_ns = term.at_ns;
            lock.terms.push(term);
        }
        lock.link();
        lock
    }

    /// Up to when, exclusive, a term is in force that was given at an instant: its time has passed, or a release that
    /// came later has given it back.
    pub(super) fn in_force_until(&self, term: usize, at_ns: u64) -> u64 {
        let term = &self.terms[term];
        let returns = &self.returns[term.returns.0 as usize..term.returns.1 as usize];
        let back = returns
            .iter()
            .filter(|(_, last_ns)| *last_ns >= at_ns)
            .map(|(invoke_ns, _)| (*invoke_ns).max(at_ns));
        back.fold(term.promised_ns, u64::min)
    }

    /// Puts the terms into order and links them.
    fn link(&mut self) {
        self.terms.sort_by_key(|term| (term.at_ns, term.promise));
        let mut last = vec![NEVER; self.owners];
        for place in 0..self.terms.len() {
            let before = std::mem::replace(&mut last[self.terms[place].owner], place);
            self.terms[place].previous = before;
            if before != NEVER {
                self.terms[before].next = place;
            }
        }
        let mut by_token: Vec<(i128, usize)> =
            self.terms.iter().zip(0..).filter_map(|(term, place)| Some((term.token?, place))).collect();
        by_token.sort_unstable();
        by_token.windows(2).for_each(|pair| self.terms[pair[1].1].lower = pair[0].1);
        let mut higher_ok_ns = u64::MAX;
        for &(_, place) in by_token.iter().rev() {
            self.terms[place].higher_ok_ns = higher_ok_ns;
            higher_ok_ns = higher_ok_ns.min(self.terms[place].ok_ns);
        }
        let mut least_ns = u64::MAX;
        let least = self.terms.iter().rev().map(|term| {
            least_ns = least_ns.min(term.invoke_ns);
            least_ns
        });
        self.least_invoke_ns = least.collect();
        self.least_invoke_ns.reverse();
    }

    /// Whether the tokens tell that the first was given before the second.
    pub(super) fn tokens_tell(&self, first: usize, second: usize) -> bool {
        let tokens = self.terms[first].token.zip(self.terms[second].token);
        tokens.is_some_and(|(first, second)| first < second)
    }

    /// Whether another term of the owner may have taken the place of this one by a moment, and be over by then.
    pub(super) fn may_be_replaced(&self, term: usize, by_ns: u64) -> bool {
        let mut later = self.terms[term].next;
        while later != NEVER && self.terms[later].invoke_ns <= by_ns {
            if self.terms[later].end_ns <= by_ns {
                return true;
            }
            later = self.terms[later].next;
        }
        false
    }
}

/// A release that failed gave nothing back; one that ended before this was asked for gave back what was before.
fn span(promise: &Promise, releases: &[Release], promised_ns: u64, returns: &mut Vec<(u64, u64)>) -> Term {
    let (invoke_ns, ok_ns) = (promise.invoke.time, promise.ok.time);
    let first = returns.len();
    for release in releases.iter().filter(|release| release.outcome != Outcome::Fail) {
        let last_ns = if release.outcome == Outcome::Info { u64::MAX } else { release.end.time };
        if last_ns >= invoke_ns {
            returns.push((release.invoke.time, last_ns));
        }
    }
    let own = &returns[first..];
    let last_ns = own.iter().map(|&(_, last)| last).max().unwrap_or(u64::MAX);
    Term {
        promise: 0,
        owner: 0,
        client: 0,
        invoke_ns,
        ok_ns,
        at_ns: ok_ns.min(last_ns),
        end_ns: own.iter().map(|&(invoke, _)| invoke).fold(promised_ns, u64::min),
        promised_ns,
        overlaps_release: own.iter().any(|&(invoke, _)| invoke < ok_ns),
        returns: (first as u32, returns.len() as u32),
        token: None,
        lower: NEVER,
        higher_ok_ns: u64::MAX,
        previous: NEVER,
        next: NEVER,
        again: false,
    }
}
