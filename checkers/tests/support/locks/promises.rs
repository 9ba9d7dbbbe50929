//! What services promised, over all orders of instants; and tokens, pair by pair.

use history::EventKind;

use super::told::{Answer, Told};

struct Term<'t> {
    grant: usize,
    answer: &'t Answer,
    is_grant: bool,
}

/// Whether for some lock no order of instants keeps every promise.
pub fn none_keeps_all(told: &Told, drift_ns: u64) -> bool {
    let ordered = !tokens_broken(told);
    ["a", "b"].iter().any(|lock| {
        let of_lock = (0..told.grants.len()).filter(|&grant| told.grants[grant].lock == *lock);
        let terms: Vec<Term<'_>> = of_lock
            .flat_map(|grant| {
                let answers = told.grants[grant].answers.iter().enumerate();
                answers.map(move |(i, answer)| Term { grant, answer, is_grant: i == 0 })
            })
            .collect();
        let search = Search { told, terms, drift_ns, ordered };
        !search.extend(&mut Vec::new())
    })
}

struct Search<'t> {
    told: &'t Told,
    terms: Vec<Term<'t>>,
    drift_ns: u64,
    ordered: bool,
}

impl Search<'_> {
    /// Whether the order, terms with their instants, can be completed.
    fn extend(&self, order: &mut Vec<(usize, u64)>) -> bool {
        if order.len() == self.terms.len() {
            return true;
        }
        (0..self.terms.len()).any(|next| {
            let Some(at_ns) = self.earliest(order, next) else { return false };
            order.push((next, at_ns));
            let found = self.extend(order);
            order.pop();
            found
        })
    }

    /// The earliest instant of a term behind the others; none if it cannot come there.
    fn earliest(&self, order: &[(usize, u64)], next: usize) -> Option<u64> {
        let placed = |term: usize| order.iter().any(|&(it, _)| it == term);
        let term = &self.terms[next];
        let must_precede = |other: usize| {
            let it = &self.terms[other];
            let own = it.grant == term.grant && it.answer.place < term.answer.place;
            let by_token = self.ordered
                && it.is_grant
                && term.is_grant
                && it.answer.token.zip(term.answer.token).is_some_and(|(first, second)| first < second);
            own || by_token
        };
        if placed(next) || (0..self.terms.len()).any(|other| must_precede(other) && !placed(other)) {
            return None;
        }
        let mut at_ns = term.answer.invoke_ns.max(order.last().map_or(0, |last| last.1));
        for (i, &(held, held_at_ns)) in order.iter().enumerate() {
            let grant = self.terms[held].grant;
            let replaced = order[i + 1..].iter().any(|&(later, _)| self.terms[later].grant == grant);
            if !replaced && self.are_others(held, next) {
                at_ns = at_ns.max(self.in_force_until(held, held_at_ns));
            }
        }
        (at_ns <= term.answer.ok_ns).then_some(at_ns)
    }

    fn are_others(&self, held: usize, next: usize) -> bool {
        let (held, next) = (&self.terms[held], &self.terms[next]);
        let again = |term: &Term<'_>| self.told.grants[term.grant].again;
        let client = |term: &Term<'_>| &self.told.grants[term.grant].client;
        held.grant != next.grant && (client(held) != client(next) || again(held) || again(next))
    }

    fn in_force_until(&self, held: usize, at_ns: u64) -> u64 {
        let answer = self.terms[held].answer;
        let asked_ns = answer.asked_ns.unwrap_or(0).max(answer.invoke_ns);
        let end_ns = answer.ttl_ns.map_or(0, |ttl| (asked_ns + ttl).saturating_sub(self.drift_ns));
        let releases = &self.told.grants[self.terms[held].grant].releases;
        let given_back = releases.iter().filter(|release| match release.kind {
            EventKind::Fail => false,
            EventKind::Ok => release.end_ns >= at_ns,
            _ => true,
        });
        given_back.map(|release| release.invoke_ns.max(at_ns)).min().map_or(end_ns, |back| end_ns.min(back))
    }
}

/// Whether tokens of a lock repeat, or fall from an answer that was known to one that was asked for later.
pub fn tokens_broken(told: &Told) -> bool {
    let answers = || {
        (0..told.grants.len()).flat_map(|grant| told.grants[grant].answers.iter().map(move |it| (grant, it)))
    };
    answers().any(|(one, before)| {
        answers().any(|(other, answer)| {
            let (Some(first), Some(second)) = (before.token, answer.token) else { return false };
            let same_lock = told.grants[one].lock == told.grants[other].lock;
            let repeats = one != other && first == second;
            same_lock && (repeats || before.ok_ns < answer.invoke_ns && first > second)
        })
    })
}
