//! Ctrl-C, SIGTERM and SIGHUP.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use history::exit::ExitCode;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::run::Interrupts;

/// How long the process may take to write down what it has, when it is to end at once.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Outside of an asynchronous runtime: from now on the first of these signals says `told` and asks to stop; the second ends the process at once.
pub fn listen(told: &'static str) -> Interrupts {
    let interrupts = Interrupts::default();
    let heard = interrupts.clone();
    on_a_thread(move || {
        if heard.request() > 1 {
            tell!("forced");
            std::process::exit(ExitCode::Interrupted.into());
        }
        tell!("{told}");
    });
    interrupts
}

/// The third of these signals ends the process within seconds, whatever it is waiting for.
pub fn end_at_the_third() {
    let heard = Interrupts::default();
    on_a_thread(move || {
        if heard.request() > 2 {
            tell!("ending at once; what is left is removed behind");
            thread::sleep(LAST_WORDS);
            std::process::exit(ExitCode::Interrupted.into());
        }
    });
}

/// From when it returns, the first of these signals raises the flag, so that what is known by then is still told; the
/// second ends the process.
pub fn cut_short(flag: Arc<AtomicBool>) {
    let (ready, is_ready) = mpsc::channel();
    let heard = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(ExitCode::Interrupted.into());
        }
    };
    on_a_thread_that_tells(move || _ = ready.send(()), heard);
    // An error means that there is no such thread.
    let _ = is_ready.recv();
}

fn on_a_thread(heard: impl FnMut() + Send + 'static) {
    on_a_thread_that_tells(|| (), heard);
}

fn on_a_thread_that_tells(listens: impl FnOnce() + Send + 'static, heard: impl FnMut() + Send + 'static) {
    // Where no thread or runtime can be had the signals keep their usual meaning.
    let _ = thread::Builder::new().spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map(|runtime| runtime.block_on(listen_and_hear(listens, heard)))
    });
}

/// Calls `heard` at each of these signals, without end.
pub async fn hear(heard: impl FnMut()) {
    listen_and_hear(|| (), heard).await;
}

/// As [`hear`], and says when it listens.
async fn listen_and_hear(listens: impl FnOnce(), mut heard: impl FnMut()) {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    // A run under `nohup` outlives its terminal.
    let hangup = Some(SignalKind::hangup()).filter(|hangup| !is_ignored(*hangup));
    let mut hangup = hangup.and_then(|hangup| signal(hangup).ok());
    listens();
    loop {
        tokio::select! {
            biased;
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = next(&mut hangup) => {}
        }
        heard();
    }
}

async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => _ = signal.recv().await,
        None => std::future::pending().await,
    }
}

/// Whether whoever started us wants this signal ignored.
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (kind.as_raw_value() - 1) & 1 == 1
}
