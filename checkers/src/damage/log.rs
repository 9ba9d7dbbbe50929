use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::NAMES;
use history::{
    Outcome, ResourceEntry, ResourceOp,
    verdict::{CheckResult, Verdict, Violation},
};

use crate::{
    findings::{Findings, figures, unknown},
    table::{Access, LockTable},
    words::Ms,
};

/// Read-modify-write under the lock lost updates: acknowledged minus surviving.
///
/// Every write names the one that it read before, its base. What survives is the register's last content with its
/// base, the base's base, and so on. An acknowledged write outside that chain is lost; the one to blame is the write
/// that replaced the last content to contain it.
pub(super) fn damage(table: &LockTable<'_>, log: &[ResourceEntry], fenced: bool) -> CheckResult {
    let mut order: Vec<&ResourceEntry> = log.iter().filter(|entry| entry.op == ResourceOp::Write).collect();
    order.sort_by_key(|entry| entry.seq);
    let mut by_lock: BTreeMap<&str, Vec<&ResourceEntry>> = BTreeMap::new();
    order.into_iter().for_each(|entry| by_lock.entry(&entry.lock).or_default().push(entry));

    let acknowledged = acknowledged(table);
    let mut losses = Findings::new();
    let mut counts = [0, 0];
    for writes in by_lock.values() {
        for (register, count) in REGISTERS.iter().zip(&mut counts) {
            let before = losses.count;
            lost(register, writes, &acknowledged, &mut losses);
            *count += losses.count - before;
        }
    }
    let missing = missing(&acknowledged, log);
    let reason = "acknowledged writes were lost";
    let mut result = losses.judge(None, reason, |loss| loss.entry.time, |loss| tell(table, loss));
    if result.verdict == Verdict::Valid && missing > 0 {
        result = unknown(format!("the resource's log lacks {missing} acknowledged writes"));
    }
    let fenced_lost = if fenced { counts[1].into() } else { Json::Null };
    result.figures = figures([("unfenced_lost", counts[0].into()), ("fenced_lost", fenced_lost)]);
    result
}

/// One of the two registers of a lock.
struct Register {
    name: &'static str,
    base: fn(&ResourceEntry) -> Option<&str>,
    took: fn(&ResourceEntry) -> bool,
    /// Whether an acknowledged write was one to this register.
    meant: fn(&Access, &ResourceEntry) -> bool,
}

const REGISTERS: [Register; 2] = [
    Register {
        name: NAMES[0],
        base: |entry| entry.unfenced_base.as_deref(),
        took: |entry| entry.unfenced,
        meant: |_, _| true,
    },
    Register {
        name: NAMES[1],
        base: |entry| entry.fenced_base.as_deref(),
        took: |entry| entry.fenced == Some(true),
        meant: |access, entry| entry.fenced.is_some() && !access.refused,
    },
];

/// An acknowledged write that did not survive.
struct Loss<'t> {
    register: &'t Register,
    access: &'t Access,
    entry: &'t ResourceEntry,
    /// The write that overwrote it; none if the register never took it.
    by: Option<&'t ResourceEntry>,
}

type Acknowledged<'t> = FxHashMap<(u32, &'t str), &'t Access>;

/// Successful writes by process and id.
fn acknowledged<'t>(table: &'t LockTable<'_>) -> Acknowledged<'t> {
    let writes = table.accesses.iter().filter(|access| access.write && access.outcome == Outcome::Ok);
    writes.filter_map(|access| Some(((access.process, table.id_of(access)?), access))).collect()
}

/// `writes` are those of one lock in serial order.
fn lost<'t>(
    register: &'t Register,
    writes: &[&'t ResourceEntry],
    acknowledged: &Acknowledged<'t>,
    losses: &mut Findings<Loss<'t>>,
) {
    let taken: Vec<&ResourceEntry> = writes.iter().filter(|entry| (register.took)(entry)).copied().collect();
    let chain = Chain::of(&taken, register.base);
    let mut place = 0;
    for entry in writes {
        let took = (register.took)(entry);
        let by = took.then(|| chain.overwriter(place)).flatten();
        let key = entry.id.as_deref().map(|id| (entry.process, id));
        let access = key.and_then(|key| acknowledged.get(&key)).copied();
        if let Some(access) =
            access.filter(|access| (register.meant)(access, entry) && (!took || by.is_some()))
        {
            losses.push(Loss { register, access, entry, by: by.map(|by| taken[by]) });
        }
        place += usize::from(took);
    }
}

/// What became of the writes that a register took, by position in its serial order.
struct Chain {
    survives: Vec<bool>,
    /// The last write whose content contains this one.
    last: Vec<usize>,
}

impl Chain {
    fn of(taken: &[&ResourceEntry], base: fn(&ResourceEntry) -> Option<&str>) -> Chain {
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        let mut bases: Vec<Option<usize>> = Vec::with_capacity(taken.len());
        for (place, entry) in taken.iter().enumerate() {
            bases.push(base(entry).and_then(|id| places.get(id).copied()));
            entry.id.as_deref().into_iter().for_each(|id| _ = places.insert(id, place));
        }
        let mut last: Vec<usize> = (0..taken.len()).collect();
        for place in (0..taken.len()).rev() {
            if let Some(base) = bases[place] {
                last[base] = last[base].max(last[place]);
            }
        }
        let mut survives = vec![false; taken.len()];
        let mut content = taken.len().checked_sub(1);
        while let Some(place) = content {
            survives[place] = true;
            content = bases[place];
        }
        Chain { survives, last }
    }

    /// The write after which nothing contained this one any more; none if it survives.
    fn overwriter(&self, place: usize) -> Option<usize> {
        (!self.survives[place]).then(|| self.last[place] + 1)
    }
}

fn missing(acknowledged: &Acknowledged<'_>, log: &[ResourceEntry]) -> usize {
    let logged = log.iter().filter_map(|entry| Some((entry.process, entry.id.as_deref()?)));
    acknowledged.len()
        - logged.filter(|key| acknowledged.contains_key(key)).collect::<std::collections::BTreeSet<_>>().len()
}

fn tell(table: &LockTable<'_>, loss: &Loss<'_>) -> Violation {
    let end_ns = loss.by.map_or(loss.access.end.time, |by| by.time);
    let start_ns = loss.entry.time.min(end_ns);
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    let mut operations = vec![loss.access.invoke.index(), loss.access.end.index()];
    let overwritten = match loss.by {
        Some(by) => {
            let id = by.id.as_deref();
            let same =
                |access: &&Access| access.write && access.process == by.process && table.id_of(access) == id;
            operations.extend(table.accesses.iter().find(same).map(|access| access.invoke.index()));
            let base = (loss.register.base)(by).map_or("nothing".to_owned(), |base| format!("{base:?}"));
            let (who, id, at) = (table.who(by.process), id.unwrap_or("-"), Ms(by.time));
            format!("{who} overwrote it with {id:?} at {at}, having read {base}")
        }
        None => "the register never took it".to_owned(),
    };
    let text = format!(
        "Write {:?} of {}, acknowledged at {}, is lost in the {} register of {}: {overwritten}; {clause}.",
        table.name_of(loss.access),
        table.who(loss.access.process),
        Ms(loss.access.end.time),
        loss.register.name,
        table.what(loss.access.lock),
    );
    let figures = figures([("register", loss.register.name.into())]);
    Violation { text, operations, start_ns, end_ns, faults, figures }
}
