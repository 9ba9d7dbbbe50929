//! What the agreement of checkers cannot show: that models of time, and sweeps without a model, mean what they say.

use crate::{
    guard::{Guard, Guards},
    random::{Random, Subject, history},
    subjects::Leases,
};
use history::verdict::Verdict;
use linear::{
    model::{Model, OpOf},
    models::{
        Lease,
        lease::{LeaseAction, LeaseOutput},
    },
    referee::brute_force,
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

#[test]
fn the_fencing_sweep_agrees_with_a_model_of_the_guard() {
    let mut verdicts = [0; 2];
    for seed in 0..20_000 {
        let ops = history(&Guards, 6, &mut Random(seed));
        let truth = brute_force(&Guard, &ops);
        let swept = Guard.shortcut(&ops).map(|answer| answer.verdict());
        assert_eq!(swept == Some(Verdict::Valid), truth, "seed {seed}: {ops:?}");
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
