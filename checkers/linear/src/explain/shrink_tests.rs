use super::*;
use crate::{
    limits::Limits,
    models::{
        FifoQueue, Register, Text,
        queue::{QueueInput, QueueOutput},
        register::{RegisterInput, RegisterOutput},
        text::{TextInput, TextOutput},
    },
    referee::brute_force,
};

/// SplitMix64's step: the same on every machine.
fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |bound| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ mixed >> 27) % bound
    }
}

/// Whether there is an order for some choice of those that may not have happened.
fn is_possible<M: Model>(model: &M, ops: &[OpOf<M>], core: &[u32]) -> bool {
    (0..1u32 << ops.len()).any(|chosen| {
        let happens = |&(at, op): &(usize, &OpOf<M>)| {
            op.is_info() || core.contains(&(at as u32)) || chosen >> at & 1 == 1
        };
        let own: Vec<OpOf<M>> = ops.iter().enumerate().filter(happens).map(|(_, op)| op.clone()).collect();
        brute_force(model, &own)
    })
}

/// Judges random cores of random histories; how many were wrong.
fn compare<M: Model>(model: &M, mut op: impl FnMut(&mut dyn FnMut(u64) -> u64, u32) -> OpOf<M>) -> u32 {
    let mut wrong = 0;
    for seed in 0..3000 {
        let mut below = draws(seed);
        let count = 2 + below(5) as u32;
        let ops: Vec<OpOf<M>> = (0..count).map(|process| op(&mut below, process)).collect();
        let part: Vec<u32> = (0..count).collect();
        let core: Vec<u32> =
            part.iter().copied().filter(|&at| !ops[at as usize].is_info() && below(2) == 0).collect();
        let budget = &mut Budget::new(&Limits::default());
        let judged = Shrinker { model, ops: &ops, part: &part, budget }.judge(&core).expect("it is small");
        assert_eq!(judged.is_ok(), is_possible(model, &ops, &core), "seed {seed}: {core:?} of {ops:?}");
        if let Ok(needed) = judged {
            let enough: Vec<u32> = core.iter().copied().chain(needed).collect();
            let own: Vec<OpOf<M>> = part
                .iter()
                .filter(|at| enough.contains(at) || ops[**at as usize].is_info())
                .map(|&at| ops[at as usize].clone())
                .collect();
            assert!(brute_force(model, &own), "seed {seed}: {enough:?} of {ops:?}");
        } else {
            wrong += 1;
        }
    }
    wrong
}

#[test]
fn what_may_or_may_not_have_happened_is_judged_as_by_trying_all_choices() {
    let wrong = compare(&FifoQueue::empty(), |below, process| {
        let (call, length, value) = (below(12), below(6), below(3));
        let (input, output) = match below(5) {
            0 => (QueueInput::Dequeue, QueueOutput::Empty),
            1 | 2 => (QueueInput::Dequeue, QueueOutput::Value(value)),
            _ => (QueueInput::Enqueue(value), QueueOutput::Done),
        };
        match below(8) {
            0 => Op::info(process, call, input),
            _ => Op::ok(process, call, call + length, input, output),
        }
    });
    assert!(wrong > 300, "{wrong}");
}

#[test]
fn texts_that_no_get_sees_are_one_and_nothing_else_changes() {
    let wrong = compare(&Text, |below, process| {
        let (call, length) = (below(12), below(6));
        let letter = ["a", "b"][below(2) as usize].to_string();
        let read = ["a", "ab", "ba", "b"][below(4) as usize].to_string();
        let (input, output) = match below(4) {
            0 => (TextInput::Put(letter), TextOutput::Done),
            1 => (TextInput::Append(letter), TextOutput::Done),
            _ => (TextInput::Get, TextOutput::Text(read)),
        };
        match below(8) {
            0 => Op::info(process, call, input),
            _ => Op::ok(process, call, call + length, input, output),
        }
    });
    assert!(wrong > 300, "{wrong}");
}

#[test]
fn values_that_nobody_asks_for_are_one_and_nothing_else_changes() {
    let wrong = compare(&Register { initial: 0 }, |below, process| {
        let (call, length, value, other) = (below(12), below(6), below(4), below(4));
        let cas = RegisterInput::Cas { from: value, to: other };
        let (input, output) = match below(6) {
            0 => (cas, RegisterOutput::Refused),
            1 => (cas, RegisterOutput::Done),
            2 | 3 => (RegisterInput::Write(value), RegisterOutput::Done),
            _ => (RegisterInput::Read, RegisterOutput::Value(value)),
        };
        match below(8) {
            0 => Op::info(process, call, input),
            _ => Op::ok(process, call, call + length, input, output),
        }
    });
    assert!(wrong > 300, "{wrong}");
}
