//! Request/response round trips between ten nodes, five clients and five servers, with and against turmoil:
//! the same program, the same number of round trips, one thread, one run.

use std::time::{Duration, Instant};

use simulation::{
    Sim,
    rpc::{Caller, serve},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PAIRS: usize = 5;
const ROUND_TRIPS: u64 = 20_000;
const LIMIT: Duration = Duration::from_secs(10);

fn main() {
    let ours = best_of(3, fencepost);
    let theirs = best_of(3, turmoil);
    let total = (PAIRS as u64 * ROUND_TRIPS) as f64;
    println!("fencepost  {:>12.0} round trips/s", total / ours.as_secs_f64());
    println!("turmoil    {:>12.0} round trips/s", total / theirs.as_secs_f64());
    println!("ratio      {:>12.1}", theirs.as_secs_f64() / ours.as_secs_f64());
}

fn best_of(times: u32, run: impl Fn()) -> Duration {
    let once = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..times).map(once).min().unwrap_or_default()
}

fn fencepost() {
    let sim = Sim::new(1);
    let done = std::rc::Rc::new(std::cell::Cell::new(0));
    for pair in 0..PAIRS {
        let (server, client) = (sim.node(&format!("s{pair}")), sim.node(&format!("c{pair}")));
        serve::<u64, u64>(&server, 1, |request| request.reply.send(request.body + 1));
        let (node, done) = (client.clone(), done.clone());
        client.run(async move {
            let caller = Caller::<u64, u64>::open(&node, server.id(), 1, LIMIT).await.expect("open");
            for number in 0..ROUND_TRIPS {
                assert_eq!(caller.call(number).await, Ok(number + 1));
            }
            done.set(done.get() + 1);
        });
    }
    sim.run_until(3_600_000_000_000).expect("runs");
    assert_eq!(done.get(), PAIRS);
}

fn turmoil() {
    let mut sim = turmoil::Builder::new()
        .simulation_duration(Duration::from_secs(1_000_000))
        .rng_seed(1)
        .tick_duration(Duration::from_millis(1))
        .min_message_latency(Duration::from_micros(40))
        .max_message_latency(Duration::from_micros(340))
        .tcp_capacity(1024)
        .build();
    for pair in 0..PAIRS {
        sim.host(format!("s{pair}"), || async {
            let listener = turmoil::net::TcpListener::bind(("0.0.0.0", 1)).await?;
            loop {
                let (mut stream, _) = listener.accept().await?;
                tokio::spawn(async move {
                    while let Ok(number) = stream.read_u64().await {
                        if stream.write_u64(number + 1).await.is_err() {
                            break;
                        }
                    }
                });
            }
        });
        sim.client(format!("c{pair}"), async move {
            let mut stream = turmoil::net::TcpStream::connect((format!("s{pair}"), 1)).await?;
            for number in 0..ROUND_TRIPS {
                stream.write_u64(number).await?;
                assert_eq!(stream.read_u64().await?, number + 1);
            }
            Ok(())
        });
    }
    sim.run().expect("runs");
}
