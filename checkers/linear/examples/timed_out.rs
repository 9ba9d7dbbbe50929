//! How long a verdict takes on long histories of which much timed out, and whether it took a search.

#[path = "../tests/support/random.rs"]
#[expect(dead_code, reason = "only its generator of numbers is used")]
mod random;
#[path = "../tests/support/timed_out.rs"]
mod timed_out;

use std::time::{Duration, Instant};

use linear::{
    engine::Answer,
    judge::judge,
    limits::Limits,
    model::{Model, OpOf},
    models::{Counter, FifoQueue, Register, Semaphore, Set},
};
use random::Random;

fn main() {
    println!("{:44} {:>6} {:>9} {:>10} {:>10}", "", "ops", "verdict", "nodes", "ms");
    for is_right in [true, false] {
        let name = |what: &str| format!("{what}, {}", if is_right { "right" } else { "wrong" });
        let random = &mut Random(1);
        for additions in [60, 1000] {
            let ops = timed_out::set(additions, false, is_right, random);
            row(&name(&format!("set, {additions} additions lost")), &Set::empty(), &ops);
        }
        let ops = timed_out::set(60, true, is_right, random);
        row(&name("set, 60 additions and removals lost"), &Set::empty(), &ops);
        for count in [80, 1000] {
            let ops = timed_out::register(count, is_right, random);
            row(&name("register of 6 values, 3 in 10 lost"), &Register { initial: 0 }, &ops);
        }
        for (values, lost) in [(3, 0), (3, 40), (20, 0), (20, 40)] {
            let ops = timed_out::queue(300, values, lost, is_right, 1);
            let what = format!("queue of {values} values, {lost} in 1000 lost");
            row(&name(&what), &FifoQueue::empty(), &ops);
        }
        let ops = timed_out::semaphore(60, is_right, random);
        row(&name("semaphore, 60 acquires lost"), &Semaphore { permits: 10 }, &ops);
        for amounts in [1, 9] {
            let ops = timed_out::counter(200, amounts, is_right, random);
            row(&name(&format!("counter, additions of 1 to {amounts}, 4 in 10 lost")), &Counter, &ops);
        }
    }
}

fn row<M: Model>(name: &str, model: &M, ops: &[OpOf<M>]) {
    let limits =
        Limits { time: Some(Duration::from_secs(2)), memory_bytes: Some(1 << 30), ..Limits::default() };
    let started = Instant::now();
    let answer = judge(model, ops, &limits);
    let ms = started.elapsed().as_secs_f64() * 1e3;
    let nodes = match &answer {
        Answer::Valid(witness) => witness.nodes,
        Answer::Invalid(refutation) => refutation.nodes,
        Answer::Unknown(shortfall) => shortfall.nodes,
    };
    println!("{name:44} {:6} {:>9} {nodes:10} {ms:10.2}", ops.len(), answer.verdict().to_string());
}
