//! Limits hold on a history whose search explodes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use history::verdict::Verdict;
use linear::{
    engine::{Answer, check},
    explain::explain,
    limits::{Limit, Limits},
    model::{Model, OpOf},
    models::{Counter, FifoQueue, Keyed, Semaphore, Set, keyed::At},
    op::Op,
};

use crate::{explosive, random::Random, timed_out};

fn shortfall(limits: &Limits) -> linear::engine::Shortfall {
    match check(&FifoQueue::empty(), &explosive::history(40), limits) {
        Answer::Unknown(shortfall) => shortfall,
        answer => panic!("the search ended: {:?}", answer.verdict()),
    }
}

#[test]
fn the_time_limit_holds() {
    let started = Instant::now();
    let shortfall = shortfall(&Limits { time: Some(Duration::from_millis(300)), ..Limits::default() });
    assert_eq!(shortfall.limit, Limit::Time);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert!(shortfall.nodes > 0 && shortfall.of == 80);
}

#[test]
fn the_memory_limit_holds() {
    let limit = 16 << 20;
    let shortfall = shortfall(&Limits { memory_bytes: Some(limit), ..Limits::default() });
    assert_eq!(shortfall.limit, Limit::Memory);
    assert!(
        shortfall.memory_bytes <= limit as u64 && shortfall.memory_bytes > limit as u64 / 2,
        "{shortfall:?}"
    );
}

#[test]
fn a_raised_flag_stops_the_search() {
    let stop = Arc::new(AtomicBool::new(false));
    let raise = stop.clone();
    let raiser = std::thread::spawn(move || raise.store(true, Ordering::Relaxed));
    assert_eq!(shortfall(&Limits { stop: Some(stop), ..Limits::default() }).limit, Limit::Stopped);
    raiser.join().expect("the flag was raised");
}

/// What the words say of a search that reached its limit.
fn undecided<M: Model>(model: &M, ops: &[OpOf<M>]) -> String {
    let limits = Limits { memory_bytes: Some(0), ..Limits::default() };
    let answer = check(model, ops, &limits);
    assert_eq!(answer.verdict(), Verdict::Unknown);
    explain(model, ops, &answer, &limits).text
}

#[test]
fn what_makes_a_history_hard_is_said_and_what_would_not() {
    let queue = timed_out::queue(100, 3, 100, true, 1);
    let equal = undecided(&FifoQueue::empty(), &queue);
    assert!(equal.contains("elements that are equal and operations that timed out"), "{equal}");
    let sums = undecided(&Counter, &timed_out::counter(60, 9, true, &mut Random(1)));
    assert!(sums.contains("sums of subsets. Here are 9 different amounts"), "{sums}");
    let units = undecided(&Counter, &timed_out::counter(60, 1, true, &mut Random(1)));
    assert!(!units.contains("hard"), "{units}");
    let removed = undecided(&Set::empty(), &timed_out::set(60, true, true, &mut Random(1)));
    assert!(removed.contains("elements that are removed"), "{removed}");
    let never = undecided(&Set::empty(), &timed_out::set(60, false, true, &mut Random(1)));
    assert!(!never.contains("hard"), "{never}");
    let semaphore = timed_out::semaphore(60, true, &mut Random(1));
    let owners = undecided(&Semaphore { permits: 10 }, &semaphore);
    assert!(owners.contains("owners that went on"), "{owners}");
    let at = |op: &OpOf<FifoQueue<u64>>| {
        let input = At { key: op.process % 2, input: op.input.clone() };
        Op { process: op.process, call: op.call, input, returned: op.returned.clone() }
    };
    let keyed: Vec<_> = queue.iter().map(at).collect();
    let keyed = undecided(&Keyed::new(FifoQueue::empty()), &keyed);
    assert!(keyed.contains("elements that are equal"), "{keyed}");
}
