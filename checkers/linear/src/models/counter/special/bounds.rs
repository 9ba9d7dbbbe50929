//! What a counter can have been when it told a value.

use crate::{
    answer::Answer,
    model::OpOf,
    models::counter::{Counter, CounterInput, CounterOutput},
    special::sweep::proved,
};

use super::sums::Sums;

/// Steps of looking at values, and of adding up subsets.
const WORK_MAX: usize = 1 << 24;
/// Values before another that are looked at for the highest and the lowest.
const NEAR_MAX: usize = 64;

/// Refutes a history in which no additions make up a value that was told, or what it differs by from an earlier one.
pub(super) fn wrong(ops: &[OpOf<Counter>]) -> Option<Answer> {
    let mut told: Vec<Told> = (0..).zip(ops).filter_map(|(position, op)| Told::new(position, op)).collect();
    let divisor = ops.iter().fold(0, |divisor, op| gcd(divisor, amount(op).unsigned_abs()));
    let is_multiple = |value: i128| value == 0 || (divisor != 0 && value % i128::from(divisor) == 0);
    if let Some(told) = told.iter().find(|told| !is_multiple(told.value)) {
        return Some(proved(told.op, [], "no additions make up that value"));
    }
    told.sort_by_key(|told| told.at);
    let mut work = WORK_MAX;
    told.iter().find_map(|later| {
        let before = &told[..told.partition_point(|earlier| earlier.at < later.call)];
        let near = || before.iter().rev().take(NEAR_MAX);
        let notable = [
            None,
            near().next(),
            near().max_by_key(|earlier| earlier.value),
            near().min_by_key(|earlier| earlier.value),
        ];
        let worth_it = (0..).zip(notable).filter(|(number, earlier)| *number == 0 || earlier.is_some());
        worth_it.map(|(_, earlier)| earlier).find_map(|earlier| {
            work = work.checked_sub(ops.len())?;
            Between::new(ops, earlier, later).wrong(&mut work)
        })
    })
}

/// A value that was read, or that an addition answered.
struct Told {
    op: u32,
    value: i128,
    call: u64,
    at: u64,
}

impl Told {
    fn new(position: u32, op: &OpOf<Counter>) -> Option<Told> {
        match op.output() {
            Some(&CounterOutput::Value(value)) => {
                Some(Told { op: position, value: value.into(), call: op.call, at: op.deadline() })
            }
            _ => None,
        }
    }
}

/// Additions between two values, or from the beginning to one.
struct Between<'a> {
    earlier: Option<&'a Told>,
    later: &'a Told,
    /// Those that certainly act after the first and not after the second,
    certain: Vec<(u32, i64)>,
    /// and others that may.
    possible: Vec<i64>,
}

impl<'a> Between<'a> {
    fn new(ops: &[OpOf<Counter>], earlier: Option<&'a Told>, later: &'a Told) -> Self {
        let mut between = Between { earlier, later, certain: Vec::new(), possible: Vec::new() };
        for (position, op) in (0..).zip(ops).filter(|(_, op)| amount(op) != 0) {
            let starts_after = earlier.is_none_or(|earlier| op.call > earlier.at);
            let may_be_after = earlier.is_none_or(|earlier| op.deadline() >= earlier.call);
            let is_first = earlier.is_some_and(|earlier| earlier.op == position);
            if position == later.op || (starts_after && op.deadline() < later.call) {
                between.certain.push((position, amount(op)));
            } else if op.call <= later.at && may_be_after && !is_first {
                between.possible.push(amount(op));
            }
        }
        between
    }

    fn wrong(&self, work: &mut usize) -> Option<Answer> {
        let certain: i128 = self.certain.iter().map(|&(_, amount)| i128::from(amount)).sum();
        let wanted = self.later.value - self.earlier.map_or(0, |earlier| earlier.value) - certain;
        let of = |is_up: bool| -> i128 {
            self.possible
                .iter()
                .filter(|amount| (**amount > 0) == is_up)
                .map(|&amount| i128::from(amount))
                .sum()
        };
        let (down, up) = (of(false), of(true));
        if wanted > up {
            return Some(self.refute("it is more than all additions make up", |amount| amount < 0));
        }
        if wanted < down {
            return Some(self.refute("it is less than the additions before it make up", |amount| amount > 0));
        }
        let mut sums = Sums::between(down, up)?;
        *work = work.checked_sub(self.possible.len() * sums.cost())?;
        self.possible.iter().for_each(|&amount| sums.add(amount));
        let reason = "no choice of the additions that may have acted makes it up";
        (!sums.has(wanted)).then(|| self.refute(reason, |_| true))
    }

    fn refute(&self, reason: &str, is_evidence: impl Fn(i64) -> bool) -> Answer {
        let certain = self.certain.iter().filter(|(_, amount)| is_evidence(*amount)).map(|&(op, _)| op);
        proved(self.later.op, self.earlier.map(|earlier| earlier.op).into_iter().chain(certain), reason)
    }
}

fn amount(op: &OpOf<Counter>) -> i64 {
    match op.input {
        CounterInput::Add(amount) => amount,
        CounterInput::Read => 0,
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
