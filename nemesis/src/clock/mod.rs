//! Wall clocks of single processes, moved by rewriting three functions in their vDSO through ptrace.
//!
//! Programs read the clock through `clock_gettime`, `gettimeofday` and `time` of the vDSO, code that the kernel maps
//! into every process. [`install`] maps two pages with code of our own into the process and makes the three functions
//! jump there. Only CLOCK_REALTIME moves; monotonic time, other processes and the host stay as they are. Changing the
//! offset later writes one number and stops nobody. Programs that make the system call themselves are not reached.
//!
//! Each function runs from start to end on the thread that calls it, because ptrace knows one tracer thread. While one
//! is under way, `wait` of another thread may report the process as stopped: reap with [`crate::process::reap`].
//! Today for x86-64; elsewhere every function returns [`ClockError::Architecture`].

#[cfg(target_arch = "x86_64")]
mod payload;
#[cfg(target_arch = "x86_64")]
mod tracee;
#[cfg(target_arch = "x86_64")]
mod vdso;

#[cfg(target_arch = "x86_64")]
mod install;
#[cfg(not(target_arch = "x86_64"))]
#[path = "unsupported.rs"]
mod install;

pub use install::{install, read_back, remove, set, spawn};

use std::{io, time::Duration};

use nix::errno::Errno;
use serde_json::json;

use crate::{evidence::Evidence, process};

/// How far a process' wall clock is from the true one, as its own `clock_gettime` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Its clock minus the true one, in nanoseconds.
    pub offset_ns: i64,
    /// The true offset is within this distance, in nanoseconds: half of the time that the reading took.
    pub uncertainty_ns: i64,
}

/// A clock could not be moved or read.
#[derive(Debug, thiserror::Error)]
pub enum ClockError {
    /// It is not there, or ended meanwhile.
    #[error("there is no process {0}")]
    Gone(i32),
    /// ptrace is not allowed.
    #[error(
        "process {0} cannot be traced: CAP_SYS_PTRACE is missing, it belongs to another user, or it is traced already"
    )]
    NotAllowed(i32),
    /// It has no vDSO: a kernel without, or a kernel thread.
    #[error("process {0} has no vDSO")]
    NoVdso(i32),
    /// The vDSO is none that we can change.
    #[error("the vDSO of this kernel cannot be changed: {0}")]
    StrangeVdso(&'static str),
    /// No code for this machine or process.
    #[error("clocks cannot be moved in {0}: x86-64 only")]
    Architecture(&'static str),
    /// A thread does not stop.
    #[error("thread {tid} of process {pid} does not stop; it is in state {state}")]
    Stuck {
        /// The process.
        pid: i32,
        /// Its thread.
        tid: i32,
        /// Its state in `/proc`.
        state: char,
    },
    /// Injected code did not end where it must.
    #[error("a call made by process {0} on our behalf went astray")]
    Astray(i32),
    /// A system call made on our behalf failed.
    #[error("process {pid} cannot {what}: {errno}")]
    Call {
        /// The process.
        pid: i32,
        /// What it was to do.
        what: &'static str,
        /// Why not.
        errno: Errno,
    },
    /// The clock is not where it was put.
    #[error("the clock of process {pid} is off by {} ms instead of {} ms", observed_ns / 1_000_000, wanted_ns / 1_000_000)]
    NotMoved {
        /// The process.
        pid: i32,
        /// Where it was put, in nanoseconds.
        wanted_ns: i64,
        /// Where it is, in nanoseconds.
        observed_ns: i64,
    },
    /// ptrace failed.
    #[error("ptrace: {0}")]
    Trace(#[from] Errno),
    /// Memory cannot be read or written, or a program not be started.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Moves the clocks of `pid` and its descendants, new or moved before, and reads each back.
///
/// Evidence: `{"offset_ms":3000.0,"pids":[12],"observed_ms":[3000.01]}`.
pub fn move_tree(pid: i32, offset_ns: i64) -> Result<Evidence, ClockError> {
    let observed = in_tree(pid, |pid| {
        install(pid, offset_ns)?;
        verified(pid, offset_ns)
    })?;
    if observed.is_empty() { Err(ClockError::Gone(pid)) } else { Ok(evidence(offset_ns, &observed)) }
}

/// Sets the clocks of `pid` and its descendants right and reads each back. No error: a clock that was never moved, and a
/// process that is gone, whose evidence names no pid.
///
/// Evidence as that of [`move_tree`], with an offset of 0.
pub fn restore_tree(pid: i32) -> Result<Evidence, ClockError> {
    Ok(evidence(0, &in_tree(pid, remove)?))
}

/// Does something to `pid` and each of its descendants, passing over descendants that end meanwhile. One that fails
/// keeps it from none of the others.
fn in_tree(
    pid: i32,
    act: impl Fn(i32) -> Result<Observed, ClockError>,
) -> Result<Vec<(i32, Observed)>, ClockError> {
    let tried: Vec<_> = process::tree(pid).into_iter().map(|member| (member, act(member))).collect();
    let ended = |member: i32| process::stat(member).is_none_or(|stat| stat.state == 'Z');
    let done = tried.into_iter().filter_map(|(member, tried)| match tried {
        Err(_) if member != pid && ended(member) => None,
        tried => Some(tried.map(|observed| (member, observed))),
    });
    done.collect()
}

fn evidence(offset_ns: i64, observed: &[(i32, Observed)]) -> Evidence {
    let pids: Vec<i32> = observed.iter().map(|(pid, _)| *pid).collect();
    let observed_ms: Vec<f64> =
        observed.iter().map(|(_, observed)| milliseconds(observed.offset_ns)).collect();
    Evidence::from_iter([
        ("offset_ms".into(), json!(milliseconds(offset_ns))),
        ("pids".into(), json!(pids)),
        ("observed_ms".into(), json!(observed_ms)),
    ])
}

/// How far a clock may be from where it was put, beyond what the reading leaves open: a step of the host's own clock.
const TOLERANCE: Duration = Duration::from_millis(5);

/// Reads a clock back and fails unless it is where it was put.
fn verified(pid: i32, wanted_ns: i64) -> Result<Observed, ClockError> {
    let observed = read_back(pid)?;
    let off_ns = (observed.offset_ns - wanted_ns).abs();
    if off_ns > observed.uncertainty_ns + TOLERANCE.as_nanos() as i64 {
        return Err(ClockError::NotMoved { pid, wanted_ns, observed_ns: observed.offset_ns });
    }
    Ok(observed)
}

fn milliseconds(ns: i64) -> f64 {
    (ns as f64 / 1000.0).round() / 1000.0
}
