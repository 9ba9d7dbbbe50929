//! The node's processes, nearly always one: started, watched, their output passed up.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::Receiver,
    },
    time::{Duration, Instant},
};

use super::{
    protocol::{Message, Program, Tag},
    reaper::Reaper,
};
use workloads::real_env::monotonic_ns;

/// Its processes, and what is known of them.
pub struct Node {
    /// Keeps ptrace and reaping apart.
    pub reaper: Reaper,
    running: Mutex<Vec<Running>>,
    offset_ns: Mutex<i64>,
}

/// A process that runs now.
struct Running {
    pid: u32,
    stdin: ChildStdin,
    ended: Receiver<()>,
    expected: std::sync::Arc<AtomicBool>,
}

impl Node {
    /// A node without a process.
    pub fn new(reaper: Reaper) -> Node {
        Node { reaper, running: Mutex::default(), offset_ns: Mutex::new(0) }
    }

    /// Starts the processes, one from each list; the first one's pid.
    pub fn start(&self, programs: &[Vec<Program>]) -> Result<u32, String> {
        let mut running = lock(&self.running);
        if let Some(old) = running.first() {
            return Err(format!("its process already runs as pid {}", old.pid));
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
        running.first().map(|first| first.pid).ok_or_else(|| "there is nothing to start".into())
    }

    /// Starts one process, with the clock of a fault under way before its first instruction.
    fn start_one(&self, programs: &[Program]) -> Result<Running, String> {
        let (program, path) = fitting(programs)?;
        let mut command = Command::new(&path);
        if let Some(classpath) = &program.classpath {
            command.env("CLASSPATH", expand(classpath)?);
        }
        command.args(&program.args).envs(program.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = &program.cwd {
            fs::create_dir_all(folder).map_err(|error| format!("failed to make {folder}: {error}"))?;
            command.current_dir(folder);
        }
        let mut held = self.reaper.hold();
        let offset = *lock(&self.offset_ns);
        let mut child = if offset == 0 {
            command.spawn().map_err(|error| error.to_string())
        } else {
            nemesis::clock::spawn(command, offset).map_err(|error| error.to_string())
        }
        .map_err(|error| format!("failed to start {}: {error}", path.display()))?;
        let status = held.watch(&child);
        drop(held);
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("failed to open the process' pipes".into());
        };
        if let Some(line) = &program.input {
            writeln!(stdin, "{line}").map_err(|error| format!("failed to write to its stdin: {error}"))?;
        }
        let outputs = [pass_up(stdout, program.tagged), pass_up(stderr, false)];
        let expected = std::sync::Arc::new(AtomicBool::new(false));
        let ended = watch(child.id(), status, outputs, expected.clone());
        Ok(Running { pid: child.id(), stdin, ended, expected })
    }

    /// The processes' pids, at least one.
    pub fn pids(&self) -> Result<Vec<u32>, String> {
        let pids: Vec<u32> = lock(&self.running).iter().map(|running| running.pid).collect();
        if pids.is_empty() { Err("its process does not run".into()) } else { Ok(pids) }
    }

    /// Writes a line to the first process' stdin.
    pub fn input(&self, line: &str) -> Result<(), String> {
        let mut running = lock(&self.running);
        let running = running.first_mut().ok_or("its process does not run")?;
        writeln!(running.stdin, "{line}").map_err(|error| format!("failed to write to its stdin: {error}"))
    }

    /// Kills the processes and their descendants; returns the first one's pid once all are reaped and their last output
    /// is passed up.
    pub fn kill(&self) -> Result<u32, String> {
        let killed: Vec<_> = lock(&self.running).drain(..).map(Running::kill).collect();
        let pids = killed.into_iter().collect::<Result<Vec<u32>, String>>()?;
        pids.first().copied().ok_or_else(|| "its process does not run".into())
    }

    /// The offset that the clocks of the processes have, and of those started later.
    pub fn set_offset(&self, offset_ns: i64) {
        *lock(&self.offset_ns) = offset_ns;
    }
}

impl Running {
    fn kill(self) -> Result<u32, String> {
        self.expected.store(true, Ordering::SeqCst);
        nemesis::process::kill(self.pid as i32).map_err(|error| error.to_string())?;
        match self.ended.recv_timeout(Duration::from_secs(5)) {
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                Err(format!("pid {} did not end within 5 s of SIGKILL", self.pid))
            }
            _ => Ok(self.pid),
        }
    }
}

/// Tells the harness when a process ends that nobody killed, after its last output.
fn watch(
    pid: u32,
    status: Receiver<ExitStatus>,
    outputs: [std::thread::JoinHandle<()>; 2],
    expected: std::sync::Arc<AtomicBool>,
) -> Receiver<()> {
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let status = status.recv();
        for output in outputs {
            // A descendant may hold the pipe open for ever: the process' end is what counts, its output was read.
            let patience = Instant::now() + Duration::from_millis(500);
            while !output.is_finished() && Instant::now() < patience {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        if !expected.load(Ordering::SeqCst) {
            let status = status.map_or_else(|_| "lost".to_string(), |status| status.to_string());
            super::say(&Message::Exit { now_ns: monotonic_ns(), pid, status });
        }
        // The killer may have given up.
        let _ = done.send(());
    });
    ended
}

/// How long an output that comes thick and fast rests between two writes. The engine copies every write on its own,
/// through four processes: at 100 000 lines a second nearly all of its time goes there.
const REST: Duration = Duration::from_millis(1);

/// Passes a process' output up: its own tagged lines as they are, anything else as log lines.
fn pass_up(output: impl Read + Send + 'static, tagged: bool) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut output = BufReader::with_capacity(1 << 16, output);
        let mut batch = Vec::new();
        let mut written = Instant::now();
        loop {
            if !tagged {
                batch.push(Tag::Log.byte());
            }
            match output.read_until(b'\n', &mut batch) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            if batch.last() != Some(&b'\n') {
                // Torn by a kill: of a tagged line nothing can be used.
                if tagged {
                    return;
                }
                batch.push(b'\n');
            }
            // As many lines in one write as have come already.
            if !output.buffer().contains(&b'\n') || batch.len() > 1 << 16 {
                let mut stdout = std::io::stdout().lock();
                if stdout.write_all(&batch).and_then(|()| stdout.flush()).is_err() {
                    std::process::exit(0);
                }
                batch.clear();
                // A quiet output is passed up at once; what comes meanwhile waits in the pipe.
                if written.elapsed() < REST {
                    std::thread::sleep(REST);
                }
                written = Instant::now();
            }
        }
    })
}

/// The first program whose tell-tale file and binary exist.
fn fitting(programs: &[Program]) -> Result<(&Program, PathBuf), String> {
    let there = |when: &String| glob::glob(when).is_ok_and(|mut found| found.next().is_some());
    let fits = |program: &&Program| program.when.as_ref().is_none_or(there);
    let found = programs.iter().filter(fits).find_map(|program| Some((program, find(&program.candidates)?)));
    found.ok_or_else(|| {
        let names: Vec<&str> =
            programs.iter().flat_map(|program| &program.candidates).map(String::as_str).collect();
        format!("the image has none of {}", names.join(", "))
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
fn expand(classpath: &str) -> Result<String, String> {
    let mut parts = Vec::new();
    for part in classpath.split(':') {
        let (folder, last) = part.rsplit_once('/').unwrap_or(("", part));
        let found = glob::glob(folder).map_err(|error| format!("the classpath {part}: {error}"))?;
        parts.extend(found.filter_map(Result::ok).map(|folder| format!("{}/{last}", folder.display())));
    }
    Ok(parts.join(":"))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
