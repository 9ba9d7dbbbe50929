//! Much that timed out costs no search.

use history::verdict::Verdict;
use linear::{
    engine::Answer,
    model::{Model, OpOf},
    models::{Counter, FifoQueue, Register, Semaphore, Set},
    op::Op,
};

use crate::{random::Random, timed_out};

/// Judges a history that has at least so many indeterminate operations, without a search; `None` if it takes one.
fn verdict<M: Model>(model: &M, ops: &[OpOf<M>], infos_min: usize) -> Option<bool> {
    assert!(ops.iter().filter(|op| Op::is_info(op)).count() >= infos_min);
    match model.shortcut(ops)? {
        Answer::Valid(_) => Some(true),
        Answer::Invalid(refutation) => {
            assert!(refutation.suffices && refutation.reason.is_some(), "{refutation:?}");
            Some(false)
        }
        Answer::Unknown(shortfall) => panic!("{shortfall:?}"),
    }
}

/// The verdict on one that takes none.
fn is_valid<M: Model>(model: &M, ops: &[OpOf<M>], infos_min: usize) -> bool {
    verdict(model, ops, infos_min).expect("it takes no search")
}

#[test]
fn a_set_with_a_thousand_additions_that_timed_out() {
    for (seed, additions) in [(1, 60), (2, 60), (3, 1000), (4, 1000)] {
        for is_right in [true, false] {
            let ops = timed_out::set(additions, false, is_right, &mut Random(seed));
            assert_eq!(is_valid(&Set::empty(), &ops, additions as usize * 4 / 5), is_right);
        }
    }
}

/// What couples elements that are removed is not always seen; never is it seen wrong.
#[test]
fn a_set_of_which_additions_and_removals_timed_out() {
    let mut decided = 0;
    for seed in 0..20 {
        for is_right in [true, false] {
            let ops = timed_out::set(60, true, is_right, &mut Random(seed));
            let verdict = verdict(&Set::empty(), &ops, 40);
            assert!(verdict.is_none_or(|verdict| verdict == is_right), "seed {seed}");
            decided += u32::from(verdict.is_some());
        }
    }
    assert!(decided >= 36, "{decided} of 40");
}

#[test]
fn a_register_with_a_value_that_nobody_wrote() {
    for seed in 0..20 {
        let ops = timed_out::register(100, false, &mut Random(seed));
        assert!(!is_valid(&Register { initial: 0 }, &ops, 15));
    }
}

#[test]
fn a_queue_of_few_different_elements() {
    for seed in 0..20 {
        for values in [3, 20, 300] {
            for is_right in [true, false] {
                let ops = timed_out::queue(300, values, 0, is_right, seed);
                assert_eq!(is_valid(&FifoQueue::empty(), &ops, 0), is_right, "seed {seed}, {values}");
            }
        }
    }
}

/// Orders of equal elements are searched, within a bound.
#[test]
fn a_queue_of_which_some_operations_timed_out() {
    for seed in 0..20 {
        for (values, lost) in [(3, 40), (3, 100), (20, 40)] {
            let ops = timed_out::queue(300, values, lost, true, seed);
            assert!(is_valid(&FifoQueue::empty(), &ops, 1), "seed {seed}, {values}");
        }
        for values in [3, 20] {
            let ops = timed_out::queue(300, values, 40, false, seed);
            let answer = FifoQueue::empty().shortcut(&ops).expect("it takes no search");
            assert_eq!(answer.verdict(), Verdict::Invalid, "seed {seed}, {values}");
        }
        let answer = FifoQueue::empty().shortcut(&timed_out::queue(1000, 3, 40, true, seed));
        assert!(answer.is_none_or(|answer| answer.verdict() == Verdict::Valid), "seed {seed}");
    }
}

#[test]
fn a_semaphore_with_sixty_acquires_that_timed_out() {
    for seed in 0..20 {
        for is_right in [true, false] {
            let ops = timed_out::semaphore(60, is_right, &mut Random(seed));
            assert_eq!(is_valid(&Semaphore { permits: 10 }, &ops, 60), is_right, "seed {seed}");
        }
    }
}

#[test]
fn a_counter_of_which_additions_timed_out() {
    for seed in 0..20 {
        for is_right in [true, false] {
            let ops = timed_out::counter(200, 1, is_right, &mut Random(seed));
            assert_eq!(is_valid(&Counter, &ops, 40), is_right, "seed {seed}");
        }
        let ops = timed_out::counter(200, 9, false, &mut Random(seed));
        assert!(!is_valid(&Counter, &ops, 40), "seed {seed}");
    }
}
