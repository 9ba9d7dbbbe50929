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

use rustix::process::{WaitOptions, wait};

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
        let mut set = std::mem::MaybeUninit::uninit();
        // SAFETY: the set is initialised by sigemptyset before anything reads it; all calls take valid pointers.
        let set = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
            set.assume_init()
        };
        let reaper = Reaper(Arc::default());
        let reaping = reaper.clone();
        std::thread::spawn(move || {
            loop {
                let mut signal = 0;
                // SAFETY: both point to initialised values of the right type.
                unsafe { libc::sigwait(&raw const set, &raw mut signal) };
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
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if let Some(waiter) = waiting.remove(&(pid.as_raw_nonzero().get() as u32)) {
                // Nobody may be listening any more.
                let _ = waiter.send(ExitStatus::from_raw(status.as_raw()));
            }
        }
    }
}

impl Held<'_> {
    /// From now on the end of this child is told to the receiver.
    pub fn watch(&mut self, child: &Child) -> Receiver<ExitStatus> {
        let (sender, receiver) = channel();
        self.0.insert(child.id(), sender);
        receiver
    }
}
