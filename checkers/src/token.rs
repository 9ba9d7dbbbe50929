use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::{
    check::{Check, Stake},
    findings::Findings,
    table::{LockTable, Promise, Sighting},
    words::Ms,
};
use history::verdict::{CheckResult, Violation};

pub(super) const CHECK: Check = Check {
    name: "token",
    about: "tokens of successive grants and renewals repeat or do not increase; two leaders in one term",
    promise: "Each grant carries a greater token than the one before.",
    prevented_by: "Tokens must come from one order that outlives restarts and failovers, such as a revision of etcd or \
        a zxid of ZooKeeper.",
    rank: 3,
    informs: false,
    on_occasion: false,
    kept_only_at_end: false,
    stalls_excuse: false,
    stake: Stake::Contention,
    needs_every_grant: true,
    not_applicable: |case| (!case.recipe.token).then_some("the recipe has no fencing token"),
    run: |case| token(&case.table),
};

/// Tokens of one lock's grants and renewals repeat, or do not increase in real-time order; or two leaders were seen in
/// one term.
///
/// An answer is broken if another grant had its token before, or if an answer that was known before this one was asked
/// for has a token that is higher, or as high and of another grant. Answers that overlap in time may have their tokens
/// in either order, and a renewal may repeat its own grant's token. O(n log n).
fn token(table: &LockTable<'_>) -> CheckResult {
    let mut findings = Findings::new();
    broken(table)
        .found
        .into_iter()
        .for_each(|(before, answer)| findings.push(Finding::Order(before, answer)));
    two_leaders(table, &mut findings);
    let reason = match findings.found.iter().all(|finding| matches!(finding, Finding::Leaders(..))) {
        true => "two leaders were seen in one term",
        false => "tokens of successive grants and renewals repeat or do not increase",
    };
    findings.judge(Some("recipe"), reason, Finding::start_ns, |finding| match finding {
        Finding::Order(before, answer) => tell(table, before, answer),
        Finding::Leaders(first, second) => tell_leaders(table, first, second),
    })
}

enum Finding<'t, 'h> {
    /// The second contradicts the first.
    Order(&'t Promise, &'t Promise),
    Leaders(Seen<'h>, &'t Sighting<'h>),
}

/// Who led in a term by the first that told of it.
#[derive(Clone, Copy)]
struct Seen<'h> {
    leader: &'h str,
    at_ns: u64,
    event: u64,
}

impl Finding<'_, '_> {
    fn start_ns(&self) -> u64 {
        match self {
            Finding::Order(_, answer) => answer.ok.time,
            Finding::Leaders(_, sighting) => sighting.ok.time,
        }
    }
}

/// The broken answers, each behind the one that it contradicts.
pub(super) fn broken<'t>(table: &'t LockTable<'_>) -> Findings<(&'t Promise, &'t Promise)> {
    let lock = |promise: &Promise| table.grants[promise.grant as usize].lock;
    let rising = rising(table);
    let open = |promise: &&Promise| promise.token().is_some() && !rising[lock(promise) as usize];
    let mut answers: Vec<&Promise> = table.promises.iter().filter(open).collect();
    answers.sort_by_key(|answer| (lock(answer), answer.token(), answer.ok));
    let mut findings = Findings::new();
    for of_lock in answers.chunk_by(|a, b| lock(a) == lock(b)) {
        let mut others = Vec::with_capacity(of_lock.len());
        for with_token in of_lock.chunk_by(|a, b| a.token() == b.token()) {
            let first = with_token[0];
            let mut told = FxHashSet::from_iter([first.grant]);
            for answer in with_token.iter().skip(1) {
                // Of each other grant the first answer with the token counts; its renewals repeat what it says.
                match told.insert(answer.grant) {
                    true => findings.push((first, *answer)),
                    false => others.push(*answer),
                }
            }
            others.push(first);
        }
        inversions(of_lock, others, &mut findings);
    }
    findings
}

/// By lock: whether the tokens rise from answer to answer, but for those that confirm a grant with its own. Then none is
/// broken. O(n).
fn rising(table: &LockTable<'_>) -> Vec<bool> {
    let mut rising = vec![true; table.locks.len()];
    let mut last: Vec<Option<&Promise>> = vec![None; table.locks.len()];
    for answer in table.promises.iter().filter(|promise| promise.token().is_some()) {
        let lock = table.grants[answer.grant as usize].lock as usize;
        let follows = last[lock].is_none_or(|last| {
            let rises =
                last.token() < answer.token() || last.token() == answer.token() && last.grant == answer.grant;
            rises && last.ok.time <= answer.ok.time
        });
        rising[lock] &= follows && answer.invoke.time <= answer.ok.time;
        last[lock] = Some(answer);
    }
    rising
}

/// Of answers that repeat no other grant's: those whose token is below that of an answer known before they were asked
/// for, or as high as another grant's.
fn inversions<'t>(
    all: &[&'t Promise],
    mut answers: Vec<&'t Promise>,
    findings: &mut Findings<(&'t Promise, &'t Promise)>,
) {
    let mut known = all.to_vec();
    known.sort_by_key(|answer| answer.ok);
    answers.sort_by_key(|answer| answer.invoke.time);
    let mut known = known.into_iter().peekable();
    let mut highest: Option<&Promise> = None;
    for answer in answers {
        while let Some(before) = known.next_if(|before| before.ok.time < answer.invoke.time) {
            highest = highest.filter(|highest| highest.token() >= before.token()).or(Some(before));
        }
        if let Some(highest) = highest.filter(|highest| highest.token() > answer.token()) {
            findings.push((highest, answer));
        }
    }
}

/// Sightings of a leader in a term in which another was seen or was granted the lead. Leaders are compared with
/// grants only where they go by the names of nodes.
fn two_leaders<'t, 'h>(table: &'t LockTable<'h>, findings: &mut Findings<Finding<'t, 'h>>) {
    let nodes: FxHashSet<&str> = table.nodes().collect();
    let by_node = table.sightings.iter().any(|sighting| nodes.contains(sighting.leader));
    let mut terms: BTreeMap<(u32, i128), Seen<'h>> = BTreeMap::new();
    let granted = table.promises.iter().filter(|_| by_node).filter_map(|promise| {
        let grant = &table.grants[promise.grant as usize];
        let seen =
            Seen { leader: table.node(grant.process)?, at_ns: promise.ok.time, event: promise.ok.index() };
        Some(((grant.lock, promise.token()?), seen))
    });
    granted.for_each(|(term, seen)| _ = terms.entry(term).or_insert(seen));
    for sighting in &table.sightings {
        let Some(token) = sighting.token else { continue };
        let (leader, at_ns, event) = (sighting.leader, sighting.ok.time, sighting.ok.index());
        let first = *terms.entry((sighting.lock, token)).or_insert(Seen { leader, at_ns, event });
        let comparable = !by_node || nodes.contains(leader) == nodes.contains(first.leader);
        if first.leader != leader && comparable {
            findings.push(Finding::Leaders(first, sighting));
        }
    }
}

fn tell(table: &LockTable<'_>, before: &Promise, answer: &Promise) -> Violation {
    let (start_ns, end_ns) = (before.ok.time, answer.ok.time);
    let (faults, clause) = table.faults_within(answer.invoke.time, end_ns);
    let grant = &table.grants[before.grant as usize];
    let word = table.token_word(grant.lock);
    let wrong = if before.token() == answer.token() { "the same" } else { "a higher" };
    let text = format!(
        "{}, though {} had got {wrong} {word}, {}, at {}: every grant must have a higher {word} than those before; \
         {clause}.",
        table.answered(answer),
        table.who(grant.process),
        before.token().unwrap_or(0),
        Ms(before.ok.time),
    );
    let operations = vec![before.ok.index(), answer.ok.index()];
    Violation { text, operations, start_ns, end_ns, faults, figures: Default::default() }
}

fn tell_leaders(table: &LockTable<'_>, first: &Seen<'_>, second: &Sighting<'_>) -> Violation {
    let (start_ns, end_ns) = (first.at_ns.min(second.ok.time), first.at_ns.max(second.ok.time));
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    let text = format!(
        "{} saw {:?} lead {} in term {} at {}, in which {:?} led as known at {}: a term has one leader; {clause}.",
        table.who(second.process),
        second.leader,
        table.what(second.lock),
        second.token.unwrap_or(0),
        Ms(second.ok.time),
        first.leader,
        Ms(first.at_ns),
    );
    let operations = vec![first.event, second.ok.index()];
    Violation { text, operations, start_ns, end_ns, faults, figures: Default::default() }
}
