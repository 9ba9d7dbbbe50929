//! Limits hold on a history whose search explodes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use checkers::{
    engine::{Answer, check},
    limits::{Limit, Limits},
    models::FifoQueue,
};

use crate::explosive;

fn shortfall(limits: &Limits) -> checkers::engine::Shortfall {
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
