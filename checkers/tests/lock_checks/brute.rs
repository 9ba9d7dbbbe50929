//! The definitions, pair by pair.

use checkers::checks::LockTable;

use crate::program::{Grant, Promise};

/// For each hold that began while another lasted: its begin, and the latest end of an overlap with one before it.
/// Of holds that begin together the one that ends first counts as the earlier.
pub fn overlaps(grants: &[Grant]) -> Vec<(u64, u64)> {
    let key = |place: usize| (grants[place].start, grants[place].end, grants[place].promises[0].place);
    let overlap = |later: usize| {
        let b = &grants[later];
        let overlaps = |a: &Grant| a.lock == b.lock && a.start < b.end && b.start < a.end;
        let earlier = (0..grants.len()).filter(|&earlier| key(earlier) < key(later));
        let ends = earlier.map(|earlier| &grants[earlier]).filter(|a| overlaps(a)).map(|a| a.end.min(b.end));
        Some((b.start, ends.max()?))
    };
    (0..grants.len()).filter_map(overlap).collect()
}

/// For each grant given too early its time and the latest end of a promise that it broke.
pub fn early_grants(grants: &[Grant], drift_ns: u64) -> Vec<(u64, u64)> {
    let tokens_ordered = broken_tokens(grants).is_empty();
    let breaks = |a: &Grant, b: &Grant| {
        let end = promise_end(a, b, drift_ns)?;
        let own_end = promise_end(b, b, drift_ns);
        let must_follow = b.invoke >= a.start
            || own_end.is_some_and(|end| end > a.start)
            || tokens_ordered && a.token.zip(b.token).is_some_and(|(a, b)| a < b);
        let other = a.lock == b.lock && a.client != b.client;
        let kept = a.released.is_none_or(|released| released > b.start);
        (other && must_follow && kept && end > b.start).then_some(end)
    };
    let early = |b: &Grant| Some((b.start, grants.iter().filter_map(|a| breaks(a, b)).max()?));
    grants.iter().filter_map(early).collect()
}

/// The end of the last promise of `grant` that was known when `other` was granted; none if there was none yet.
fn promise_end(grant: &Grant, other: &Grant, drift_ns: u64) -> Option<u64> {
    let known = |promise: &&Promise| promise.place <= other.promises[0].place;
    let promise = grant.promises.iter().rfind(known)?;
    Some((promise.invoke + promise.ttl?).saturating_sub(drift_ns))
}

/// Grants whose token some earlier one had, or that came after a grant with a token not lower.
pub fn broken_tokens(grants: &[Grant]) -> Vec<&Grant> {
    let broken = |b: &&Grant| {
        grants.iter().any(|a| {
            let (Some(first), Some(second)) = (a.token, b.token) else { return false };
            let repeats = first == second && a.promises[0].place < b.promises[0].place;
            a.lock == b.lock && (repeats || a.start < b.invoke && first >= second)
        })
    };
    grants.iter().filter(broken).collect()
}

/// Grants during whose wait some other process waited for the lock or held it.
pub fn contended(table: &LockTable<'_>) -> u64 {
    let company = |attempt: &&checkers::checks::Attempt| {
        table.attempts.iter().any(|other| {
            let hold_end = other.hold().map_or(other.end, |hold| table.holds[hold as usize].end);
            let overlaps = other.invoke.time < attempt.end.time && hold_end.time > attempt.invoke.time;
            other.lock == attempt.lock && other.process != attempt.process && overlaps
        })
    };
    table.attempts.iter().filter(|attempt| attempt.hold().is_some()).filter(company).count() as u64
}
