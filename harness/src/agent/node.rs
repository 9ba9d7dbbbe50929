//! The node's processes, nearly always one: started, watched, their output passed up.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use nemesis::{
    net::{Counters, NetError},
    process::ProcessError,
};
use nix::sys::signal::Signal;
use workloads::real_env::monotonic_ns;

use super::{
    failure::Failure,
    memory,
    output::pass_up,
    patience,
    protocol::{Message, Program},
    reaper::Reaper,
    shapes::Shapes,
    ticker::Ticker,
};

/// Its processes, and what is known of them.
pub struct Node {
    /// Keeps ptrace and reaping apart.
    pub reaper: Reaper,
    /// Those that have ended since are still among them.
    started: Mutex<Vec<Running>>,
    offset_ns: Mutex<i64>,
    /// What cuts that are mended had dropped, by fault.
    dropped: Mutex<BTreeMap<u32, Counters>>,
    /// Delays under way, and those that were.
    pub shapes: Shapes,
    halted: Arc<AtomicBool>,
    ticker: Mutex<Option<Ticker>>,
}

/// What [`Node::start`] found or did, with the first process' pid.
pub enum Started {
    /// The processes run from now on.
    Anew(u32),
    /// They ran already.
    Before(u32),
}

/// A process that was started.
struct Running {
    pid: u32,
    stdin: ChildStdin,
    /// Tells its end once its last output is passed up; none if that is lost.
    ended: Receiver<Option<ExitStatus>>,
    end: Arc<End>,
}

/// What is known of a process' end.
#[derive(Default)]
struct End {
    has_come: AtomicBool,
    /// It is being killed.
    is_expected: AtomicBool,
}

impl Node {
    /// A node without a process.
    pub fn new(reaper: Reaper) -> Node {
        Node {
            reaper,
            started: Mutex::default(),
            offset_ns: Mutex::new(0),
            dropped: Mutex::default(),
            shapes: Shapes::default(),
            halted: Arc::default(),
            ticker: Mutex::default(),
        }
    }

    /// Starts the processes, one from each list, unless one of them runs.
    ///
    /// # Errors
    /// Why not. Then none of them runs.
    pub fn start(&self, programs: &[Vec<Program>]) -> Result<Started, Failure> {
        let mut running = self.running();
        if let Some(old) = running.first() {
            return match old.end.is_expected.load(Ordering::SeqCst) {
                true => Err(Failure::StillEnding(old.pid)),
                false => Ok(Started::Before(old.pid)),
            };
        }
        for ways in programs {
            match self.start_one(ways) {
                Ok(started) => running.push(started),
                Err(why) => {
                    // All or none; the first failure is what is told.
                    running.drain(..).for_each(|started| drop(started.kill()));
                    return Err(why);
                }
            }
        }
        running.first().map(|first| Started::Anew(first.pid)).ok_or(Failure::Nothing)
    }

    /// Starts one process, with the clock of a fault under way before its first instruction.
    fn start_one(&self, programs: &[Program]) -> Result<Running, Failure> {
        let (program, path) = fitting(programs)?;
        let mut command = Command::new(&path);
        if let Some(classpath) = &program.classpath {
            command.env("CLASSPATH", expand(classpath)?);
        }
        command.args(&program.args).envs(program.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = &program.cwd {
            fs::create_dir_all(folder).map_err(|error| Failure::Folder(folder.clone(), error))?;
            command.current_dir(folder);
        }
        let mut held = self.reaper.hold();
        let offset = *lock(&self.offset_ns);
        let mut child = if offset == 0 {
            command.spawn().map_err(Into::into)
        } else {
            nemesis::clock::spawn(command, offset).map_err(Into::into)
        }
        .map_err(|error| Failure::Start(path, error))?;
        let status = held.watch(&child);
        drop(held);
        attend(&mut child, status, program).inspect_err(|_| {
            // Nobody would know of it any more.
            let _ = nemesis::process::kill(child.id() as i32);
        })
    }

    /// Those of the processes that have not ended.
    fn running(&self) -> MutexGuard<'_, Vec<Running>> {
        let mut started = lock(&self.started);
        started.retain(|running| !running.end.has_come.load(Ordering::SeqCst));
        started
    }

    /// The pids of the processes that run.
    pub fn pids(&self) -> Vec<u32> {
        self.running().iter().map(|running| running.pid).collect()
    }

    /// Writes a line to the first process' stdin.
    pub fn input(&self, line: &str) -> Result<(), Failure> {
        let mut running = self.running();
        let running = running.first_mut().ok_or(Failure::NotRunning)?;
        writeln!(running.stdin, "{line}").map_err(Failure::Stdin)
    }

    /// Kills the processes that run and their descendants; returns the pids of those that this ended, once all are
    /// reaped and their last output is passed up.
    ///
    /// # Errors
    /// One of them does not end; asked again, it is killed again.
    pub fn kill(&self) -> Result<Vec<u32>, Failure> {
        let running = self.running();
        let killed: Vec<_> = running.iter().map(|running| (running.pid, running.kill())).collect();
        let ended = killed.into_iter().filter_map(|(pid, killed)| match killed {
            Ok(by_us) => by_us.then_some(Ok(pid)),
            Err(why) => Some(Err(why)),
        });
        ended.collect()
    }

    /// Mends a cut; what it had dropped, however often it is mended.
    pub fn mend(&self, fault: u32) -> Result<Counters, NetError> {
        let mut dropped = lock(&self.dropped);
        let kept = dropped.entry(fault).or_default();
        // Kept before the rules go: what comes after may fail, and then it is done again.
        for count in [nemesis::net::counters, nemesis::net::heal] {
            let counters = count(fault)?;
            if !counters.is_empty() {
                *kept = counters;
            }
        }
        Ok(kept.clone())
    }

    /// The offset that the clocks of the processes have, and of those started later.
    pub fn set_offset(&self, offset_ns: i64) {
        *lock(&self.offset_ns) = offset_ns;
    }

    /// Notes that a fault of ours keeps the processes from running, by a pause or a kill, or no longer does.
    pub fn set_halted(&self, halted: bool) {
        self.halted.store(halted, Ordering::SeqCst);
    }

    /// Ticks from now on, so often; a tick may come so much later than it was due.
    pub fn watch(&self, limit: Duration, every: Duration) {
        self.unwatch();
        *lock(&self.ticker) = Some(Ticker::start(self.halted.clone(), limit, every));
    }

    /// Ticks no longer.
    pub fn unwatch(&self) {
        let ticker = lock(&self.ticker).take();
        ticker.into_iter().for_each(Ticker::end);
    }
}

impl Running {
    /// Kills it; whether that is what ended it.
    fn kill(&self) -> Result<bool, Failure> {
        self.end.is_expected.store(true, Ordering::SeqCst);
        match nemesis::process::kill(self.pid as i32) {
            Ok(_) | Err(ProcessError::Gone(_)) => {}
            Err(error) => return Err(error.into()),
        }
        match patience::receive(&self.ended, Duration::from_secs(5)) {
            Ok(status) => Ok(status.is_some_and(is_of_a_kill)),
            Err(RecvTimeoutError::Disconnected) => Ok(false),
            Err(RecvTimeoutError::Timeout) => Err(Failure::DoesNotEnd(self.pid)),
        }
    }
}

fn is_of_a_kill(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::SIGKILL as i32)
}

/// Gives a fresh process its first line, and passes its output and its end up.
fn attend(child: &mut Child, status: Receiver<ExitStatus>, program: &Program) -> Result<Running, Failure> {
    let (Some(mut stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(Failure::Pipes);
    };
    if let Some(line) = &program.input {
        writeln!(stdin, "{line}").map_err(Failure::Stdin)?;
    }
    let outputs = [pass_up(stdout, program.tagged), pass_up(stderr, false)];
    let end = Arc::<End>::default();
    let ended = watch(child.id(), status, outputs, end.clone());
    Ok(Running { pid: child.id(), stdin, ended, end })
}

/// Tells the harness when a process ends that nobody killed, after its last output.
fn watch(
    pid: u32,
    status: Receiver<ExitStatus>,
    outputs: [std::thread::JoinHandle<()>; 2],
    end: Arc<End>,
) -> Receiver<Option<ExitStatus>> {
    let (done, ended) = std::sync::mpsc::channel();
    let before = memory::kills();
    std::thread::spawn(move || {
        let status = status.recv().ok();
        end.has_come.store(true, Ordering::SeqCst);
        for output in outputs {
            // A descendant may hold the pipe open for ever: the process' end is what counts, its output was read.
            let patience = Instant::now() + Duration::from_millis(500);
            while !output.is_finished() && Instant::now() < patience {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        // One that was to be killed may have ended just before.
        if !(end.is_expected.load(Ordering::SeqCst) && status.is_some_and(is_of_a_kill)) {
            let status = match status {
                Some(status) if is_of_a_kill(status) && memory::kills() > before => {
                    format!("{status}, because the node had used up its memory")
                }
                Some(status) => status.to_string(),
                None => "lost".to_string(),
            };
            super::say(&Message::Exit { now_ns: monotonic_ns(), pid, status });
        }
        // The killer may have given up.
        let _ = done.send(status);
    });
    ended
}

/// The first program whose tell-tale file and binary exist.
fn fitting(programs: &[Program]) -> Result<(&Program, PathBuf), Failure> {
    let there = |when: &String| glob::glob(when).is_ok_and(|mut found| found.next().is_some());
    let fits = |program: &&Program| program.when.as_ref().is_none_or(there);
    let found = programs.iter().filter(fits).find_map(|program| Some((program, find(&program.candidates)?)));
    found.ok_or_else(|| {
        let names: Vec<&str> =
            programs.iter().flat_map(|program| &program.candidates).map(String::as_str).collect();
        Failure::NoProgram(names.join(", "))
    })
}

/// The first candidate that exists: a path as it is, a name in PATH.
fn find(candidates: &[String]) -> Option<PathBuf> {
    let usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    let path = std::env::var("PATH").unwrap_or_else(|_| usual.into());
    let places = |name: &String| -> Vec<PathBuf> {
        if name.starts_with('/') {
            return vec![PathBuf::from(name)];
        }
        path.split(':').map(|folder| Path::new(folder).join(name)).collect()
    };
    candidates.iter().flat_map(places).find(|place| place.is_file())
}

/// Resolves `*` inside folders' names of a classpath; a last component `*` is Java's own.
fn expand(classpath: &str) -> Result<String, Failure> {
    let mut parts = Vec::new();
    for part in classpath.split(':') {
        let (folder, last) = part.rsplit_once('/').unwrap_or(("", part));
        let found = glob::glob(folder).map_err(|error| Failure::Classpath(part.into(), error))?;
        parts.extend(found.filter_map(Result::ok).map(|folder| format!("{}/{last}", folder.display())));
    }
    Ok(parts.join(":"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
