//! Reads a lock history and judges it by the checks of a run, as `fencepost check` does on one thread; tells how long each
//! step took, on the processor, and how many bytes an event were in memory at most.
//!
//!     cargo run --release -p fencepost-checkers --example judge_many [FILE]
//!
//! Without a file it writes the sound history of a run with ten million events and judges that.

use std::{
    error::Error,
    fs::{self, File},
    path::PathBuf,
};

use checkers::{CheckContext, judge};
use history::{ReadOptions, read};

#[path = "../tests/support/lock_run.rs"]
mod lock_run;

const EVENTS: u64 = 10_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args_os().nth(1) {
        Some(path) => judge_file(&PathBuf::from(path)),
        None => {
            let path = std::env::temp_dir().join(format!("judge_many-{}.jsonl", std::process::id()));
            fs::write(&path, lock_run::history(EVENTS))?;
            // In a process of its own, whose memory is that of the judge alone.
            let judged = std::process::Command::new(std::env::current_exe()?).arg(&path).status();
            fs::remove_file(&path)?;
            if judged?.success() { Ok(()) } else { Err("it was not judged".into()) }
        }
    }
}

fn judge_file(path: &PathBuf) -> Result<(), Box<dyn Error>> {
    let start = processor_s()?;
    let (_, history) = read(File::open(path)?, &ReadOptions { threads: 1, ..ReadOptions::default() })?;
    let has_read = processor_s()?;
    history.check_vocabulary()?;
    let judged = judge(&history, &CheckContext::default());
    let end = processor_s()?;

    let events = history.len();
    let rate = |from: f64, to: f64| {
        format!("{:.2} s ({:.2} M events/s)", to - from, events as f64 / (to - from) / 1e6)
    };
    println!("{events} events, {:?}, {:?}", judged.verdict(), judged.grants);
    for (name, result) in &judged.checks {
        println!("{name}: {:?} {}", result.verdict, result.reason.as_deref().unwrap_or_default());
    }
    println!("read: {}, judged: {}, all: {}", rate(start, has_read), rate(has_read, end), rate(start, end));
    let (kept, peak) = (history.memory() / events.max(1), peak_bytes()? / events.max(1));
    println!("the history: {kept} bytes an event; at most in memory: {peak} bytes an event");
    Ok(())
}

/// What this process has used of the processor, in seconds, on Linux.
fn processor_s() -> Result<f64, Box<dyn Error>> {
    /// Ticks a second, whatever the machine.
    const TICKS: f64 = 100.0;
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = fields.get(11..13).ok_or("/proc/self/stat has no times")?;
    Ok(ticks.iter().map(|ticks| ticks.parse::<f64>()).sum::<Result<f64, _>>()? / TICKS)
}

/// The most that this process had in memory, on Linux.
fn peak_bytes() -> Result<usize, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM is told")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<usize>()? * 1024)
}
