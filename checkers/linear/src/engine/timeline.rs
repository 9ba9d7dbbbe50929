//! When the operations of a part begin and end.

use crate::model::{Model, OpOf};

/// Time, and position in the part, marked where it is a return.
pub(super) type EventsOf = [(u64, u32)];

pub(super) const RETURN: u32 = 1 << 31;

/// Up to so many operations returns are sorted as they come: they are nearly in order.
const INSERTED_MAX: usize = 512;

/// Invocations and returns in order of time, invocations first where times are equal. Optional operations that can never
/// matter (they only observe, or were invoked after the last return) are left out.
pub(super) fn events<M: Model>(model: &M, ops: &[OpOf<M>], part: &[u32]) -> Vec<(u64, u32)> {
    let mut calls = Vec::with_capacity(part.len());
    let mut returns = Vec::with_capacity(part.len());
    for (index, &op) in (0..).zip(part) {
        let op = &ops[op as usize];
        match &op.returned {
            Some(returned) => {
                calls.push((op.call, index));
                let returning = (returned.at.max(op.call), index | RETURN);
                match part.len() <= INSERTED_MAX {
                    true => insert(&mut returns, returning),
                    false => returns.push(returning),
                }
            }
            None if model.observes(&op.input, None) => {}
            None => calls.push((op.call, index)),
        }
    }
    if !calls.is_sorted_by_key(|&(time, _)| time) {
        calls.sort_unstable();
    }
    if part.len() > INSERTED_MAX {
        returns.sort_unstable();
    }
    merged(&calls, &returns)
}

/// Puts a time to its place: they come nearly in order.
#[inline]
pub(super) fn insert(times: &mut Vec<(u64, u32)>, time: (u64, u32)) {
    let mut at = times.len();
    times.push(time);
    while at > 0 && times[at - 1].0 > time.0 {
        times[at] = times[at - 1];
        at -= 1;
    }
    times[at] = time;
}

/// Up to the last return.
fn merged(calls: &[(u64, u32)], returns: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let mut events = Vec::with_capacity(calls.len() + returns.len());
    let mut next = 0;
    for &returning in returns {
        while next < calls.len() && calls[next].0 <= returning.0 {
            events.push(calls[next]);
            next += 1;
        }
        events.push(returning);
    }
    debug_assert!(events.is_sorted_by_key(|&(time, _)| time), "events are in order of time");
    events
}
