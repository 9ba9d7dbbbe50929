//! The definitions, pair by pair, on the holds that the table has.

use checkers::{Attempt, Hold, LockTable};

/// For each hold that began while another client's lasted: its begin, and the latest end of an overlap with one before
/// it. Of holds that begin together the one that ends first counts as the earlier.
pub fn overlaps(table: &LockTable<'_>) -> Vec<(u64, u64)> {
    let holds = &table.holds;
    let key = |place: usize| (holds[place].start.time, holds[place].until_ns(), place);
    let overlap = |later: usize| {
        let b = &holds[later];
        let overlaps = |a: &Hold| {
            let (first, second) = (table.grant_of(a), table.grant_of(b));
            first.lock == second.lock
                && first.client != second.client
                && a.start.time < b.until_ns()
                && b.start.time < a.until_ns()
        };
        let earlier = (0..holds.len()).filter(|&earlier| key(earlier) < key(later)).map(|it| &holds[it]);
        let longest = earlier.filter(|a| overlaps(a)).max_by_key(|a| a.until_ns())?;
        Some((b.start.time, longest.end.time.min(b.end.time)))
    };
    (0..holds.len()).filter_map(overlap).collect()
}

/// Grants during whose wait or hold some other client asked for the lock, waited for it or held it.
pub fn contended(table: &LockTable<'_>) -> u64 {
    let end = |attempt: &Attempt| {
        let held = attempt.grant().map(|grant| table.end_of(&table.grants[grant as usize]).time);
        attempt.end.time.max(held.unwrap_or(0))
    };
    let company = |attempt: &&Attempt| {
        table.attempts.iter().any(|other| {
            let overlaps = other.invoke.time < end(attempt) && end(other) > attempt.invoke.time;
            other.lock == attempt.lock
                && table.client(other.process) != table.client(attempt.process)
                && overlaps
        })
    };
    table.attempts.iter().filter(|attempt| attempt.grant().is_some()).filter(company).count() as u64
}
