//! The answers of a lock, cut where nothing that came before can matter to what comes after.

use std::mem;

use super::Promises;
use history::Outcome;

use crate::table::{Grant, Promise};

/// Hands over the lock and the answers of every stretch in which one look does not show that all promises were kept.
/// Tells, by lock, whether it could not be cut so: then its stretches mean nothing, and it has to be judged as a whole.
///
/// A stretch ends before an answer that came when all was over that had been promised before, by its own time or by a
/// release, to grants that are not confirmed later. Nothing is to be found in it if each of its answers came when all
/// was over that had been promised to other grants.
///
/// A lock can be cut if its tokens do not fall from answer to answer, and no release was under way while its grant was
/// confirmed: then, if instants are those of the answers, only what is promised at one moment can be in conflict. O(n).
pub(super) fn each(promises: &Promises<'_, '_>, mut judge: impl FnMut(u32, &[u32])) -> Vec<bool> {
    let table = promises.table;
    let mut locks: Vec<Stretch> = table.locks.iter().map(|_| Stretch::default()).collect();
    for (place, promise) in (0..).zip(&table.promises) {
        let grant = &table.grants[promise.grant as usize];
        let stretch = &mut locks[grant.lock as usize];
        if stretch.is_whole {
            continue;
        }
        if stretch.is_over(place, promise) {
            stretch.end(|places| judge(grant.lock, places));
        }
        stretch.take(promises, place, promise, grant);
    }
    for (lock, stretch) in (0..).zip(&mut locks) {
        stretch.end(|places| judge(lock, places));
    }
    locks.into_iter().map(|stretch| stretch.is_whole).collect()
}

/// What is known of a lock up to an answer.
#[derive(Default)]
struct Stretch {
    /// It cannot be cut.
    is_whole: bool,
    /// Its last token.
    token: Option<i128>,
    /// The answers since the last cut, as positions in the table.
    places: Vec<u32>,
    /// One of them came within what had been promised to another grant.
    is_early: bool,
    /// The last answer to one of their grants.
    last_place: u32,
    /// When the last of them came.
    last_ns: u64,
    /// The grant of the last one, and until when it is promised.
    grant: u32,
    promised_ns: u64,
    /// Until when something is promised to the grants before.
    others_ns: u64,
}

impl Stretch {
    /// Whether it can be cut before this answer.
    fn is_over(&self, place: u32, promise: &Promise) -> bool {
        let ok_ns = promise.ok.time;
        self.last_place < place && self.last_ns < ok_ns && self.others_ns.max(self.promised_ns) <= ok_ns
    }

    fn end(&mut self, judge: impl FnOnce(&[u32])) {
        if mem::take(&mut self.is_early) && !self.is_whole {
            judge(&self.places);
        }
        self.places.clear();
    }

    fn take(&mut self, promises: &Promises<'_, '_>, place: u32, promise: &Promise, grant: &Grant) {
        let (invoke_ns, ok_ns) = (promise.invoke.time, promise.ok.time);
        self.is_whole |= self.last_ns > ok_ns || invoke_ns > ok_ns;
        if self.grant != promise.grant {
            self.others_ns = self.others_ns.max(self.promised_ns);
            (self.grant, self.promised_ns) = (promise.grant, 0);
        }
        self.is_early |= self.others_ns > ok_ns;
        let mut end_ns = promises.promised_ns(promise);
        let releases = promises.table.releases_of(promise.grant).iter();
        for release in releases.filter(|release| release.outcome != Outcome::Fail) {
            self.is_whole |= release.invoke.time < ok_ns || release.end.time < release.invoke.time;
            end_ns = end_ns.min(release.invoke.time);
        }
        self.promised_ns = self.promised_ns.max(end_ns);
        if let Some(token) = promises.token(promise, grant) {
            self.is_whole |= self.token.is_some_and(|last| last > token);
            self.token = Some(token);
        }
        (self.last_place, self.last_ns) = (self.last_place.max(grant.promise), ok_ns);
        self.places.push(place);
    }
}
