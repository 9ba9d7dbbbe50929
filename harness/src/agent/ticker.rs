//! The agent's own ticks. No fault of ours stops the agent, so a late tick is the machine's doing, or somebody's outside.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{JoinHandle, sleep},
    time::Duration,
};

use workloads::real_env::monotonic_ns;

use super::protocol::Message;
use crate::ticker::{Stall, Ticks};

/// A thread that ticks until it is ended.
pub struct Ticker {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Ticker {
    /// Begins to tick, so often, and to tell each stall. While the node's processes are `halted` by a fault of ours
    /// nothing of them could have run anyway: then a late tick is none.
    pub fn start(halted: Arc<AtomicBool>, limit: Duration, every: Duration) -> Ticker {
        let ended = Arc::new(AtomicBool::new(false));
        let is_over = ended.clone();
        // Not in the thread: it may stand still before its first instruction.
        let mut ticks = Ticks::begin(monotonic_ns(), limit, every);
        let thread = std::thread::spawn(move || {
            be_patient(every);
            let mut was_halted = halted.load(Ordering::SeqCst);
            while !is_over.load(Ordering::SeqCst) {
                sleep(ticks.wait(monotonic_ns()));
                let stall = ticks.come(monotonic_ns());
                let is_halted = halted.load(Ordering::SeqCst);
                if let Some(Stall { due_ns, came_ns }) = stall.filter(|_| !was_halted && !is_halted) {
                    super::say(&Message::Stall { due_ns, came_ns });
                }
                was_halted = is_halted;
            }
        });
        Ticker { ended, thread }
    }

    /// Ends it with its next tick. What it had to tell is told when this returns.
    pub fn end(self) {
        self.ended.store(true, Ordering::SeqCst);
        // A ticker that panicked has nothing more to tell.
        let _ = self.thread.join();
    }
}

/// Lets the kernel wake this thread a little late, together with others: that halves what a hundred tickers cost.
fn be_patient(every: Duration) {
    // Without it a tick costs more, and comes all the same.
    let _ = nix::sys::prctl::set_timerslack((every.as_nanos() as u64 / 10).max(1));
}
