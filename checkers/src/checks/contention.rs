use super::{counts::Grants, table::LockTable};

/// Counts the grants, and those during whose wait another process held the lock or waited for it.
///
/// A process has one interval for each attempt: from its invocation to the end of the hold that it began, or to its
/// own end. Those that overlap a wait are all that began before its end without those that ended by its beginning.
/// O(n log n).
pub(super) fn grants(table: &LockTable<'_>) -> Grants {
    let mut grants = Grants { total: table.holds.len() as u64, contended: 0 };
    let mut by_lock = vec![Moments::default(); table.locks.len()];
    for attempt in &table.attempts {
        let end = attempt.hold().map_or(attempt.end, |hold| table.holds[hold as usize].end.max(attempt.end));
        let moments = &mut by_lock[attempt.lock as usize];
        moments.starts.push(attempt.invoke.time);
        moments.ends.push(end.time);
        if attempt.invoke.time == end.time {
            moments.instants.push(end.time);
        }
    }
    by_lock.iter_mut().for_each(Moments::sort);
    for hold in &table.holds {
        let (from, to) = (hold.invoke.time, hold.start.time);
        let Moments { starts, ends, instants } = &by_lock[hold.lock as usize];
        let began = starts.partition_point(|&start| start < to);
        let ended = ends.partition_point(|&end| end <= from);
        let own = usize::from(from < to);
        // Where the wait took no time, what took none at the same time has ended without having begun before.
        let at_once = if from == to { count(instants, from) } else { 0 };
        grants.contended += u64::from(began + at_once > ended + own);
    }
    grants
}

/// When the intervals of one lock begin and end.
#[derive(Clone, Default)]
struct Moments {
    starts: Vec<u64>,
    ends: Vec<u64>,
    /// Of those that take no time.
    instants: Vec<u64>,
}

impl Moments {
    fn sort(&mut self) {
        let lists = [&mut self.starts, &mut self.ends, &mut self.instants];
        lists.into_iter().for_each(|moments| moments.sort_unstable());
    }
}

fn count(sorted: &[u64], wanted: u64) -> usize {
    sorted.partition_point(|&it| it <= wanted) - sorted.partition_point(|&it| it < wanted)
}
