use std::{cmp::Reverse, collections::BinaryHeap};

use history::judgement::Grants;
use rustc_hash::FxHashMap;

use super::table::{Attempt, LockTable};

/// Counts the grants, and those during whose wait or hold another client asked for the lock, waited for it or held it.
/// A refusal while another holds is contention as much as a wait.
///
/// A client has one span for each attempt. Two overlap if each begins before the other's end. O(n log n) in time, and in
/// memory no more than is open at once, where attempts come in order of time.
pub(super) fn grants(table: &LockTable<'_>) -> Grants {
    let attempts = &table.attempts;
    let mut locks = vec![Lock::default(); table.locks.len()];
    if attempts.is_sorted_by_key(|attempt| attempt.invoke.time) {
        attempts.iter().for_each(|attempt| locks[attempt.lock as usize].wait(Span::of(table, attempt)));
    } else {
        let mut order: Vec<u32> = (0..attempts.len() as u32).collect();
        order.sort_by_key(|&place| attempts[place as usize].invoke.time);
        for attempt in order.into_iter().map(|place| &attempts[place as usize]) {
            locks[attempt.lock as usize].wait(Span::of(table, attempt));
        }
    }
    locks.iter_mut().for_each(Lock::take_up);
    Grants { total: table.grants.len() as u64, contended: locks.iter().map(|lock| lock.contended).sum() }
}

/// From an attempt's invocation to its end, or to the end of the last hold that it led to; in nanoseconds.
#[derive(Clone, Copy)]
struct Span {
    client: u32,
    from_ns: u64,
    to_ns: u64,
    granted: bool,
}

impl Span {
    fn of(table: &LockTable<'_>, attempt: &Attempt) -> Span {
        let held_ns = attempt.grant().map(|grant| table.end_of(&table.grants[grant as usize]).time);
        Span {
            client: table.client(attempt.process),
            from_ns: attempt.invoke.time,
            // An end that others told, such as a kill, may be stamped before what was sent meanwhile.
            to_ns: attempt.end.time.max(held_ns.unwrap_or(0)).max(attempt.invoke.time),
            granted: held_ns.is_some(),
        }
    }
}

/// What is open of one lock at a moment, spans taken up in order of their beginnings.
#[derive(Clone, Default)]
struct Lock {
    /// Spans that begin at the same moment, not yet taken up.
    next: Vec<Span>,
    /// By end: client, round, and whether it was granted.
    open: BinaryHeap<Reverse<(u64, u32, u64, bool)>>,
    /// How many of each client are open.
    clients: FxHashMap<u32, usize>,
    /// A round ends when another client comes: whatever is open then is contended. So within a round all that is not
    /// known to be contended is of one client.
    round: u64,
    /// Grants among the open of this round.
    alone: u64,
    contended: u64,
}

impl Lock {
    fn wait(&mut self, span: Span) {
        if self.next.first().is_some_and(|first| first.from_ns < span.from_ns) {
            self.take_up();
        }
        self.next.push(span);
    }

    /// Those that take no time come first: they do not overlap what begins only then.
    fn take_up(&mut self) {
        let mut next = std::mem::take(&mut self.next);
        next.sort_by_key(|span| span.to_ns > span.from_ns);
        next.iter().for_each(|span| self.begin(span));
        next.clear();
        self.next = next;
    }

    fn begin(&mut self, span: &Span) {
        while let Some(&Reverse((end_ns, client, round, granted))) = self.open.peek()
            && end_ns <= span.from_ns
        {
            self.open.pop();
            self.alone -= u64::from(granted && round == self.round);
            if let Some(own) = self.clients.get_mut(&client) {
                *own -= 1;
            }
        }
        let own = self.clients.entry(span.client).or_default();
        let has_company = *own < self.open.len();
        if has_company {
            self.contended += self.alone + u64::from(span.granted);
            (self.round, self.alone) = (self.round + 1, 0);
        }
        if span.to_ns > span.from_ns {
            *own += 1;
            self.alone += u64::from(span.granted && !has_company);
            // One that is contended already is of no round that is or comes.
            let round = if has_company { u64::MAX } else { self.round };
            self.open.push(Reverse((span.to_ns, span.client, round, span.granted)));
        }
    }
}
