//! Random small histories of any model: possible ones, and ones with some answers made up.

use checkers::{
    engine,
    judge::judge,
    limits::Limits,
    model::{Model, OpOf},
    op::{Op, Return},
    referee::{brute_force, referee},
    verdict::Verdict,
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
    /// Whether the model's state is that of one part only, so that brute force, too, must go part by part.
    const BY_PART: bool = false;
    fn model(&self) -> Self::M;
    fn input(&self, process: u32, random: &mut Random) -> <Self::M as Model>::Input;
    fn output(&self, input: &<Self::M as Model>::Input, random: &mut Random) -> <Self::M as Model>::Output;
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
        let is_info = random.one_in(6);
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
    let mut state = model.initial();
    for (_, _, op) in points {
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

/// What every order says.
pub fn brute<S: Subject>(model: &S::M, ops: &[OpOf<S::M>]) -> Verdict {
    let parts = if S::BY_PART { model.partition(ops) } else { vec![(0..ops.len() as u32).collect()] };
    let own = |part: &Vec<u32>| part.iter().map(|&op| ops[op as usize].clone()).collect::<Vec<_>>();
    match parts.iter().all(|part| brute_force(model, &own(part))) {
        true => Verdict::Valid,
        false => Verdict::Invalid,
    }
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
