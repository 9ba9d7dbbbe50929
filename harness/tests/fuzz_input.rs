//! A few seconds of `examples/fuzz_input`; `FENCEPOST_LONG=1` makes them minutes.

#[path = "../examples/fuzz_input/change.rs"]
mod change;
#[path = "../examples/fuzz_input/guard.rs"]
mod guard;
#[path = "../examples/fuzz_input/seeds.rs"]
mod seeds;
#[path = "../examples/fuzz_input/targets.rs"]
mod targets;

use std::{path::Path, time::Duration};

#[test]
fn no_input_makes_a_reader_fail() {
    let long = std::env::var("FENCEPOST_LONG").is_ok_and(|long| long == "1");
    let time = Duration::from_secs(if long { 300 } else { 3 });
    let mut random = change::Random::new(1);
    for (name, target) in targets::ALL {
        let told = targets::fuzz(target, time, Path::new(env!("CARGO_BIN_EXE_fencepost")), &mut random);
        eprintln!("{name}: {}", told.unwrap_or_else(|why| panic!("{name}: {why}")));
    }
}
