//! Makes a sound lock history with this many events (default: ten million) and judges it, telling how long that took.
//!
//!     cargo run --release -p fencepost-checkers --example judge_many [EVENTS]

use std::{error::Error, fmt::Write as _, time::Instant};

use checkers::{
    checks::{CheckContext, judge},
    history::{ReadOptions, jsonl},
};

const CLIENTS: u64 = 5;
const EVENTS_PER_ROUND: u64 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let events = std::env::args().nth(1).map_or(Ok(10_000_000), |text| text.parse::<u64>())?;
    let text = history(events / EVENTS_PER_ROUND);
    println!("{} MB of JSON Lines", text.len() / 1_000_000);

    let start = Instant::now();
    let history = jsonl::read(text.as_bytes(), &ReadOptions::default())?;
    println!("{} events read in {:?}, {} MB", history.len(), start.elapsed(), history.memory() / 1_000_000);

    let start = Instant::now();
    let judged = judge(&history, &CheckContext::default());
    println!("judged in {:?}: {:?}, {:?}", start.elapsed(), judged.verdict(), judged.grants);
    for (name, result) in &judged.checks {
        println!("{name}: {:?} {}", result.verdict, result.reason.as_deref().unwrap_or_default());
    }
    Ok(())
}

/// Each client acquires while the one before still holds, reads, writes and releases.
fn history(rounds: u64) -> String {
    let mut text = String::new();
    let mut line = |time: u64, client: u64, kind: &str, f: &str, more: &str| {
        let (node, token) = (client + 1, time / 1_000_000);
        _ = writeln!(
            text,
            r#"{{"time":{time},"process":{client},"node":"c{node}","type":"{kind}","f":"{f}","value":{{"lock":"a","token":{token}{more}}}}}"#
        );
    };
    line(0, 0, "invoke", "acquire", "");
    for round in 0..rounds {
        let (client, time) = (round % CLIENTS, (round + 1) * 1_000_000);
        line(time, client, "ok", "acquire", r#","ttl_ms":2000"#);
        line(time + 100_000, client, "invoke", "read", "");
        line(time + 200_000, client, "ok", "read", r#","unfenced":"0-1","fenced":"0-1""#);
        let id = format!(r#","id":"{client}-{round}""#);
        line(time + 300_000, client, "invoke", "write", &id);
        line(time + 400_000, client, "ok", "write", &id);
        line(time + 500_000, (client + 1) % CLIENTS, "invoke", "acquire", "");
        line(time + 600_000, client, "invoke", "release", "");
        line(time + 700_000, client, "ok", "release", "");
    }
    text
}
