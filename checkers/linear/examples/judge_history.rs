//! Reads a lock history, judges it as a fenced lock, and says how long that took, step by step.
//!
//! `judge_history FILE [THREADS] [MEMORY_MAX_BYTES]`

use std::fs::File;
use std::time::Instant;

use history::{ReadOptions, read, verdict::Verdict};
use linear::{
    convert::{Reading, locks},
    judge::judge,
    limits::Limits,
    models::Lock,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, rest @ ..] = &arguments[..] else {
        return Err("usage: judge_history FILE [THREADS] [BYTES]".into());
    };
    let mut options = ReadOptions::default();
    if let Some(threads) = rest.first() {
        options.threads = threads.parse()?;
    }
    if let Some(bytes) = rest.get(1) {
        options.memory_max = Some(bytes.parse()?);
    }
    let start = Instant::now();
    let (format, history) = read(File::open(path)?, &options)?;
    let read = start.elapsed().as_secs_f64();
    let parts = locks(&history, &Reading::default())?.parts;
    let converted = start.elapsed().as_secs_f64();
    let answers: Vec<_> =
        parts.iter().map(|part| judge(&Lock::FENCED, &part.ops, &Limits::default())).collect();
    let judged = start.elapsed().as_secs_f64();
    let (events, bytes) = (history.len(), history.memory());
    let operations: usize = parts.iter().map(|part| part.ops.len()).sum();
    println!(
        "{format:?}: {events} events, {operations} operations, {} bytes an event",
        bytes / events.max(1)
    );
    println!("{:?}", Verdict::all(answers.iter().map(|answer| answer.verdict())));
    println!("read, form checked: {read:.3} s ({:.2} M events/s)", events as f64 / read / 1e6);
    println!("made operations: {:.3} s, judged: {:.3} s", converted - read, judged - converted);
    println!("all: {judged:.3} s ({:.2} M events/s)", events as f64 / judged / 1e6);
    Ok(())
}
