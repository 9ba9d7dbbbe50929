//! Random small histories of any model: possible ones, and ones with some answers made up.

use history::verdict::Verdict;
use linear::{
    engine::{self, Answer},
    judge::judge,
    limits::Limits,
    model::{Model, OpOf},
    op::{Op, Return},
    referee::{brute_force, referee},
};

/// SplitMix64 (Steele, Lea and Flood, 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }
}

/// A model with inputs and outputs to draw from.
pub trait Subject: Sync {
    type M: Model;
    fn model(&self) -> Self::M;
    fn input(&self, process: u32, random: &mut Random) -> <Self::M as Model>::Input;
    fn output(&self, input: &<Self::M as Model>::Input, random: &mut Random) -> <Self::M as Model>::Output;
    /// One of so many operations is indeterminate.
    fn info_in(&self) -> u64 {
        6
    }
    /// Positions of operations that have a state in common. Brute force goes by these, not by the model's partition.
    fn objects(&self, ops: &[&OpOf<Self::M>]) -> Vec<Vec<u32>> {
        vec![(0..ops.len() as u32).collect()]
    }
    /// Makes what was drawn fit the times it was drawn for.
    fn fit(&self, _op: &mut OpOf<Self::M>) {}
}

/// A history of up to `ops_max` operations by up to four processes, in order of invocation.
pub fn history<S: Subject>(subject: &S, ops_max: u64, random: &mut Random) -> Vec<OpOf<S::M>> {
    let count = 1 + random.below(ops_max);
    let processes = 1 + random.below(4);
    // Some histories have their own way of time: everything at once, or nearly one after the other.
    let (gap, length) = (1 + random.below(4), 1 + random.below(8));
    let made_up_in = 2 + random.below(20);
    let mut clocks = vec![0; processes as usize];
    let mut numbers: Vec<u32> = (0..processes as u32).collect();
    let mut points = Vec::new();
    for _ in 0..count {
        let index = random.below(processes) as usize;
        let call = clocks[index] + random.below(gap);
        let at = call + random.below(length);
        let mut op = Op::info(numbers[index], call, subject.input(numbers[index], random));
        clocks[index] = at + 1 - u64::from(random.one_in(8));
        let is_info = random.one_in(subject.info_in());
        if is_info && !random.one_in(8) {
            numbers[index] += processes as u32;
        }
        let point = call + random.below(at - call + if is_info { 6 } else { 1 });
        if !is_info {
            op.returned = Some(Return { at, output: subject.output(&op.input, random) });
        }
        subject.fit(&mut op);
        points.push((point, random.next(), op));
    }
    points.sort_by_key(|(point, order, _)| (*point, *order));
    answer(subject, &mut points, made_up_in, random);
    let mut ops: Vec<OpOf<S::M>> = points.into_iter().map(|(_, _, op)| op).collect();
    ops.sort_by_key(|op| op.call);
    ops
}

/// Lets the model answer at the drawn points, where one of a few drawn answers is possible; some answers stay made up.
fn answer<S: Subject>(
    subject: &S,
    points: &mut [(u64, u64, OpOf<S::M>)],
    made_up_in: u64,
    random: &mut Random,
) {
    let model = subject.model();
    let objects = subject.objects(&points.iter().map(|(_, _, op)| op).collect::<Vec<_>>());
    for object in objects {
        let mut state = model.initial();
        for position in object {
            let op = &mut points[position as usize].2;
            let Some(returned) = &mut op.returned else {
                if random.one_in(2) {
                    state = model.step(&state, &op.input, None).unwrap_or(state);
                }
                continue;
            };
            if random.one_in(made_up_in) {
                continue;
            }
            for _ in 0..12 {
                if let Some(next) = model.step(&state, &op.input, Some(&returned.output)) {
                    state = next;
                    break;
                }
                returned.output = subject.output(&op.input, random);
            }
        }
    }
}

/// What every order says.
pub fn brute<S: Subject>(subject: &S, model: &S::M, ops: &[OpOf<S::M>]) -> Verdict {
    let objects = subject.objects(&ops.iter().collect::<Vec<_>>());
    let own = |object: &Vec<u32>| object.iter().map(|&op| ops[op as usize].clone()).collect::<Vec<_>>();
    match objects.iter().all(|object| brute_force(model, &own(object))) {
        true => Verdict::Valid,
        false => Verdict::Invalid,
    }
}

/// Whether what a special checker gives as evidence is wrong by itself: whatever others did or did not do, each within
/// its own interval. True where it does not say so.
pub fn is_evidence_enough<S: Subject>(subject: &S, model: &S::M, ops: &[OpOf<S::M>]) -> bool {
    let Answer::Invalid(refutation) = judge(model, ops, &Limits::default()) else { return true };
    if !refutation.suffices {
        return true;
    }
    let evidence: Vec<u32> = refutation.with.iter().chain([&refutation.op]).copied().collect();
    let objects = subject.objects(&ops.iter().collect::<Vec<_>>());
    let object = objects.iter().find(|object| object.contains(&refutation.op)).expect("it is of some object");
    let own: Vec<(&OpOf<S::M>, bool)> =
        object.iter().map(|&op| (&ops[op as usize], evidence.contains(&op))).collect();
    !is_possible(model, &own, &mut vec![false; own.len()], &model.initial(), 0)
}

/// Tries every order of the operations that are certain, with any of the others in between.
fn is_possible<M: Model>(
    model: &M,
    ops: &[(&OpOf<M>, bool)],
    taken: &mut [bool],
    state: &M::State,
    now: u64,
) -> bool {
    let is_left = |&op: &usize| !taken[op] && ops[op].1 && !ops[op].0.is_info();
    let Some(end) = (0..ops.len()).filter(is_left).map(|op| ops[op].0.deadline()).min() else { return true };
    let open: Vec<usize> = (0..ops.len())
        .filter(|&op| !taken[op] && ops[op].0.call <= end && ops[op].0.deadline() >= now)
        .collect();
    open.into_iter().any(|op| {
        let (tried, _) = ops[op];
        let Some(next) = model.step(state, &tried.input, tried.output()) else { return false };
        taken[op] = true;
        let found = is_possible(model, ops, taken, &next, now.max(tried.call));
        taken[op] = false;
        found
    })
}

/// What the engine, the referee, a special checker if it can, and the fastest of all say.
pub fn others<S: Subject>(model: &S::M, ops: &[OpOf<S::M>]) -> [Option<Verdict>; 4] {
    let referee = if referee(model, ops).is_valid { Verdict::Valid } else { Verdict::Invalid };
    [
        Some(engine::check(model, ops, &Limits::default()).verdict()),
        Some(referee),
        model.shortcut(ops).map(|answer| answer.verdict()),
        Some(judge(model, ops, &Limits::default()).verdict()),
    ]
}
