use std::collections::BTreeMap;

use super::terms::{Lock, NEVER, Term};

/// How many partial orders are looked at before the search gives up.
const STATES_MAX: usize = 200_000;

/// Whether there is an order of instants in which the service kept every promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Exists,
    None,
    /// There are too many to try.
    Undecided,
}

/// Finds out whether the terms of a lock can be put into an order, each at an instant between its invocation and its
/// ok, such that none is given while another's is in force.
///
/// In a given order earlier instants are never worse: everything that comes after must come later than something. So
/// of all orders of the same terms only the earliest need be kept. A term that is in force beyond its own ok can be
/// taken to be given at its ok: what comes after has to wait for its end anyway, and what comes before has more room.
/// That leaves choices only for answers that came when their own time was over.
pub(super) fn find(lock: &Lock) -> Order {
    let mut states = BTreeMap::from([(Key::default(), State::default())]);
    let mut looked_at = 0;
    for _ in 0..lock.terms.len() {
        let mut next: BTreeMap<Key, State> = BTreeMap::new();
        for (key, state) in &states {
            for place in candidates(lock, key) {
                looked_at += 1;
                let Some((key, state)) = put(lock, key, state, place) else { continue };
                let known = next.entry(key).or_insert_with(|| state.clone());
                if state.now_ns < known.now_ns {
                    *known = state;
                }
            }
            if looked_at > STATES_MAX {
                return Order::Undecided;
            }
        }
        if next.is_empty() {
            return Order::None;
        }
        states = next;
    }
    Order::Exists
}

/// Which terms are in the order so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// All before this one,
    first: usize,
    /// and these.
    more: Vec<usize>,
    /// Those among them that are in force and overlap a release, with their ends: these depend on their instants.
    returning: Vec<(usize, u64)>,
}

#[derive(Clone, Debug, Default)]
struct State {
    /// The last instant.
    now_ns: u64,
    /// The last term of each owner that is still in force, with its end.
    in_force: Vec<(usize, u64)>,
}

impl Key {
    fn has(&self, place: usize) -> bool {
        place < self.first || self.more.contains(&place)
    }

    fn with(&self, place: usize) -> Key {
        let mut key = self.clone();
        match key.more.binary_search(&place) {
            Err(at) => key.more.insert(at, place),
            Ok(_) => unreachable!("a term is put into the order once"),
        }
        while key.more.first() == Some(&key.first) {
            key.more.remove(0);
            key.first += 1;
        }
        key
    }
}

/// The terms that may come next: those that nothing outside the order has to precede.
fn candidates(lock: &Lock, key: &Key) -> Vec<usize> {
    let mut limit_ns = u64::MAX;
    let mut found = Vec::new();
    for place in key.first..lock.terms.len() {
        // Past the earliest ok of the rest nothing can come first.
        if lock.least_invoke_ns[place] > limit_ns {
            break;
        }
        if !key.has(place) {
            limit_ns = limit_ns.min(lock.terms[place].ok_ns);
            found.push(place);
        }
    }
    found.retain(|&place| {
        let term = &lock.terms[place];
        let after = |before: usize| before == NEVER || key.has(before);
        term.invoke_ns <= limit_ns && after(term.previous) && after(term.lower)
    });
    found
}

/// The order with one more term at its end, at the earliest instant; none if that is after its ok.
fn put(lock: &Lock, key: &Key, state: &State, place: usize) -> Option<(Key, State)> {
    let term = &lock.terms[place];
    let others = state.in_force.iter().filter(|(held, _)| lock.are_others(*held, place));
    let free_ns = others.map(|&(_, end)| end).max().unwrap_or(0);
    let earliest_ns = term.invoke_ns.max(state.now_ns).max(free_ns);
    let at_ns = if is_fixed(lock, term) { term.ok_ns.max(earliest_ns) } else { earliest_ns };
    if at_ns > term.ok_ns {
        return None;
    }
    let goes_on = |&(held, end): &(usize, u64)| lock.terms[held].owner != term.owner && end > at_ns;
    let mut in_force: Vec<(usize, u64)> = state.in_force.iter().copied().filter(goes_on).collect();
    let end_ns = lock.in_force_until(place, at_ns);
    if end_ns > at_ns {
        in_force.push((place, end_ns));
        in_force.sort_unstable();
    }
    let returning = in_force.iter().copied().filter(|(held, _)| lock.terms[*held].overlaps_release).collect();
    let key = Key { returning, ..key.with(place) };
    Some((key, State { now_ns: at_ns, in_force }))
}

/// Whether the term can be taken to be given at its ok.
fn is_fixed(lock: &Lock, term: &Term) -> bool {
    let alone = term.next == NEVER || lock.terms[term.next].invoke_ns >= term.ok_ns;
    let by_token = term.higher_ok_ns >= term.ok_ns;
    alone && by_token && !term.overlaps_release && term.end_ns > term.ok_ns
}
