//! What the agreement of checkers cannot show: that models of time, and sweeps without a model, mean what they say.

use crate::{
    random::{Random, Subject, history},
    subjects::Leases,
};
use checkers::{
    model::{Model, OpOf},
    models::{
        Lease,
        lease::{LeaseAction, LeaseOutput},
    },
    op::Op,
    referee::brute_force,
    special::{
        election::{self, Sighting},
        fencing::{self, Request},
    },
};

/// Tries every order and every instant: the lease's holder and end, without spans.
fn at_instants(ops: &[OpOf<Lease>], taken: &mut [bool], now: u64, lease: Option<(u32, u64)>) -> bool {
    const END: u64 = 60;
    if (0..ops.len()).all(|op| taken[op] || ops[op].is_info()) {
        return true;
    }
    for op in (0..ops.len()).filter(|&op| !taken[op]).collect::<Vec<_>>() {
        let input = ops[op].input;
        taken[op] = true;
        for instant in now.max(input.call)..=input.until.min(END) {
            let held_by = lease.filter(|(_, end)| instant < *end).map(|(owner, _)| owner);
            let is_refused = ops[op].output() == Some(&LeaseOutput::Refused);
            let is_own = held_by == Some(input.owner);
            let after = match input.action {
                LeaseAction::Acquire { .. } if is_refused => held_by.map(|_| lease),
                LeaseAction::Acquire { ttl } if held_by.is_none() => Some(Some((input.owner, instant + ttl))),
                LeaseAction::Renew { ttl } if is_own && !is_refused => {
                    Some(Some((input.owner, instant + ttl)))
                }
                LeaseAction::Release if is_own && !is_refused => Some(None),
                LeaseAction::Renew { .. } | LeaseAction::Release if is_refused && !is_own => Some(lease),
                _ => None,
            };
            if after.is_some_and(|after| at_instants(ops, taken, instant, after)) {
                taken[op] = false;
                return true;
            }
        }
        taken[op] = false;
    }
    false
}

#[test]
fn spans_of_instants_find_what_single_instants_find() {
    let (mut valid, mut invalid) = (0, 0);
    for seed in 0..6_000 {
        let subject = Leases { refusals: seed % 2 == 0, acquires_only: false };
        let ops = history(&subject, 4, &mut Random(seed));
        let truth = at_instants(&ops, &mut vec![false; ops.len()], 0, None);
        let texts = || ops.iter().map(|op| Lease.describe(&op.input, op.output())).collect::<Vec<_>>();
        assert_eq!(brute_force(&Lease, &ops), truth, "seed {seed}: {:?}", texts());
        *if truth { &mut valid } else { &mut invalid } += 1;
    }
    assert!(valid > 1000 && invalid > 1000, "{valid} valid, {invalid} invalid");
}

/// A fenced resource as a model: its highest token.
struct Guard;

impl Model for Guard {
    type State = u64;
    type Input = u64;
    type Output = bool;

    fn initial(&self) -> u64 {
        0
    }

    fn step(&self, highest: &u64, token: &u64, taken: Option<&bool>) -> Option<u64> {
        let is_taken = token >= highest;
        taken.is_none_or(|taken| *taken == is_taken).then_some(*token.max(highest))
    }
}

#[test]
fn the_fencing_sweep_agrees_with_a_model_of_the_guard() {
    let mut verdicts = [0; 2];
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let requests: Vec<Request> = (0..1 + random.below(6))
            .map(|_| {
                let call = random.below(12);
                let answer = match random.below(5) {
                    0 => fencing::Answer::Maybe,
                    1 | 2 => fencing::Answer::Rejected,
                    _ => fencing::Answer::Accepted,
                };
                let at = if answer == fencing::Answer::Maybe { u64::MAX } else { call + random.below(6) };
                Request { token: 1 + random.below(4), call, at, answer }
            })
            .collect();
        let op = |request: &Request| match request.answer {
            fencing::Answer::Maybe => Op::info(0, request.call, request.token),
            answer => Op::ok(0, request.call, request.at, request.token, answer == fencing::Answer::Accepted),
        };
        let ops: Vec<OpOf<Guard>> = requests.iter().map(op).collect();
        let truth = brute_force(&Guard, &ops);
        assert_eq!(fencing::breach(&requests).is_none(), truth, "seed {seed}: {requests:?}");
        verdicts[usize::from(truth)] += 1;
    }
    assert!(verdicts.iter().all(|&count| count > 2000), "{verdicts:?}");
}

/// An election as a model: the term, which only grows, and its leader.
struct Terms;

impl Model for Terms {
    type State = (u64, u32);
    type Input = (u64, u32);
    type Output = ();

    fn initial(&self) -> (u64, u32) {
        (0, u32::MAX)
    }

    fn step(&self, state: &(u64, u32), seen: &(u64, u32), _output: Option<&()>) -> Option<(u64, u32)> {
        (seen.0 > state.0 || seen == state).then_some(*seen)
    }
}

#[test]
fn the_election_sweep_agrees_with_a_model_of_terms() {
    let mut verdicts = [0; 2];
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let sightings: Vec<Sighting> = (0..1 + random.below(5))
            .map(|_| {
                let (call, term) = (random.below(12), 1 + random.below(4));
                let leader = if random.one_in(10) { 9 } else { term as u32 % 2 };
                Sighting { term, leader, call, at: call + random.below(8) }
            })
            .collect();
        let op = |seen: &Sighting| Op::ok(0, seen.call, seen.at, (seen.term, seen.leader), ());
        let ops: Vec<OpOf<Terms>> = sightings.iter().map(op).collect();
        let truth = brute_force(&Terms, &ops);
        assert_eq!(election::fault(&sightings).is_none(), truth, "seed {seed}: {sightings:?}");
        verdicts[usize::from(truth)] += 1;
    }
    assert!(verdicts.iter().all(|&count| count > 2000), "{verdicts:?}");
}

#[test]
fn a_subject_gives_leases_their_own_times() {
    let ops = history(&Leases { refusals: false, acquires_only: true }, 5, &mut Random(3));
    assert!(ops.iter().all(|op| op.input.call == op.call && op.input.until == op.deadline()));
    assert_eq!(Leases { refusals: false, acquires_only: true }.model().initial().now, 0);
}
