//! Who reaps: PID 1 inherits every orphan, and ptrace reports through the same `waitpid`.

use std::{
    collections::BTreeMap,
    os::unix::process::ExitStatusExt,
    process::{Child, ExitStatus},
    sync::{
        Arc, Mutex, MutexGuard,
        mpsc::{Receiver, Sender, channel},
    },
};

use nix::{
    libc,
    sys::signal::{SigSet, Signal},
};

/// Reaps every child, and tells those who asked how theirs ended.
///
/// The lock keeps reaping away from a spawn (whose child could otherwise end before anyone asked for it) and from
/// ptrace, whose stops `waitpid` would swallow.
#[derive(Clone)]
pub struct Reaper(Arc<Mutex<BTreeMap<u32, Sender<ExitStatus>>>>);

/// Nothing is reaped while this is held.
pub struct Held<'a>(MutexGuard<'a, BTreeMap<u32, Sender<ExitStatus>>>);

impl Reaper {
    /// Starts the reaping thread. SIGCHLD is blocked first, in this and so in all later threads, for `sigwait`;
    /// the standard library unblocks all signals in the children that it starts.
    pub fn start() -> Reaper {
        let mut ended = SigSet::empty();
        ended.add(Signal::SIGCHLD);
        ended.thread_block().expect("it is a signal that can be blocked");
        let reaper = Reaper(Arc::default());
        let reaping = reaper.clone();
        std::thread::spawn(move || {
            loop {
                ended.wait().expect("the set is of signals");
                reaping.reap(&mut reaping.hold().0);
            }
        });
        reaper
    }

    /// Keeps the reaper away while this is held. Signals that come meanwhile are not lost.
    pub fn hold(&self) -> Held<'_> {
        Held(self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn reap(&self, waiting: &mut BTreeMap<u32, Sender<ExitStatus>>) {
        while let Some((pid, status)) = next_that_ended() {
            if let Some(waiter) = waiting.remove(&pid) {
                // Nobody may be listening any more.
                let _ = waiter.send(status);
            }
        }
    }
}

/// A child that has ended, which is none any more. Asked without `nix`, which knows no real-time signals that may have
/// ended it, and would lose the child.
fn next_that_ended() -> Option<(u32, ExitStatus)> {
    let mut status = 0;
    // SAFETY: the status is valid for writes.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
    (pid > 0).then(|| (pid as u32, ExitStatus::from_raw(status)))
}

impl Held<'_> {
    /// From now on the end of this child is told to the receiver.
    pub fn watch(&mut self, child: &Child) -> Receiver<ExitStatus> {
        let (sender, receiver) = channel();
        self.0.insert(child.id(), sender);
        receiver
    }
}
