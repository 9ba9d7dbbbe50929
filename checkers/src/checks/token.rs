use super::{
    findings::Findings,
    say::Ms,
    table::{Hold, LockTable},
};
use crate::verdict::{CheckResult, Violation};

/// Tokens of one lock's grants repeat, or do not increase in real-time order.
///
/// A grant is broken if an earlier one has the same token, or if a grant that was known before this one was asked
/// for has a token that is not lower. Grants that overlap in time may have their tokens in either order.
/// O(n log n).
pub(super) fn token(table: &LockTable<'_>) -> CheckResult {
    let reason = "tokens of successive grants repeat or do not increase";
    broken(table).judge(
        Some("recipe"),
        reason,
        |(_, grant)| grant.start.time,
        |(before, grant)| tell(table, before, grant),
    )
}

/// The broken grants, each behind the one that it contradicts.
pub(super) fn broken<'t>(table: &'t LockTable<'_>) -> Findings<(&'t Hold, &'t Hold)> {
    let mut grants: Vec<&Hold> = table.holds.iter().filter(|hold| hold.token().is_some()).collect();
    grants.sort_by_key(|grant| (grant.lock, grant.token(), grant.start));
    let mut findings = Findings::new();
    for of_lock in grants.chunk_by(|a, b| a.lock == b.lock) {
        let mut first_with_token = of_lock[0];
        let mut others = Vec::with_capacity(of_lock.len());
        for (i, grant) in of_lock.iter().enumerate() {
            if i > 0 && grant.token() == first_with_token.token() {
                findings.push((first_with_token, *grant));
            } else {
                first_with_token = grant;
                others.push(*grant);
            }
        }
        inversions(of_lock, others, &mut findings);
    }
    findings
}

/// Of grants that repeat no earlier one: those whose token is below that of a grant known before they were asked for.
fn inversions<'t>(
    all: &[&'t Hold],
    mut grants: Vec<&'t Hold>,
    findings: &mut Findings<(&'t Hold, &'t Hold)>,
) {
    let mut known = all.to_vec();
    known.sort_by_key(|grant| grant.start);
    grants.sort_by_key(|grant| grant.invoke);
    let mut known = known.into_iter().peekable();
    let mut highest: Option<&Hold> = None;
    for grant in grants {
        while let Some(before) = known.next_if(|before| before.start.time < grant.invoke.time) {
            highest = highest.filter(|highest| highest.token() >= before.token()).or(Some(before));
        }
        if let Some(highest) = highest.filter(|highest| highest.token() >= grant.token()) {
            findings.push((highest, grant));
        }
    }
}

fn tell(table: &LockTable<'_>, before: &Hold, grant: &Hold) -> Violation {
    let (start_ns, end_ns) = (before.start.time, grant.start.time);
    let (faults, clause) = table.faults_within(grant.invoke.time, end_ns);
    let word = table.token_word(grant.lock);
    let wrong = if before.token() == grant.token() { "the same" } else { "a higher" };
    let text = format!(
        "{}, though {} had got {wrong} {word}, {}, at {}: every grant must have a higher {word} than those before; \
         {clause}.",
        table.got(grant),
        table.who(before.process),
        before.token().unwrap_or(0),
        Ms(before.start.time),
    );
    let operations = vec![before.start.index(), grant.start.index()];
    Violation { text, operations, start_ns, end_ns, faults, figures: Default::default() }
}
