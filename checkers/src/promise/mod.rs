//! The service granted a lock to one before what it had promised to another was over.

mod orders;
mod stretches;
mod terms;

use std::collections::BTreeSet;

use history::{
    Reacquire,
    verdict::{CheckResult, Verdict, Violation},
};

use super::{
    check::{Check, Stake},
    findings::{Findings, figures, unknown},
    table::{Grant, LockTable, Promise},
    token,
    words::{Ms, ms},
};
use orders::Order;
use terms::{Lock, NEVER};

pub(super) const CHECK: Check = Check {
    name: "promise",
    about: "the service granted a lock or renewed a grant before what it had promised to another was over",
    promise: "The service grants a lock to no one else before the time it promised has passed.",
    prevented_by: "The service gave away what it had promised to another: its clocks, what it has on disk when it \
        starts again, and how many servers must agree are what prevents it; a client can only guard its \
        resource by a token that increases.",
    rank: 2,
    informs: false,
    on_occasion: false,
    kept_only_at_end: false,
    stalls_excuse: false,
    stake: Stake::Contention,
    needs_every_grant: true,
    not_applicable: |case| (!case.recipe.ttl).then_some("the recipe's grants have no time to live"),
    run: |case| {
        let tokens_ordered = token::broken(&case.table).count == 0;
        promise(&case.table, case.drift_ns, tokens_ordered, case.reacquire)
    },
};

/// The service granted a lock to B, or renewed B's grant, before what it had promised to A had passed, A not having
/// released.
///
/// A promise is made at an instant between the invocation of an acquire or renew and its ok. It lasts until the
/// *invocation* (or, where the client tells it, the sending of the request that succeeded) + TTL − drift. It is void
/// from the instant of a release on, which is not before the release's invocation; a failed release leaves it standing.
/// It is not void by A's lapse, lost connections or crash, for none of these tells the service anything.
///
/// The service is blamed only if no order of instants excuses it. If every instant is that of the answer and no promise
/// is broken, all is well. Otherwise each answer that came within another's promise is certainly too early if it was
/// asked for after that promise was known, or if its own promise was open when that became known (then either order
/// breaks one of the two), or if the tokens tell that it came second. What is left undecided, [`orders`] decides exactly.
/// O(n log n) for any service that is not broken throughout.
fn promise(table: &LockTable<'_>, drift_ns: u64, tokens_ordered: bool, reacquire: Reacquire) -> CheckResult {
    let promises = Promises { table, drift_ns, tokens_ordered, reacquire };
    let mut findings = Findings::new();
    let mut undecided = false;
    for found in by_lock(&promises) {
        match found {
            Found::Early(found) => found.into_iter().for_each(|early| findings.push(early)),
            Found::Undecided => undecided = true,
        }
    }
    let reason = "the lock was granted or renewed before the time had passed that was promised to another";
    let start_ns = |early: &Early| table.promises[early.second as usize].ok.time;
    let result = findings.judge(Some("service"), reason, start_ns, |early| tell(table, drift_ns, early));
    match undecided && result.verdict == Verdict::Valid {
        true => {
            unknown("too many answers overlap to find out whether an order of instants keeps every promise")
        }
        false => result,
    }
}

/// What the service promised, and how that is to be understood.
struct Promises<'t, 'h> {
    table: &'t LockTable<'h>,
    drift_ns: u64,
    /// Whether tokens fix the order of grants.
    tokens_ordered: bool,
    reacquire: Reacquire,
}

impl Promises<'_, '_> {
    /// Up to when something is promised, exclusive, if nothing is given back. Without a time to live nothing is promised:
    /// that is over at once.
    fn promised_ns(&self, promise: &Promise) -> u64 {
        promise.end_ns().map_or(0, |end| end.saturating_sub(self.drift_ns))
    }

    /// The token, of the answer that granted, where tokens fix the order of grants.
    fn token(&self, promise: &Promise, grant: &Grant) -> Option<i128> {
        let is_grant = promise.ok == self.table.given(grant).ok;
        promise.token().filter(|_| is_grant && self.tokens_ordered)
    }
}

/// What was found of a lock.
enum Found {
    Early(Vec<Early>),
    Undecided,
}

/// Looks at the stretches that hold something early; at a whole lock only if it cannot be cut, or if what was found of it is
/// not certain.
fn by_lock(promises: &Promises<'_, '_>) -> Vec<Found> {
    let table = promises.table;
    let mut found: Vec<Vec<Early>> = vec![Vec::new(); table.locks.len()];
    let mut whole = stretches::each(promises, |lock, places| {
        found[lock as usize].extend(pairs(&Lock::of(promises, places)))
    });
    for (whole, found) in whole.iter_mut().zip(&found) {
        *whole |= !found.is_empty() && !found.iter().any(|early| early.certain);
    }
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); table.locks.len()];
    if whole.contains(&true) {
        for (place, promise) in (0..).zip(&table.promises) {
            let lock = table.grants[promise.grant as usize].lock as usize;
            if whole[lock] {
                places[lock].push(place);
            }
        }
    }
    let judge = |((whole, found), places): ((bool, Vec<Early>), Vec<u32>)| match whole {
        true => as_a_whole(&Lock::of(promises, &places)),
        false => certain(found),
    };
    whole.into_iter().zip(found).zip(places).map(judge).collect()
}

fn certain(mut found: Vec<Early>) -> Found {
    found.retain(|early| early.certain);
    Found::Early(found)
}

fn as_a_whole(lock: &Lock) -> Found {
    let mut found = pairs(lock);
    if found.is_empty() || found.iter().any(|early| early.certain) {
        return certain(found);
    }
    // The order of answers is not one that keeps every promise; perhaps another is.
    match orders::find(lock) {
        Order::Exists => Found::Early(Vec::new()),
        Order::None => {
            found.truncate(1);
            Found::Early(found)
        }
        Order::Undecided => Found::Undecided,
    }
}

/// The second was given within the promise of the first, if instants are in the order of answers, or as tokens tell.
/// Both are positions in the table's promises.
#[derive(Clone, Copy)]
struct Early {
    first: u32,
    second: u32,
    /// Whatever the order, one of the two promises is broken.
    certain: bool,
}

/// At most two for each term: an answer within what is promised to another, and an answer that came before one with a
/// lower token.
fn pairs(lock: &Lock) -> Vec<Early> {
    let mut sweep = Sweep { lock, open: BTreeSet::new(), current: vec![NEVER; lock.owners] };
    let mut found: Vec<Early> = (0..lock.terms.len()).filter_map(|place| sweep.step(place)).collect();
    found.extend(against_tokens(lock));
    found
}

/// Answers in the opposite order of their tokens. The one with the lower token was given first, so before the other's
/// ok; if its promise lasted beyond that, the other was too early.
fn against_tokens(lock: &Lock) -> Vec<Early> {
    // Terms whose token is higher than all before them: the first above a token is the first of all that are.
    let mut records: Vec<(i128, usize)> = Vec::new();
    let mut found = Vec::new();
    for (place, term) in lock.terms.iter().enumerate() {
        let Some(token) = term.token else { continue };
        match records.get(records.partition_point(|&(record, _)| record <= token)) {
            Some(&(_, earlier)) => {
                let by_ns = lock.terms[earlier].ok_ns;
                let within = term.end_ns > by_ns && !lock.may_be_replaced(place, by_ns);
                let certain = within && lock.are_others(place, earlier);
                found.push(Early { first: term.promise, second: lock.terms[earlier].promise, certain });
            }
            None => records.push((token, place)),
        }
    }
    found
}

/// Takes every instant to be that of its answer.
struct Sweep<'l> {
    lock: &'l Lock,
    /// What is promised to owners, by its end.
    open: BTreeSet<(u64, usize)>,
    /// By owner: the term in force.
    current: Vec<usize>,
}

impl Sweep<'_> {
    /// Takes up one term, and tells if it came within what is promised to another.
    fn step(&mut self, place: usize) -> Option<Early> {
        let terms = &self.lock.terms;
        let term = &terms[place];
        while self.open.first().is_some_and(|&(end, _)| end <= term.at_ns) {
            self.open.pop_first();
        }
        let others = self.open.iter().rev().map(|&(_, first)| first);
        let mut others = others.filter(|&first| self.lock.are_others(first, place));
        let latest = others.next();
        let certain = latest.into_iter().chain(others).find(|&first| self.is_certain(first, place));
        let before = std::mem::replace(&mut self.current[term.owner], place);
        if before != NEVER {
            self.open.remove(&(self.end_ns(before), before));
        }
        if self.end_ns(place) > term.at_ns {
            self.open.insert((self.end_ns(place), place));
        }
        let first = terms[certain.or(latest)?].promise;
        Some(Early { first, second: term.promise, certain: certain.is_some() })
    }

    fn end_ns(&self, place: usize) -> u64 {
        self.lock.in_force_until(place, self.lock.terms[place].at_ns)
    }

    /// Whether one of the two is broken also if the later answer belongs to the earlier instant.
    fn is_certain(&self, first: usize, second: usize) -> bool {
        let (earlier, later) = (&self.lock.terms[first], &self.lock.terms[second]);
        let within = earlier.end_ns > later.ok_ns && !self.lock.may_be_replaced(first, later.ok_ns);
        let asked_after = later.invoke_ns > earlier.ok_ns;
        let own_open = later.end_ns > earlier.ok_ns && !self.lock.may_be_replaced(second, earlier.ok_ns);
        within && (asked_after || own_open || self.lock.tokens_tell(first, second))
    }
}

fn tell(table: &LockTable<'_>, drift_ns: u64, early: &Early) -> Violation {
    let [first, second] = [early.first, early.second].map(|place| &table.promises[place as usize]);
    let start_ns = second.ok.time;
    let end_ns = first.end_ns().map_or(0, |end| end.saturating_sub(drift_ns));
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    let asked = if table.is_renewal(first) { "renewed" } else { "asked for" };
    let order = match early.certain {
        true => "",
        false => {
            ", and no other order of all the instants in which the service can have acted keeps its promises"
        }
    };
    let text = format!(
        "{}, {} before the service's promise to {} ended at {} ({asked} at {} for {}, not released before){order}; \
         {clause}.",
        table.answered(second),
        Ms(end_ns.saturating_sub(start_ns)),
        table.who(table.grants[first.grant as usize].process),
        Ms(end_ns),
        Ms(first.asked_ns().unwrap_or(first.invoke.time)),
        Ms(first.ttl_ns().unwrap_or(0)),
    );
    let mut operations = vec![first.invoke.index(), first.ok.index(), second.ok.index()];
    operations.dedup();
    let figures = figures([("early_ms", ms(end_ns.saturating_sub(start_ns)).into())]);
    Violation { text, operations, start_ns, end_ns: end_ns.max(start_ns), faults, figures }
}

#[cfg(test)]
mod tests;
