//! Threads of another process, held still through ptrace(2).
//!
//! Whether a thread has stopped is read from `/proc`, not waited for: the agent's own reaper may be waiting for the same
//! child, and whoever comes first would take the news from the other. All calls must come from the thread that attached.

use std::{
    cell::Cell,
    mem, ptr, thread,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    libc,
    sys::{
        ptrace::{self, Options},
        signal::Signal,
        wait::{WaitPidFlag, waitpid},
    },
    unistd::Pid,
};

use super::ClockError;
use crate::process;

/// A process of which all threads, or one, are held. Let go when dropped.
pub struct Tracee {
    pid: i32,
    held: Vec<Held>,
}

/// A held thread.
struct Held {
    tid: Pid,
    /// A signal that was about to be delivered, to be delivered when it is let go.
    signal: Cell<Option<libc::siginfo_t>>,
}

/// How many events may come between two stops.
const EVENTS_MAX: u32 = 100;
/// For how long a thread may take to stop.
const PATIENCE: Duration = Duration::from_secs(5);

impl Tracee {
    /// Holds every thread, looking again until none is new.
    pub fn hold_all(pid: i32) -> Result<Tracee, ClockError> {
        let mut tracee = Tracee { pid, held: Vec::new() };
        let mut known = Vec::new();
        loop {
            let new: Vec<i32> =
                process::threads(pid).into_iter().filter(|tid| !known.contains(tid)).collect();
            if new.is_empty() {
                return if tracee.held.is_empty() { Err(ClockError::Gone(pid)) } else { Ok(tracee) };
            }
            let seized: Vec<i32> = new.iter().copied().filter(|tid| is_alive(pid, *tid)).collect();
            for &tid in &seized {
                tracee.seize(tid)?;
            }
            for &tid in &seized {
                tracee.wait_until_held(tid)?;
            }
            known.extend(new);
        }
    }

    /// Holds one thread that is alive.
    pub fn hold_one(pid: i32) -> Result<Tracee, ClockError> {
        let mut tracee = Tracee { pid, held: Vec::new() };
        let tid =
            process::threads(pid).into_iter().find(|tid| is_alive(pid, *tid)).ok_or(ClockError::Gone(pid))?;
        tracee.seize(tid)?;
        tracee.wait_until_held(tid)?;
        if tracee.held.is_empty() { Err(ClockError::Gone(pid)) } else { Ok(tracee) }
    }

    /// Takes over a child that asked to be traced and is about to stop after exec.
    pub fn adopt(pid: i32) -> Result<Tracee, ClockError> {
        let tid = Pid::from_raw(pid);
        wait_for_stop(pid, pid)?;
        // The stop is announced by a SIGTRAP of its own, which the program shall not see.
        Ok(Tracee { pid, held: vec![Held { tid, signal: Cell::new(None) }] })
    }

    /// Lets every thread run, one instruction at a time, until its next one is not within these ranges but for their
    /// starts: code there can then be replaced.
    pub fn step_out_of(&self, ranges: &[(u64, u64)]) -> Result<(), ClockError> {
        for held in &self.held {
            loop {
                let at = ptrace::getregs(held.tid)?.rip;
                if !ranges.iter().any(|(from, to)| (*from + 1..*to).contains(&at)) {
                    break;
                }
                let _signals = Masked::new(held.tid)?;
                self.go_until_stopped(held, || ptrace::step(held.tid, None))?;
            }
        }
        Ok(())
    }

    /// Writes code or data, also where the process itself may not write.
    pub fn poke(&self, address: u64, bytes: &[u8]) -> Result<(), ClockError> {
        let tid = self.injector()?.tid;
        for (index, chunk) in bytes.chunks(mem::size_of::<libc::c_long>()).enumerate() {
            let at =
                ptr::with_exposed_provenance_mut(address as usize + index * mem::size_of::<libc::c_long>());
            let mut word = ptrace::read(tid, at)?.to_ne_bytes();
            word[..chunk.len()].copy_from_slice(chunk);
            ptrace::write(tid, at, libc::c_long::from_ne_bytes(word))?;
        }
        Ok(())
    }

    /// Makes a held thread perform a system call, by the instruction at `instruction`, and returns what it returned.
    pub fn system_call(&self, instruction: u64, number: i64, arguments: [u64; 6]) -> Result<i64, ClockError> {
        let held = self.injector()?;
        let tid = held.tid;
        let result = self.detour(held, |regs| {
            [regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9] = arguments;
            regs.rax = number.cast_unsigned();
            regs.rip = instruction;
            || ptrace::step(tid, None)
        })?;
        if result.rip != instruction + 2 {
            return Err(ClockError::Astray(self.pid));
        }
        Ok(result.rax.cast_signed())
    }

    /// Makes a held thread call a function of two arguments on the stack below `stack`, and returns what it returned.
    ///
    /// The function returns to address 0, and the fault, which the process never sees, says that it is done.
    pub fn call(&self, function: u64, arguments: [u64; 2], stack: u64) -> Result<i64, ClockError> {
        let held = self.injector()?;
        let tid = held.tid;
        let stack = (stack & !15) - 8;
        self.poke(stack, &[0; 8])?;
        let result = self.detour(held, |regs| {
            [regs.rdi, regs.rsi] = arguments;
            regs.rip = function;
            regs.rsp = stack;
            || ptrace::cont(tid, None)
        })?;
        if result.rip != 0 {
            return Err(ClockError::Astray(self.pid));
        }
        Ok(result.rax.cast_signed())
    }

    /// Sends a thread elsewhere until it stops, returns its registers there, and puts it back where it was.
    fn detour<Go: Fn() -> nix::Result<()>>(
        &self,
        held: &Held,
        prepare: impl FnOnce(&mut libc::user_regs_struct) -> Go,
    ) -> Result<libc::user_regs_struct, ClockError> {
        let tid = held.tid;
        let before = ptrace::getregs(tid)?;
        let mut regs = before;
        // No system call is under way any more that the kernel would have to restart; it is again once `before` is.
        regs.orig_rax = u64::MAX;
        let go = prepare(&mut regs);
        let _signals = Masked::new(tid)?;
        ptrace::setregs(tid, regs)?;
        let stopped = self.go_until_stopped(held, go);
        let after = ptrace::getregs(tid);
        ptrace::setregs(tid, before)?;
        stopped?;
        Ok(after?)
    }

    /// Lets a thread go until it stops of its own. Stops that the kernel announces in between (a group stop, one more
    /// interruption) are passed over. So is a SIGSTOP, which no mask holds back; it is delivered in the end.
    fn go_until_stopped(&self, held: &Held, go: impl Fn() -> nix::Result<()>) -> Result<(), ClockError> {
        for _ in 0..EVENTS_MAX {
            go()?;
            wait_for_stop(self.pid, held.tid.as_raw())?;
            let info = ptrace::getsiginfo(held.tid)?;
            match is_event(&info) {
                true => {}
                false if info.si_signo == libc::SIGSTOP => held.signal.set(Some(info)),
                false => return Ok(()),
            }
        }
        Err(ClockError::Astray(self.pid))
    }

    /// The thread to send elsewhere: rather one that waits in a system call than one in the midst of its work.
    fn injector(&self) -> Result<&Held, ClockError> {
        let waits =
            |held: &&Held| ptrace::getregs(held.tid).is_ok_and(|regs| regs.orig_rax.cast_signed() >= 0);
        self.held.iter().find(waits).or(self.held.first()).ok_or(ClockError::Gone(self.pid))
    }

    fn seize(&self, tid: i32) -> Result<(), ClockError> {
        let seized = ptrace::seize(Pid::from_raw(tid), Options::empty());
        match seized.and_then(|()| ptrace::interrupt(Pid::from_raw(tid))) {
            Err(Errno::ESRCH | Errno::EPERM) if !is_alive(self.pid, tid) => Ok(()),
            Err(Errno::EPERM) => Err(ClockError::NotAllowed(self.pid)),
            result => Ok(result?),
        }
    }

    /// Waits for a seized thread to stop; one that ends instead is forgotten.
    fn wait_until_held(&mut self, tid: i32) -> Result<(), ClockError> {
        let stopped = wait_for_stop(self.pid, tid);
        if !is_alive(self.pid, tid) {
            let_go_of_dead(self.pid, tid);
            return Ok(());
        }
        let tid = Pid::from_raw(tid);
        self.held.push(Held { tid, signal: Cell::new(None) });
        stopped?;
        let info = ptrace::getsiginfo(tid)?;
        if let (false, Some(held)) = (is_event(&info), self.held.last()) {
            held.signal.set(Some(info));
        }
        Ok(())
    }
}

impl Drop for Tracee {
    fn drop(&mut self) {
        for held in &self.held {
            let signal = held.signal.take().and_then(|info| {
                // A detour ended in another stop; the signal's own information goes with it to the handler.
                ptrace::setsiginfo(held.tid, &info).ok()?;
                Signal::try_from(info.si_signo).ok()
            });
            // Fails only for a thread that was killed meanwhile.
            if ptrace::detach(held.tid, signal).is_err() {
                let_go_of_dead(self.pid, held.tid.as_raw());
            }
        }
    }
}

/// All signals of a thread held back but those that end a detour; as before when dropped.
struct Masked {
    tid: Pid,
    before: u64,
}

impl Masked {
    fn new(tid: Pid) -> Result<Masked, ClockError> {
        let mut before = 0u64;
        signal_mask(libc::PTRACE_GETSIGMASK, tid, &mut before)?;
        let bit = |signal: Signal| 1u64 << (signal as u64 - 1);
        let mut mask = !(bit(Signal::SIGTRAP) | bit(Signal::SIGSEGV));
        signal_mask(libc::PTRACE_SETSIGMASK, tid, &mut mask)?;
        Ok(Masked { tid, before })
    }
}

impl Drop for Masked {
    fn drop(&mut self) {
        // Fails only for a thread that was killed meanwhile.
        let _ = signal_mask(libc::PTRACE_SETSIGMASK, self.tid, &mut self.before);
    }
}

fn signal_mask(request: libc::c_uint, tid: Pid, mask: &mut u64) -> Result<(), ClockError> {
    // SAFETY: the kernel reads or writes as many bytes as the third argument says.
    let result = unsafe { libc::ptrace(request, tid.as_raw(), mem::size_of::<u64>(), ptr::from_mut(mask)) };
    Errno::result(result)?;
    Ok(())
}

/// Whether a stop is the tracer's business and no signal.
fn is_event(info: &libc::siginfo_t) -> bool {
    info.si_code >> 8 == libc::PTRACE_EVENT_STOP
}

fn state(pid: i32, tid: i32) -> Option<char> {
    process::thread_stat(pid, tid).map(|stat| stat.state)
}

fn is_alive(pid: i32, tid: i32) -> bool {
    state(pid, tid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Ends the tracing of a thread that died under our hands, which nothing but its tracer's `wait` does: until then its
/// process' parent hears nothing of its death, and waits for it (ptrace(2), "Death under ptrace"). A child of our own
/// is left to whoever reaps it: the kernel tells parent and tracer at once where they are one process.
fn let_go_of_dead(pid: i32, tid: i32) {
    let begin = Instant::now();
    while is_alive(pid, tid) && begin.elapsed() < PATIENCE {
        thread::sleep(Duration::from_micros(20));
    }
    let is_own = process::stat(pid).is_some_and(|stat| stat.parent == std::process::id().cast_signed());
    if tid != pid || !is_own {
        // Fails only where the parent has reaped it in between.
        let _ = waitpid(Pid::from_raw(tid), Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG));
    }
}

/// Waits until the thread is in a ptrace stop. A thread let go by us shows another state from that moment on.
fn wait_for_stop(pid: i32, tid: i32) -> Result<(), ClockError> {
    let begin = Instant::now();
    loop {
        match state(pid, tid) {
            Some('t') => return Ok(()),
            None | Some('Z' | 'X') => return Err(ClockError::Gone(pid)),
            Some(state) if begin.elapsed() > PATIENCE => return Err(ClockError::Stuck { pid, tid, state }),
            Some(_) => thread::sleep(Duration::from_micros(20)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Whether the parent of a process that is killed while we hold it, and then let go, hears of its death.
    fn parent_hears(hold: impl FnOnce(i32) -> Result<Tracee, ClockError>) -> bool {
        let mut shell = Command::new("sh").args(["-c", "sleep 60; exit 7"]).spawn().unwrap();
        let patience = |begin: Instant| begin.elapsed() < Duration::from_secs(20);
        let begin = Instant::now();
        let sleeper = loop {
            match process::tree(shell.id().cast_signed()).get(1) {
                Some(&child) => break child,
                None => assert!(patience(begin), "the shell starts nothing"),
            }
        };
        let held = hold(sleeper).unwrap();
        // It may have been killed as it was held.
        let _ = process::kill(sleeper);
        drop(held);
        let begin = Instant::now();
        while patience(begin) {
            if let Some(status) = shell.try_wait().unwrap() {
                return status.code() == Some(7);
            }
            thread::sleep(Duration::from_millis(5));
        }
        shell.kill().unwrap();
        shell.wait().unwrap();
        false
    }

    #[test]
    fn the_parent_of_a_process_that_dies_while_it_is_held_hears_of_it() {
        assert!(parent_hears(Tracee::hold_all));
        assert!(parent_hears(Tracee::hold_one));
    }

    #[test]
    fn the_parent_of_a_process_that_dies_before_it_is_held_hears_of_it() {
        assert!(parent_hears(|pid| {
            // Its death comes between the seizing and the wait.
            let mut tracee = Tracee { pid, held: Vec::new() };
            tracee.seize(pid)?;
            process::kill(pid).unwrap();
            tracee.wait_until_held(pid)?;
            Ok(tracee)
        }));
    }
}
