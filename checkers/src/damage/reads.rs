use std::hash::BuildHasher;

use hashbrown::hash_table::{Entry, HashTable};
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::Value as Json;

use super::NAMES;
use history::{
    History, Outcome, Words,
    verdict::{CheckResult, Verdict, Violation},
};

use crate::{
    findings::{Findings, figures, unknown},
    table::{Access, LockTable},
    words::Ms,
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
        let groups = Groups::of(table, history, register);
        let doubtful = groups.list.iter().filter(|group| group.certain.is_some() && group.perhaps > 0);
        doubts += groups.no_base + doubtful.count() as u64;
        for (first, second) in groups.pairs() {
            let [first, second] = [first, second].map(|place| &table.accesses[place as usize]);
            losses.push(Loss { register, first, second });
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

/// Writes to one of the registers, by what they replaced.
#[derive(Default)]
struct Groups<'h> {
    list: Vec<Group<'h>>,
    /// Acknowledged writes that are not the first of their group, in order of invocation: group and access.
    more: Vec<(u32, u32)>,
    /// Writes that the register took or may have taken, on a base that nobody knows.
    no_base: u64,
}

/// Writes of one lock on one base.
struct Group<'h> {
    lock: u32,
    base: Option<&'h str>,
    /// The first that was acknowledged, and taken by the register: a position in the table's accesses.
    certain: Option<u32>,
    /// How many more may have been taken.
    perhaps: u32,
}

impl<'h> Groups<'h> {
    fn of(table: &LockTable<'h>, history: &'h History, register: usize) -> Groups<'h> {
        let mut groups = Groups::default();
        let writes = table.accesses.iter().filter(|access| access.write).count();
        let mut places: HashTable<u32> = HashTable::with_capacity(writes);
        let mut last_read: FxHashMap<(u32, u32), Option<&str>> = FxHashMap::default();
        let name = Words::new(history, [NAMES[register]]);
        for (place, access) in (0..).zip(&table.accesses) {
            let client = (access.process, access.lock);
            if !access.write {
                match base(history, access, &name) {
                    Some(read) => _ = last_read.insert(client, read),
                    None => _ = last_read.remove(&client),
                }
                continue;
            }
            // A second write on one read is none that the workloads make.
            let base = last_read.remove(&client);
            // The fenced register takes no write without token.
            let was_refused =
                NAMES[register] == "fenced" && (access.refused || table.token_of(access).is_none());
            if access.outcome == Outcome::Fail || was_refused {
                continue;
            }
            match base {
                Some(base) => groups.add(&mut places, (access.lock, base), place, access.outcome),
                None => groups.no_base += 1,
            }
        }
        groups
    }

    fn add(
        &mut self,
        places: &mut HashTable<u32>,
        key: (u32, Option<&'h str>),
        access: u32,
        outcome: Outcome,
    ) {
        let hash = |key: (u32, Option<&str>)| FxBuildHasher.hash_one(key);
        let list = &mut self.list;
        let known = places.entry(
            hash(key),
            |&place| list[place as usize].key() == key,
            |&place| hash(list[place as usize].key()),
        );
        let place = match known {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => *free.insert(list.len() as u32).get(),
        };
        if place as usize == list.len() {
            list.push(Group { lock: key.0, base: key.1, certain: None, perhaps: 0 });
        }
        let group = &mut list[place as usize];
        match (outcome, group.certain) {
            (Outcome::Ok, None) => group.certain = Some(access),
            (Outcome::Ok, Some(_)) => self.more.push((place, access)),
            _ => group.perhaps += 1,
        }
    }

    /// Successive acknowledged writes on the same base, by lock and base.
    fn pairs(mut self) -> Vec<(u32, u32)> {
        let Groups { list, more, .. } = &mut self;
        more.sort_by_key(|&(group, access)| (list[group as usize].key(), access));
        let mut pairs = Vec::with_capacity(more.len());
        for of_group in more.chunk_by(|a, b| a.0 == b.0) {
            let mut before = list[of_group[0].0 as usize].certain.unwrap_or(of_group[0].1);
            for &(_, access) in of_group {
                pairs.push((std::mem::replace(&mut before, access), access));
            }
        }
        pairs
    }
}

impl<'h> Group<'h> {
    fn key(&self) -> (u32, Option<&'h str>) {
        (self.lock, self.base)
    }
}

/// What a read found in the register: the id of the last write, or nothing; `None` if it did not tell.
fn base<'h>(history: &'h History, read: &Access, register: &Words<1>) -> Option<Option<&'h str>> {
    if read.outcome != Outcome::Ok {
        return None;
    }
    let told = history.row(read.end.index() as usize).value();
    let (_, found) = register.entries(told).next()?;
    if found.is_null() { Some(None) } else { found.as_str().map(Some) }
}

/// Two acknowledged writes, one of which is lost.
struct Loss<'t> {
    register: usize,
    first: &'t Access,
    second: &'t Access,
}

fn tell(table: &LockTable<'_>, loss: &Loss<'_>) -> Violation {
    let Loss { register, first, second } = loss;
    let (start_ns, end_ns) = (first.invoke.time, first.end.time.max(second.end.time));
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    let text = format!(
        "Writes {:?} of {} and {:?} of {} replaced the same one in the {} register of {}: one of the two, both \
         acknowledged by {}, is lost; {clause}.",
        table.name_of(first),
        table.who(first.process),
        table.name_of(second),
        table.who(second.process),
        NAMES[*register],
        table.what(first.lock),
        Ms(end_ns),
    );
    let operations = [first.invoke, first.end, second.invoke, second.end].map(|at| at.index()).to_vec();
    let figures = figures([("register", NAMES[*register].into())]);
    Violation { text, operations, start_ns, end_ns, faults, figures }
}
