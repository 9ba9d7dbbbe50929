//! What the small search tries first in a configuration: a step on the way to the next return.

use crate::model::Model;

use super::{
    bits::Bits,
    small::{ILLEGAL, Small},
};

/// States that are looked at for a way, at most.
const REACHED_MAX: usize = 8;

impl<M: Model, const W: usize> Small<'_, M, W> {
    /// The first of what was not tried, but where the next to return cannot act yet the first step of a shortest way to
    /// where it can. `None` if there is no way.
    pub(super) fn promising(&mut self, taken: Bits<W>, state: u16, untried: Bits<W>) -> Option<u32> {
        let (first, returning) = (untried.first()?, taken.first_missing());
        if first == returning && self.next(state, first) != ILLEGAL {
            return Some(first);
        }
        let mut helpers = untried.iter().filter(|&op| {
            let between = self.next(state, op);
            between != ILLEGAL && self.next(between, returning) != ILLEGAL
        });
        helpers.next().or_else(|| self.towards(returning, taken, state, untried))
    }

    /// The first of two or more steps to where `returning` can act, if every operation could act as often as it likes:
    /// without such a way there is none at all. The first of `untried` where that would take too many states to see; of
    /// those that hold memory of their own each step makes another, mostly.
    #[inline(never)]
    fn towards(&mut self, returning: u32, taken: Bits<W>, state: u16, untried: Bits<W>) -> Option<u32> {
        let open = self.layout.invoked[returning as usize].minus(taken).minus(self.layout.observing);
        // What is not possible at once is no longer untried, but may be a later step: without it nothing is certain.
        if std::mem::needs_drop::<M::State>() || untried != open {
            return untried.first();
        }
        // Each state with the first step towards it.
        let mut reached = [(state, returning); REACHED_MAX];
        let (mut len, mut from) = (1, 0);
        while from < len {
            let (here, towards) = reached[from];
            for op in open.iter() {
                let there = self.next(here, op);
                if there == ILLEGAL || reached[..len].iter().any(|&(known, _)| known == there) {
                    continue;
                }
                let step = if from == 0 { op } else { towards };
                if self.next(there, returning) != ILLEGAL {
                    return Some(step);
                }
                if len == REACHED_MAX {
                    return untried.first();
                }
                reached[len] = (there, step);
                len += 1;
            }
            from += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::small::judge;
    use crate::{
        models::{Register, register::*},
        op::Op,
    };

    type Registered = Op<RegisterInput<i64>, RegisterOutput<i64>>;

    fn write(call: u64, returned: u64, value: i64) -> Registered {
        Op::ok(returned as u32, call, returned, RegisterInput::Write(value), RegisterOutput::Done)
    }

    fn read(call: u64, returned: u64, value: i64) -> Registered {
        Op::ok(returned as u32, call, returned, RegisterInput::Read, RegisterOutput::Value(value))
    }

    /// A read of `last`, and beside it what leads there step by step; the second step returns before the first.
    fn chain(last: i64) -> Vec<Registered> {
        let cas = |from| {
            let input = RegisterInput::Cas { from, to: from + 1 };
            Op::ok(20 + from as u32, 1, 20 + from as u64, input, RegisterOutput::Done)
        };
        let first = write(1, 100, 1);
        std::iter::once(read(1, 2, last)).chain((1..12).map(cas)).chain([first]).collect()
    }

    fn is_linearizable(ops: &[Registered]) -> bool {
        let part: Vec<u32> = (0..ops.len() as u32).collect();
        judge(&Register { initial: 0 }, ops, &part).expect("it is small").is_ok()
    }

    #[test]
    fn a_way_is_found_however_long() {
        (1..=12).for_each(|last| assert!(is_linearizable(&chain(last)), "{last}"));
    }

    #[test]
    fn where_there_is_none_another_order_is_tried() {
        let late = [write(0, 6, 2), write(1, 2, 1), read(7, 8, 1), write(4, 9, 3), write(5, 10, 4)];
        assert!(is_linearizable(&late));
        assert!(!is_linearizable(&[read(1, 2, 13)]));
        assert!(!is_linearizable(&chain(13)));
    }
}
