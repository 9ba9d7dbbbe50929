use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::NAMES;
use crate::{
    checks::{
        findings::{Findings, figures, unknown},
        say::Ms,
        table::{Access, LockTable},
    },
    history::{History, Outcome},
    verdict::{CheckResult, Verdict, Violation},
};

/// Lost updates, as far as a history tells without the resource's log.
///
/// A write replaces what its client read before, its base. Two writes with the same base cannot both be in what the
/// register holds afterwards, since each content contains only its base, the base's base, and so on: of acknowledged
/// writes with the same base all but one are lost, though nobody knows which. If all bases differ, each write that the
/// register took replaced the one before it, and none is lost. `unknown` where a write may have been taken that shares
/// its base with an acknowledged one, or whose base is not known. O(n) but for the sorting of what is found.
pub(super) fn damage(table: &LockTable<'_>, history: &History, fenced: bool) -> CheckResult {
    let mut losses = Findings::new();
    let mut counts = [0, 0];
    let mut doubts = 0;
    for (register, count) in counts.iter_mut().enumerate().take(if fenced { 2 } else { 1 }) {
        let before = losses.count;
        let groups = groups(table, history, register);
        doubts += groups.no_base;
        for writes in groups.by_base.into_values() {
            doubts += u64::from(!writes.certain.is_empty() && writes.perhaps > 0);
            for pair in writes.certain.windows(2) {
                losses.push(Loss { register, first: pair[0], second: pair[1] });
            }
        }
        *count = losses.count - before;
    }
    let reason =
        "acknowledged writes replaced the same one; how many more were lost only the resource's log can tell";
    let mut result = losses.judge(None, reason, |loss| loss.second.end.time, |loss| tell(table, loss));
    let mut lost = [Some(counts[0]), fenced.then_some(counts[1])];
    if result.verdict == Verdict::Valid && doubts > 0 {
        lost = [None, None];
        result = unknown(format!(
            "the resource's log is missing, and without it nobody knows what became of some writes ({doubts} of them): \
             they may or may not have been taken, or what they replaced was never read"
        ));
    }
    let [unfenced_lost, fenced_lost] = lost.map(Json::from);
    result.figures = figures([("unfenced_lost", unfenced_lost), ("fenced_lost", fenced_lost)]);
    result
}

/// Writes to one of the registers, by lock and base.
#[derive(Default)]
struct Groups<'t, 'h> {
    by_base: BTreeMap<(u32, Option<&'h str>), Writes<'t, 'h>>,
    /// Writes that the register took or may have taken, on a base that nobody knows.
    no_base: u64,
}

#[derive(Default)]
struct Writes<'t, 'h> {
    /// Acknowledged, and taken by the register, in order of invocation.
    certain: Vec<&'t Access<'h>>,
    /// How many more may have been taken.
    perhaps: u64,
}

fn groups<'t, 'h>(table: &'t LockTable<'h>, history: &'h History, register: usize) -> Groups<'t, 'h> {
    let mut groups = Groups::default();
    let mut last_read: FxHashMap<(u32, u32), Option<&str>> = FxHashMap::default();
    for access in &table.accesses {
        let client = (access.process, access.lock);
        if !access.write {
            match base(history, access, register) {
                Some(read) => _ = last_read.insert(client, read),
                None => _ = last_read.remove(&client),
            }
            continue;
        }
        // A second write on one read is none that the workloads make.
        let base = last_read.remove(&client);
        // The fenced register takes no write without token.
        let was_refused = NAMES[register] == "fenced" && (access.refused || access.token.is_none());
        if access.outcome == Outcome::Fail || was_refused {
            continue;
        }
        let Some(base) = base else {
            groups.no_base += 1;
            continue;
        };
        let writes = groups.by_base.entry((access.lock, base)).or_default();
        match access.outcome {
            Outcome::Ok => writes.certain.push(access),
            _ => writes.perhaps += 1,
        }
    }
    groups
}

/// What a read found in the register: the id of the last write, or nothing; `None` if it did not tell.
fn base<'h>(history: &'h History, read: &Access<'_>, register: usize) -> Option<Option<&'h str>> {
    if read.outcome != Outcome::Ok {
        return None;
    }
    let told = history.row(read.end.index() as usize).value();
    let (_, found) = told.entries().find(|(key, _)| key.as_str() == Some(NAMES[register]))?;
    if found.is_null() { Some(None) } else { found.as_str().map(Some) }
}

/// Two acknowledged writes, one of which is lost.
struct Loss<'t, 'h> {
    register: usize,
    first: &'t Access<'h>,
    second: &'t Access<'h>,
}

fn tell(table: &LockTable<'_>, loss: &Loss<'_, '_>) -> Violation {
    let Loss { register, first, second } = loss;
    let (start_ns, end_ns) = (first.invoke.time, first.end.time.max(second.end.time));
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    let text = format!(
        "Writes {:?} of {} and {:?} of {} replaced the same one in the {} register of {}: one of the two, both \
         acknowledged by {}, is lost; {clause}.",
        first.name(),
        table.who(first.process),
        second.name(),
        table.who(second.process),
        NAMES[*register],
        table.what(first.lock),
        Ms(end_ns),
    );
    let operations = [first.invoke, first.end, second.invoke, second.end].map(|at| at.index()).to_vec();
    let figures = figures([("register", NAMES[*register].into())]);
    Violation { text, operations, start_ns, end_ns, faults, figures }
}
