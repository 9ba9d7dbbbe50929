//! Locks with owners, in one sweep.

use crate::{
    answer::Answer,
    model::OpOf,
    models::lock::{Lock, LockAction, LockOutput},
    special::sweep::{refuted, valid},
};

use super::anonymous;

/// Judges a history of one lock, or says that it takes a search.
///
/// An owner certainly holds the lock from its outermost acquire's return to its last release's invocation (for ever, if
/// there is none): the *core*. If every owner's own operations are in order, the history is linearizable exactly if no
/// two cores overlap, since each acquire can act at its return and each release at its invocation; an owner's last,
/// indeterminate acquire need not have happened. Tokens must increase from core to core, and be the same within one. An
/// acquire that was refused is wrong exactly if it lies between the return of one release and the invocation of the next
/// acquire. In O(n), or O(n log n) where grants are not in the order of their acquires.
///
/// Left to the search: operations of one owner that overlap (an owner that goes on after an indeterminate operation),
/// and refusals in the presence of indeterminate acquires.
pub fn judge(lock: &Lock, ops: &[OpOf<Lock>]) -> Option<Answer> {
    if !lock.owners {
        return if lock.depth_max == 1 && !lock.fenced { anonymous::judge(ops) } else { None };
    }
    let swept = Sweep::over(lock, ops, 0..ops.len() as u32);
    let sweep = match swept {
        None if !ops.is_sorted_by_key(|op| op.call) => {
            let mut order: Vec<u32> = (0..ops.len() as u32).collect();
            order.sort_by_key(|&op| ops[op as usize].call);
            Sweep::over(lock, ops, order)
        }
        swept => swept,
    }?;
    Some(sweep.answer(ops))
}

struct Core {
    start: u64,
    end: u64,
    acquire: u32,
    release: u32,
    token: Option<u64>,
}

/// The first faults of cores in order, by position.
#[derive(Default)]
struct Order {
    /// A core that begins before the one before it ends.
    overlap: Option<usize>,
    /// Two cores whose tokens do not increase.
    token: Option<(usize, usize)>,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Owner {
    /// Nothing of this owner's may be invoked up to here.
    busy_until: u64,
    /// Releases that it takes to free the lock.
    depth: u32,
    core: u32,
}

struct Sweep<'a> {
    lock: &'a Lock,
    cores: Vec<Core>,
    /// Acquires refused to owners that did not hold the lock.
    refused: Vec<u32>,
    /// An operation against its owner's own order.
    disorder: Option<u32>,
}

impl<'a> Sweep<'a> {
    /// `None` if it takes a search, or if the order is not that of the invocations.
    fn over(lock: &'a Lock, ops: &[OpOf<Lock>], order: impl IntoIterator<Item = u32>) -> Option<Sweep<'a>> {
        let cores = Vec::with_capacity(ops.len() / 2 + 1);
        let mut sweep = Sweep { lock, cores, refused: Vec::new(), disorder: None };
        let mut owners = Owners::default();
        let (mut has_info_acquire, mut last_call) = (false, 0);
        for index in order {
            let op = &ops[index as usize];
            if op.call < last_call {
                return None;
            }
            last_call = op.call;
            let owner = owners.of(op.input.owner);
            if owner.busy_until >= op.call && owner.busy_until > 0 {
                return None;
            }
            owner.busy_until = op.deadline().max(1);
            has_info_acquire |= op.is_info() && op.input.action == LockAction::Acquire;
            if !sweep.step(owner, index, op) {
                sweep.disorder.get_or_insert(index);
            }
        }
        (sweep.refused.is_empty() || !has_info_acquire).then_some(sweep)
    }

    /// Whether the owner's own operations before it permit the operation.
    fn step(&mut self, owner: &mut Owner, index: u32, op: &OpOf<Lock>) -> bool {
        match (op.input.action, op.output()) {
            (LockAction::Acquire, Some(LockOutput::Refused)) if owner.depth == 0 => self.refused.push(index),
            (LockAction::Acquire, Some(LockOutput::Refused)) => return owner.depth >= self.lock.depth_max,
            (LockAction::Release, Some(LockOutput::Refused)) => return owner.depth == 0,
            (LockAction::Acquire, Some(&LockOutput::Done { token })) => {
                let token = token.filter(|_| self.lock.fenced);
                return self.acquire(owner, index, op.deadline(), token);
            }
            (LockAction::Release, output) if owner.depth == 0 => return output.is_none(),
            (LockAction::Release, _) => {
                owner.depth -= 1;
                if owner.depth == 0 {
                    let core = &mut self.cores[owner.core as usize];
                    (core.end, core.release) = (op.call, index);
                }
            }
            (LockAction::Acquire, None) => {}
        }
        true
    }

    fn acquire(&mut self, owner: &mut Owner, index: u32, start: u64, token: Option<u64>) -> bool {
        if owner.depth == 0 {
            owner.core = self.cores.len() as u32;
            self.cores.push(Core { start, end: u64::MAX, acquire: index, release: NONE, token });
        }
        let core = &mut self.cores[owner.core as usize];
        core.token = core.token.or(token);
        owner.depth += 1;
        owner.depth <= self.lock.depth_max && (token.is_none() || core.token == token)
    }

    fn answer(mut self, ops: &[OpOf<Lock>]) -> Answer {
        if let Some(op) = self.disorder {
            return refuted(op, [], "its owner's own operations before it do not permit it");
        }
        let order = self.order().unwrap_or_else(|| {
            self.cores.sort_unstable_by_key(|core| core.start);
            self.order().unwrap_or_default()
        });
        if let Some(core) = order.overlap {
            return refuted(
                self.cores[core].acquire,
                evidence(&self.cores[core - 1]),
                "it was granted while another certainly held the lock",
            );
        }
        if let Some((before, core)) = order.token {
            let (before, core) = (self.cores[before].acquire, self.cores[core].acquire);
            return refuted(core, [before], "its token is not higher than an earlier hold's");
        }
        self.refused.iter().find_map(|&op| self.refusal(ops, op)).unwrap_or_else(valid)
    }

    /// What is wrong with the order of the cores; `None` if they are not sorted.
    fn order(&self) -> Option<Order> {
        let mut order = Order::default();
        let (mut last_start, mut last_end) = (0, 0);
        let mut last_token: Option<(u64, usize)> = None;
        for (index, core) in self.cores.iter().enumerate() {
            if core.start < last_start {
                return None;
            }
            if last_end > core.start && order.overlap.is_none() {
                order.overlap = Some(index);
            }
            (last_start, last_end) = (core.start, core.end);
            if let Some(token) = core.token {
                if let Some((last, before)) = last_token
                    && token <= last
                    && order.token.is_none()
                {
                    order.token = Some((before, index));
                }
                last_token = Some((token, index));
            }
        }
        Some(order)
    }

    /// Whether the lock was certainly free all the time while it refused.
    fn refusal(&self, ops: &[OpOf<Lock>], op: u32) -> Option<Answer> {
        let (call, deadline) = (ops[op as usize].call, ops[op as usize].deadline());
        let next = self.cores.partition_point(|core| core.start <= deadline);
        let free_from = next.checked_sub(1).map(|last| match self.cores[last].release {
            NONE => u64::MAX,
            release => ops[release as usize].deadline(),
        });
        let free_until = self.cores.get(next).map(|core| ops[core.acquire as usize].call);
        let is_free =
            free_from.is_none_or(|from| from < call) && free_until.is_none_or(|until| deadline < until);
        let with =
            [next.checked_sub(1), Some(next)].into_iter().flatten().filter_map(|core| self.cores.get(core));
        is_free
            .then(|| refuted(op, with.flat_map(evidence), "it was refused while the lock was certainly free"))
    }
}

fn evidence(core: &Core) -> Vec<u32> {
    [core.acquire, core.release].into_iter().filter(|&op| op != NONE).collect()
}

/// Owners by number: those up to a bound in a table, the others in a map.
#[derive(Default)]
struct Owners {
    low: Vec<Owner>,
    high: rustc_hash::FxHashMap<u32, Owner>,
}

impl Owners {
    #[inline]
    fn of(&mut self, owner: u32) -> &mut Owner {
        if (owner as usize) < self.low.len() {
            return &mut self.low[owner as usize];
        }
        self.meet(owner)
    }

    fn meet(&mut self, owner: u32) -> &mut Owner {
        const LOW_MAX: usize = 1 << 16;
        let unknown = Owner { busy_until: 0, depth: 0, core: NONE };
        if owner as usize >= LOW_MAX {
            return self.high.entry(owner).or_insert(unknown);
        }
        self.low.resize(owner as usize + 1, unknown);
        &mut self.low[owner as usize]
    }
}
