//! A semaphore whose permits have owners.

use rustc_hash::FxHashMap;

use crate::{
    answer::Answer,
    model::OpOf,
    models::semaphore::{Semaphore, SemaphoreAction, SemaphoreOutput},
    special::sweep::{Edge, edges, proved, valid},
};

/// Judges a history in O(n log n), or leaves it to the search: refusals, and determinate operations of one owner that
/// overlap.
///
/// Permits are out for the shortest time if each acquire acts at its return and each release at its invocation. What is
/// out even if every indeterminate release acted ([`Bounds`]) must fit, and nobody can give back more than all its
/// acquires took: that refutes. It is enough that it works ([`Plan`]) if no indeterminate operation acts but an owner's
/// last release, and acquires without which a later release of their owner would give back too much. The two leave
/// nothing open unless it matters what an owner that goes on after an indeterminate operation did then: which of several
/// acquires of different sizes happened is a problem of sums of subsets, which is hard.
pub fn judge(semaphore: &Semaphore, ops: &[OpOf<Semaphore>]) -> Option<Answer> {
    let edges = edges(ops);
    if ops.iter().any(|op| op.output() == Some(&SemaphoreOutput::Refused)) || overlaps(ops, &edges) {
        return None;
    }
    let wrong = Bounds::default().wrong(semaphore, ops, &edges);
    wrong.or_else(|| Plan::default().works(semaphore, ops, &edges).then(valid))
}

type Edges = [(u64, Edge, u32)];

/// Whether an owner does two things at a time.
fn overlaps(ops: &[OpOf<Semaphore>], edges: &Edges) -> bool {
    let mut busy: FxHashMap<u32, bool> = FxHashMap::default();
    edges.iter().any(|&(_, edge, position)| {
        let op = &ops[position as usize];
        let was_busy = busy.entry(op.input.owner).or_default();
        match edge {
            Edge::Call => *was_busy || std::mem::replace(was_busy, !op.is_info()),
            Edge::Return => !std::mem::replace(was_busy, false),
        }
    })
}

/// What an owner holds at least, and at most.
#[derive(Default)]
struct Held {
    /// Taken and not given back since it may have had nothing.
    certain: u64,
    /// The acquires that took it.
    acquires: Vec<u32>,
    /// What indeterminate releases may have given back.
    perhaps_released: u64,
    /// Taken by all acquires, the indeterminate ones too, and not given back by determinate releases.
    most: u64,
    /// Determinate releases.
    releases: Vec<u32>,
}

impl Held {
    fn least(&self) -> u64 {
        self.certain.saturating_sub(self.perhaps_released)
    }
}

#[derive(Default)]
struct Bounds {
    owners: FxHashMap<u32, Held>,
    /// What is certainly out, of all owners.
    out: u64,
}

impl Bounds {
    fn wrong(mut self, semaphore: &Semaphore, ops: &[OpOf<Semaphore>], edges: &Edges) -> Option<Answer> {
        for &(_, edge, position) in edges {
            let op = &ops[position as usize];
            let held = self.owners.entry(op.input.owner).or_default();
            let before = held.least();
            match (edge, op.input.action, op.is_info()) {
                (Edge::Call, SemaphoreAction::Acquire(count), true) => {
                    held.most = held.most.saturating_add(count);
                }
                (Edge::Return, SemaphoreAction::Acquire(count), _) => {
                    held.most = held.most.saturating_add(count);
                    held.certain = held.certain.saturating_add(count);
                    held.acquires.push(position);
                }
                (Edge::Call, SemaphoreAction::Release(count), is_info) => {
                    if is_info {
                        held.perhaps_released = held.perhaps_released.saturating_add(count);
                    } else if held.most < count {
                        let with = std::mem::take(&mut held.releases);
                        return Some(proved(position, with, "its owner gave back more than it had"));
                    } else {
                        held.most -= count;
                        held.releases.push(position);
                        held.certain = held.certain.saturating_sub(count);
                    }
                    if held.certain == 0 {
                        held.acquires.clear();
                    }
                }
                _ => {}
            }
            let after = held.least();
            self.out = (self.out - before).saturating_add(after);
            if self.out > semaphore.permits {
                let holders = self.owners.values().filter(|held| held.least() > 0);
                let with = holders.flat_map(|held| held.acquires.iter().copied());
                return Some(proved(position, with, "more permits were out than there are"));
            }
        }
        None
    }
}

/// What an owner holds if only what must happen does.
#[derive(Default)]
struct Share {
    held: u64,
    /// Indeterminate acquires that have not happened.
    spare: Vec<u64>,
}

/// A release that waits for permits to be free which its owner must have taken before.
struct Waiting {
    release: u32,
    owner: u32,
    /// What an indeterminate acquire takes,
    takes: u64,
    /// and the release gives back.
    gives: u64,
}

#[derive(Default)]
struct Plan {
    owners: FxHashMap<u32, Share>,
    out: u64,
    waiting: Vec<Waiting>,
}

impl Plan {
    fn works(mut self, semaphore: &Semaphore, ops: &[OpOf<Semaphore>], edges: &Edges) -> bool {
        let mut last: FxHashMap<u32, u32> = FxHashMap::default();
        for &(_, _, position) in edges {
            last.insert(ops[position as usize].input.owner, position);
        }
        edges.iter().all(|&(_, edge, position)| {
            let op = &ops[position as usize];
            let owner = op.input.owner;
            let share = self.owners.entry(owner).or_default();
            match (edge, op.input.action) {
                (Edge::Call, SemaphoreAction::Acquire(count)) if op.is_info() => share.spare.push(count),
                (Edge::Return, SemaphoreAction::Acquire(count)) => {
                    share.held = share.held.saturating_add(count);
                    self.out = self.out.saturating_add(count);
                }
                (Edge::Call, SemaphoreAction::Release(gives)) if share.held < gives => {
                    if !op.is_info() {
                        let Some(takes) = share.take(gives - share.held) else { return false };
                        self.waiting.push(Waiting { release: position, owner, takes, gives });
                    }
                }
                (Edge::Call, SemaphoreAction::Release(count)) => {
                    if !op.is_info() || last[&owner] == position {
                        share.held -= count;
                        self.out -= count;
                    }
                }
                (Edge::Return, SemaphoreAction::Release(_)) => {
                    return self.waiting.iter().all(|waiting| waiting.release != position);
                }
                (Edge::Call, SemaphoreAction::Acquire(_)) => {}
            }
            self.serve(semaphore.permits);
            self.out <= semaphore.permits
        })
    }

    /// Lets those go on that wait for what is free.
    fn serve(&mut self, permits: u64) {
        while let Some(next) =
            self.waiting.iter().position(|waiting| self.out.saturating_add(waiting.takes) <= permits)
        {
            let Waiting { owner, takes, gives, .. } = self.waiting.swap_remove(next);
            self.out = self.out + takes - gives;
            if let Some(share) = self.owners.get_mut(&owner) {
                share.held = share.held + takes - gives;
            }
        }
    }
}

impl Share {
    /// Uses the smallest indeterminate acquire of at least so many permits.
    fn take(&mut self, count: u64) -> Option<u64> {
        let fits = (0..self.spare.len()).filter(|&spare| self.spare[spare] >= count);
        fits.min_by_key(|&spare| self.spare[spare]).map(|spare| self.spare.swap_remove(spare))
    }
}
