//! Shows that limits hold on a history whose search explodes: `explode --timeout-ms 2000`, or `explode --memory-mib 512`.

#[path = "../tests/support/explosive.rs"]
mod explosive;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use linear::{engine::check, explain::explain, limits::Limits, models::FifoQueue};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = arguments.get(1).and_then(|value| value.parse::<u64>().ok());
    let limits = match (arguments.first().map(String::as_str), value) {
        (Some("--timeout-ms"), Some(ms)) => {
            Limits { time: Some(Duration::from_millis(ms)), ..Limits::default() }
        }
        (Some("--memory-mib"), Some(mib)) => {
            Limits { memory_bytes: usize::try_from(mib << 20).ok(), ..Limits::default() }
        }
        _ => {
            eprintln!("usage: explode --timeout-ms N | --memory-mib N");
            return ExitCode::from(64);
        }
    };
    let ops = explosive::history(40);
    let started = Instant::now();
    let answer = check(&FifoQueue::empty(), &ops, &limits);
    let elapsed = started.elapsed();
    println!("{}", explain(&FifoQueue::empty(), &ops, &answer, &Limits::default()).text);
    println!("{:.3} s, at most {} of memory in all", elapsed.as_secs_f64(), resident());
    ExitCode::from(2)
}

/// The process' highest resident memory, where the kernel tells.
fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or("an unknown amount".to_string(), |line| line.trim().to_string())
}
