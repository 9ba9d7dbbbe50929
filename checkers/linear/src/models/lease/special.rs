//! Leases that end by themselves.

use rustc_hash::FxHashMap;

use crate::{
    answer::Answer,
    model::OpOf,
    models::lease::{Lease, LeaseAction, LeaseOutput},
    special::sweep::{refuted, valid},
};

/// Judges a cluster of operations on one lease in O(n log n), or leaves it to the search.
///
/// A hold is certain from its acquire's return until its release's invocation, or until its time to live after the
/// *invocation* of its acquire or last renewal (an indeterminate one counts where that makes it shorter): two such cores
/// that overlap refute the history. Where there are but
/// acquires with one time to live, and those invoked earlier return earlier, it is exact to grant them in that order, each
/// as soon as can be.
pub fn judge(ops: &[OpOf<Lease>]) -> Option<Answer> {
    let mut order: Vec<u32> = (0..ops.len() as u32).collect();
    order.sort_by_key(|&op| (ops[op as usize].call, ops[op as usize].deadline()));
    overlap(ops, cores(ops, &order)?).or_else(|| in_order(ops, &order))
}

/// Positions of operations that can be judged apart: at the first invocation of each part everything of the parts before
/// has returned and every term has ended. Operations that cannot matter are in no part: an owner's last, indeterminate
/// acquire, or renewal for no shorter time, unless something was refused.
pub fn clusters(ops: &[OpOf<Lease>]) -> Vec<Vec<u32>> {
    let has_refusals = ops.iter().any(|op| op.output() == Some(&LeaseOutput::Refused));
    let owners = Owners::of(ops);
    let matters = |op: &OpOf<Lease>| {
        has_refusals || !owners.is_last_and_indeterminate(op) || !owners.only_lengthens(op)
    };
    let mut order: Vec<u32> = (0..ops.len() as u32).filter(|&op| matters(&ops[op as usize])).collect();
    order.sort_by_key(|&op| ops[op as usize].call);
    let (mut clusters, mut over) = (Vec::<Vec<u32>>::new(), Over::default());
    for position in order {
        let op = &ops[position as usize];
        match clusters.last_mut().filter(|_| op.call <= over.returned || op.call < over.ended) {
            Some(cluster) => cluster.push(position),
            None => clusters.push(vec![position]),
        }
        over.note(op, &owners);
    }
    clusters
}

/// By owner: when its determinate operations are over, how many indeterminate ones it has, and the longest of its times to
/// live.
struct Owners(FxHashMap<u32, (Option<u64>, u32, u64)>);

impl Owners {
    fn of(ops: &[OpOf<Lease>]) -> Owners {
        let mut owners = FxHashMap::default();
        for op in ops {
            let (over, indeterminate, ttl_max) = owners.entry(op.input.owner).or_insert((None, 0, 0));
            if let LeaseAction::Acquire { ttl } | LeaseAction::Renew { ttl } = op.input.action {
                *ttl_max = ttl.max(*ttl_max);
            }
            match op.is_info() {
                true => *indeterminate += 1,
                false => *over = Some(op.deadline()).max(*over),
            }
        }
        Owners(owners)
    }

    /// Whether it is indeterminate, and everything else of its owner's is over before it.
    fn is_last_and_indeterminate(&self, op: &OpOf<Lease>) -> bool {
        let (over, indeterminate, _) = self.0[&op.input.owner];
        op.is_info() && indeterminate == 1 && over < Some(op.call)
    }

    /// Whether it can but keep others out for longer: not a release, nor a renewal for a shorter time.
    fn only_lengthens(&self, op: &OpOf<Lease>) -> bool {
        match op.input.action {
            LeaseAction::Acquire { .. } => true,
            LeaseAction::Renew { ttl } => ttl == self.0[&op.input.owner].2,
            LeaseAction::Release => false,
        }
    }
}

/// When everything so far has returned, and every term ended.
#[derive(Default)]
struct Over {
    returned: u64,
    ended: u64,
}

impl Over {
    fn note(&mut self, op: &OpOf<Lease>, owners: &Owners) {
        let is_last_release = op.input.action == LeaseAction::Release && owners.is_last_and_indeterminate(op);
        // An indeterminate release does nothing once the term has ended.
        let until = if is_last_release { op.call } else { op.deadline() };
        self.returned = self.returned.max(until);
        if let (LeaseAction::Acquire { ttl } | LeaseAction::Renew { ttl }, true) =
            (op.input.action, op.output() != Some(&LeaseOutput::Refused))
        {
            self.ended = self.ended.max(until.saturating_add(ttl));
        }
    }
}

struct Core {
    acquire: u32,
    from: u64,
    until: u64,
}

/// Certain holds, or `None` where an owner goes on after an indeterminate operation.
fn cores(ops: &[OpOf<Lease>], order: &[u32]) -> Option<Vec<Core>> {
    let mut cores: Vec<Core> = Vec::new();
    let mut owners: FxHashMap<u32, (u64, Option<usize>)> = FxHashMap::default();
    for &position in order {
        let op = &ops[position as usize];
        let (busy_until, core) = owners.entry(op.input.owner).or_insert((0, None));
        if *busy_until >= op.call && *busy_until > 0 {
            return None;
        }
        *busy_until = op.deadline().max(1);
        if op.output() == Some(&LeaseOutput::Refused) {
            continue;
        }
        match (op.input.action, op.is_info(), *core) {
            (LeaseAction::Acquire { ttl }, false, _) => {
                *core = Some(cores.len());
                cores.push(Core {
                    acquire: position,
                    from: op.deadline(),
                    until: op.call.saturating_add(ttl),
                });
            }
            (LeaseAction::Renew { ttl }, is_info, Some(core)) => {
                let renewed = op.call.saturating_add(ttl);
                let until = &mut cores[core].until;
                *until = if is_info { renewed.min(*until) } else { renewed };
            }
            (LeaseAction::Release, _, Some(at)) => {
                cores[at].until = cores[at].until.min(op.call);
                *core = None;
            }
            _ => {}
        }
    }
    Some(cores)
}

fn overlap(ops: &[OpOf<Lease>], mut cores: Vec<Core>) -> Option<Answer> {
    cores.retain(|core| core.from < core.until);
    cores.sort_by_key(|core| core.from);
    let pair = cores.windows(2).find(|pair| pair[1].from < pair[0].until)?;
    let owner = ops[pair[0].acquire as usize].input.owner;
    let reason = format!("it was granted before the term of {owner} had ended");
    Some(refuted(pair[1].acquire, [pair[0].acquire], &reason))
}

fn in_order(ops: &[OpOf<Lease>], order: &[u32]) -> Option<Answer> {
    if !ops.iter().all(|op| matches!(op.input.action, LeaseAction::Acquire { .. })) {
        return None;
    }
    let mut early = None;
    let (mut free_from, mut last_deadline, mut last, mut only) = (0, 0, None, None);
    for &position in order {
        let op = &ops[position as usize];
        let LeaseAction::Acquire { ttl } = op.input.action else { return None };
        let is_agreeable = op.output() == Some(&LeaseOutput::Done) && last_deadline <= op.deadline();
        if !is_agreeable || *only.get_or_insert(ttl) != ttl {
            return None;
        }
        last_deadline = op.deadline();
        let granted = op.call.max(free_from);
        if granted > op.deadline() && early.is_none() {
            early = Some(refuted(position, last, "it was granted before the terms before it can have ended"));
        }
        (free_from, last) = (granted.saturating_add(ttl), Some(position));
    }
    Some(early.unwrap_or_else(valid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{engine::check, limits::Limits};
    use history::verdict::Verdict;

    #[test]
    fn a_renewal_for_a_shorter_time_may_have_taken_effect() {
        let acquire = |owner, call, at, ttl| {
            Lease::op(owner, call, LeaseAction::Acquire { ttl }, Some((at, LeaseOutput::Done)))
        };
        for (granted, verdict) in [(3, Verdict::Invalid), (4, Verdict::Valid)] {
            let renewal = Lease::op(1, 2, LeaseAction::Renew { ttl: 2 }, None);
            let ops = [acquire(1, 1, 1, 4), renewal, acquire(4, 3, granted, 4)];
            assert_eq!(check(&Lease, &ops, &Limits::default()).verdict(), verdict);
            let swept = judge(&ops).map(|answer| answer.verdict());
            assert_eq!(swept == Some(Verdict::Invalid), verdict == Verdict::Invalid);
        }
    }
}
