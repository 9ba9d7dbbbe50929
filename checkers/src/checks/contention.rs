use super::{counts::Grants, table::LockTable};

/// Counts the grants, and those during whose wait another process held the lock or waited for it.
///
/// A process has one interval for each attempt: from its invocation to the end of the hold that it began, or to its
/// own end. Those that overlap a wait are all that began before its end without those that ended by its beginning.
/// O(n log n).
pub(super) fn grants(table: &LockTable<'_>) -> Grants {
    let mut grants = Grants { total: table.holds.len() as u64, contended: 0 };
    let mut intervals: Vec<(u32, u64, u64)> = Vec::with_capacity(table.attempts.len());
    for attempt in &table.attempts {
        let end = attempt.hold.map_or(attempt.end, |hold| table.holds[hold as usize].end.max(attempt.end));
        intervals.push((attempt.lock, attempt.invoke.time, end.time));
    }
    let mut starts: Vec<(u32, u64)> = intervals.iter().map(|&(lock, start, _)| (lock, start)).collect();
    let mut ends: Vec<(u32, u64)> = intervals.iter().map(|&(lock, _, end)| (lock, end)).collect();
    let instants = intervals.iter().filter(|(_, start, end)| start == end);
    let mut instants: Vec<(u32, u64)> = instants.map(|&(lock, start, _)| (lock, start)).collect();
    [&mut starts, &mut ends, &mut instants].into_iter().for_each(|times| times.sort_unstable());
    for hold in &table.holds {
        let (from, to) = (hold.invoke.time, hold.start.time);
        let lock = starts.partition_point(|&(lock, _)| lock < hold.lock);
        let began = starts.partition_point(|&start| start < (hold.lock, to)) - lock;
        let ended = ends.partition_point(|&end| end <= (hold.lock, from)) - lock;
        let own = usize::from(from < to);
        // Where the wait took no time, what took none at the same time has ended without having begun before.
        let at_once = if from == to { count(&instants, (hold.lock, from)) } else { 0 };
        grants.contended += u64::from(began + at_once > ended + own);
    }
    grants
}

fn count(sorted: &[(u32, u64)], wanted: (u32, u64)) -> usize {
    sorted.partition_point(|&it| it <= wanted) - sorted.partition_point(|&it| it < wanted)
}
