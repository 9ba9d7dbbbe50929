//! Whoever made this node must be heard of now and then: an engine may hold stdin open though nobody is there.

use std::{
    process::exit,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
        mpsc::channel,
    },
    thread::{sleep, spawn},
    time::Duration,
};

use history::exit::ExitCode;
use workloads::real_env::monotonic_ns;

use super::{patience, protocol::Message, say};

/// So many ticks in a row without a word are the end. Ticks are counted, not time: while the whole machine stood still
/// the harness had no chance to speak either.
const TICKS: u32 = 30;
/// How long the last words may take. Perhaps nobody reads them.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The right to go on for a while.
pub struct Lease(Arc<AtomicU32>);

impl Lease {
    /// From now on this process ends when it was not renewed for so long.
    pub fn begin(length: Duration) -> Lease {
        let silent = Arc::<AtomicU32>::default();
        let lease = Lease(silent.clone());
        spawn(move || {
            while silent.fetch_add(1, Ordering::SeqCst) < TICKS {
                sleep(length / TICKS);
            }
            end(length);
        });
        lease
    }

    /// The harness was heard.
    pub fn renew(&self) {
        self.0.store(0, Ordering::SeqCst);
    }
}

fn end(silence: Duration) -> ! {
    let (said, done) = channel();
    spawn(move || {
        say(&Message::Unheard { now_ns: monotonic_ns(), for_ms: silence.as_millis() as u64 });
        // Nobody may be waiting any more.
        let _ = said.send(());
    });
    let _ = patience::receive(&done, LAST_WORDS);
    exit(ExitCode::Harness.into());
}
