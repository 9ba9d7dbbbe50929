//! Processes of this node: a process and all that descend from it, paused, resumed, killed.
//!
//! Facts about `/proc/<pid>/stat` are from proc_pid_stat(5).

use std::{
    fs, io, thread,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, kill as send},
        wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid},
    },
    unistd::Pid,
};
use serde_json::json;

use crate::evidence::Evidence;

/// What `/proc` says of one process or thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Its pid (or tid).
    pub pid: i32,
    /// Its parent's pid.
    pub parent: i32,
    /// `R`, `S`, `D`, `T` (stopped), `t` (traced and stopped), `Z` (dead, not reaped) …
    pub state: char,
    /// When it started, in clock ticks since boot: with the pid, a process' identity.
    pub start_ticks: u64,
}

/// A process could not be paused, resumed or killed.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// It is not there.
    #[error("there is no process {0}")]
    Gone(i32),
    /// A signal could not be sent.
    #[error("process {pid} cannot be sent {signal}: {errno}")]
    Signal {
        /// To whom.
        pid: i32,
        /// Which.
        signal: Signal,
        /// Why not.
        errno: Errno,
    },
    /// It did not reach the state wanted.
    #[error("process {pid} is still in state {state} {waited_ms} ms after {signal}")]
    Stuck {
        /// Which process.
        pid: i32,
        /// Its state.
        state: char,
        /// What it was sent.
        signal: Signal,
        /// For how long it was watched.
        waited_ms: u64,
    },
}

/// For how long a process may take to show that it was stopped, resumed or killed.
const PATIENCE: Duration = Duration::from_secs(5);
/// And so often it is looked at in any case: if the whole machine stood still, the time is over and nothing was seen.
const LOOKS: u32 = 500;

/// Stops `pid` and its descendants (SIGSTOP) and returns once every thread of them is stopped.
///
/// Evidence: `{"state":"T","pids":[12,15],"threads":9}`. Stopping what is stopped is no error.
pub fn pause(pid: i32) -> Result<Evidence, ProcessError> {
    let pids = stop_tree(pid)?;
    let mut threads = 0;
    for &pid in &pids {
        threads += wait_for(pid, Signal::SIGSTOP, |state| matches!(state, 'T' | 'Z' | 'X'))?;
    }
    Ok(evidence(json!({"state": "T", "pids": pids, "threads": threads})))
}

/// Lets `pid` and its descendants go on (SIGCONT) and returns once no thread of them is stopped.
///
/// Evidence: `{"state":"S","pids":[12,15]}`, the state being that of `pid`. Resuming what runs is no error.
pub fn resume(pid: i32) -> Result<Evidence, ProcessError> {
    let pids = tree(pid);
    // Nobody stays behind because somebody before him cannot go on.
    let sent: Vec<_> = pids.iter().map(|pid| signal(*pid, Signal::SIGCONT)).collect();
    sent.into_iter().collect::<Result<(), _>>()?;
    for &pid in &pids {
        wait_for(pid, Signal::SIGCONT, |state| state != 'T')?;
    }
    let state = stat(pid).ok_or(ProcessError::Gone(pid))?.state;
    Ok(evidence(json!({"state": state.to_string(), "pids": pids})))
}

/// Kills `pid` and its descendants (SIGKILL) and returns once they are gone or wait to be reaped by their parent.
///
/// Evidence: `{"gone":true,"killed":[{"pid":12,"start_ticks":8123}]}`, descendants included.
pub fn kill(pid: i32) -> Result<Evidence, ProcessError> {
    // Stopped first, so that none can leave a child that nobody would find any more under its parent.
    let victims: Vec<Stat> = stop_tree(pid)?.into_iter().filter_map(stat).collect();
    for victim in &victims {
        signal(victim.pid, Signal::SIGKILL)?;
    }
    for victim in &victims {
        wait_until_dead(victim)?;
    }
    let killed: Vec<_> =
        victims.iter().map(|v| json!({"pid": v.pid, "start_ticks": v.start_ticks})).collect();
    Ok(evidence(json!({"gone": true, "killed": killed})))
}

/// Reaps `pid`, a child of this process, if it has exited; `None` while it lives.
///
/// A child under [`crate::clock`]'s hands is stopped for a moment, and `wait` reports that stop to whichever thread asks
/// first, even to one that wants exits only. This one looks before it takes.
pub fn reap(pid: i32) -> io::Result<Option<WaitStatus>> {
    let pid = Pid::from_raw(pid);
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    match waitid(Id::Pid(pid), look)? {
        WaitStatus::Exited(..) | WaitStatus::Signaled(..) => Ok(Some(waitpid(pid, None)?)),
        _ => Ok(None),
    }
}

/// What `/proc` says of `pid`; `None` when it is not there.
pub fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// What `/proc` says of one thread of `pid`; `None` when it is not there.
pub fn thread_stat(pid: i32, tid: i32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")).ok()?)
}

/// `pid` and its descendants, parents before children. Empty when `pid` is not there.
pub fn tree(pid: i32) -> Vec<i32> {
    let all: Vec<Stat> = numbers("/proc").into_iter().filter_map(stat).collect();
    let mut pids: Vec<i32> = all.iter().map(|stat| stat.pid).filter(|other| *other == pid).collect();
    let mut next = 0;
    while let Some(&parent) = pids.get(next) {
        pids.extend(all.iter().filter(|stat| stat.parent == parent).map(|stat| stat.pid));
        next += 1;
    }
    pids
}

/// The threads of `pid`, by tid.
pub fn threads(pid: i32) -> Vec<i32> {
    numbers(&format!("/proc/{pid}/task"))
}

/// Stops a tree, looking again until no process is new.
fn stop_tree(pid: i32) -> Result<Vec<i32>, ProcessError> {
    let mut stopped = Vec::new();
    loop {
        let new: Vec<i32> = tree(pid).into_iter().filter(|pid| !stopped.contains(pid)).collect();
        if new.is_empty() {
            return if stopped.is_empty() { Err(ProcessError::Gone(pid)) } else { Ok(stopped) };
        }
        for &pid in &new {
            signal(pid, Signal::SIGSTOP)?;
        }
        stopped.extend(new);
    }
}

/// Sends a signal; a process that is already gone is no error.
fn signal(pid: i32, signal: Signal) -> Result<(), ProcessError> {
    match send(Pid::from_raw(pid), signal) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(ProcessError::Signal { pid, signal, errno }),
    }
}

/// Waits until all threads of `pid` are in a state wanted, and counts them.
fn wait_for(pid: i32, signal: Signal, wanted: impl Fn(char) -> bool) -> Result<usize, ProcessError> {
    poll(pid, signal, || {
        let tids = threads(pid);
        let mut states = tids.iter().filter_map(|tid| thread_stat(pid, *tid)).map(|stat| stat.state);
        states.find(|state| !wanted(*state)).map_or(Ok(tids.len()), Err)
    })
}

fn wait_until_dead(victim: &Stat) -> Result<(), ProcessError> {
    poll(victim.pid, Signal::SIGKILL, || match stat(victim.pid) {
        Some(now) if now.start_ticks == victim.start_ticks && !matches!(now.state, 'Z' | 'X') => {
            Err(now.state)
        }
        _ => Ok(()),
    })
}

/// Asks again every millisecond until `ask` is content; its error is the state that it saw.
fn poll<T>(pid: i32, signal: Signal, ask: impl Fn() -> Result<T, char>) -> Result<T, ProcessError> {
    let begin = Instant::now();
    let mut looks = 0;
    loop {
        looks += 1;
        match ask() {
            Ok(value) => return Ok(value),
            Err(state) if begin.elapsed() > PATIENCE && looks >= LOOKS => {
                let waited_ms = begin.elapsed().as_millis() as u64;
                return Err(ProcessError::Stuck { pid, state, signal, waited_ms });
            }
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn numbers(folder: &str) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut numbers: Vec<i32> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

/// Reads a line of `/proc/<pid>/stat`; the name, the second field, may hold blanks and parentheses.
fn parse_stat(text: &str) -> Option<Stat> {
    let (pid, rest) = text.split_once(" (")?;
    let mut fields = rest.rsplit_once(") ")?.1.split(' ');
    Some(Stat {
        pid: pid.parse().ok()?,
        state: fields.next()?.chars().next()?,
        parent: fields.next()?.parse().ok()?,
        start_ticks: fields.nth(17)?.parse().ok()?,
    })
}

fn evidence(value: serde_json::Value) -> Evidence {
    match value {
        serde_json::Value::Object(map) => map,
        other => Evidence::from_iter([("value".to_string(), other)]),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    /// A shell with a child of its own.
    fn family() -> Child {
        let child = Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        poll(child.id() as i32, Signal::SIGCONT, || {
            if tree(child.id() as i32).len() == 2 { Ok(()) } else { Err('?') }
        })
        .unwrap();
        child
    }

    #[test]
    fn reads_odd_names() {
        let line = format!("7 (a) (b c) S 3 {} 99 0 0", ["0"; 17].join(" "));
        assert_eq!(parse_stat(&line), Some(Stat { pid: 7, parent: 3, state: 'S', start_ticks: 99 }));
        assert_eq!(parse_stat("7 (a"), None);
    }

    #[test]
    fn pauses_resumes_and_kills_a_family() {
        let mut child = family();
        let pid = child.id() as i32;
        let pids = tree(pid);
        let paused = pause(pid).unwrap();
        assert_eq!(paused["pids"], json!(pids));
        assert!(pids.iter().all(|pid| stat(*pid).unwrap().state == 'T'));
        assert_eq!(pause(pid).unwrap(), paused);

        let resumed = resume(pid).unwrap();
        // Asleep again, or on its way there.
        assert!(resumed["state"] == "S" || resumed["state"] == "R", "{resumed:?}");
        assert!(pids.iter().all(|pid| stat(*pid).unwrap().state != 'T'));
        assert_eq!(reap(pid).unwrap(), None);

        let killed = kill(pid).unwrap();
        assert_eq!(killed["killed"].as_array().unwrap().len(), 2);
        assert!(matches!(reap(pid).unwrap(), Some(WaitStatus::Signaled(_, Signal::SIGKILL, _))));
        assert!(child.try_wait().is_err(), "reaped twice");
        assert!(matches!(kill(pid), Err(ProcessError::Gone(_))));
        assert!(pids[1..].iter().all(|pid| stat(*pid).is_none_or(|stat| stat.state == 'Z')));
    }

    #[test]
    fn a_paused_family_can_be_killed() {
        let mut child = family();
        pause(child.id() as i32).unwrap();
        kill(child.id() as i32).unwrap();
        assert!(!child.wait().unwrap().success());
    }
}
