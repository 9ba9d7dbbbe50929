//! Reads a history and says how large it is and how long that took.
//!
//! `read_history FILE [THREADS] [MEMORY_MAX_BYTES]`

use std::fs::File;
use std::time::Instant;

use checkers::history::{ReadOptions, edn, jsonl};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, rest @ ..] = &arguments[..] else {
        return Err("usage: read_history FILE [THREADS] [BYTES]".into());
    };
    let mut options = ReadOptions::default();
    if let Some(threads) = rest.first() {
        options.threads = threads.parse()?;
    }
    if let Some(bytes) = rest.get(1) {
        options.memory_max = Some(bytes.parse()?);
    }
    let (start, file) = (Instant::now(), File::open(path)?);
    let history =
        if path.ends_with(".edn") { edn::read(file, &options)? } else { jsonl::read(file, &options)? };
    let read = start.elapsed().as_secs_f64();
    history.check_form()?;
    let checked = start.elapsed().as_secs_f64() - read;
    let operations = history.operations().len();
    let paired = start.elapsed().as_secs_f64() - read - checked;
    let (events, bytes) = (history.len(), history.memory());
    println!("{events} events, {operations} operations, {bytes} bytes, {} an event", bytes / events.max(1));
    println!("read in {read:.3} s ({:.2} M events/s)", events as f64 / read / 1e6);
    println!("form checked in {checked:.3} s, paired in {paired:.3} s, sorted: {}", history.is_sorted());
    Ok(())
}
