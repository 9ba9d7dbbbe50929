//! Clocks of children, moved; this process' own clock beside them as the control.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use nemesis::{
    clock::{self, ClockError},
    process,
};
use nix::{errno::Errno, libc, sys::signal::Signal};

/// This test binary, started again, answers each line with what its clocks say: the helper of the tests below.
#[test]
fn helper() {
    let Ok(threads) = std::env::var("CLOCK_HELPER") else { return };
    for _ in 0..threads.parse().unwrap() {
        // Busy threads: most of their time is spent in the code that is being replaced.
        thread::spawn(|| {
            loop {
                std::hint::black_box(SystemTime::now());
            }
        });
    }
    for line in std::io::stdin().lines() {
        let _ = line.unwrap();
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
        println!("clocks {wall} {} {}", monotonic_ns(), seconds());
    }
    std::process::exit(0);
}

fn seconds() -> i64 {
    // SAFETY: NULL asks for the result only.
    unsafe { nix::libc::time(std::ptr::null_mut()) }
}

fn monotonic_ns() -> i128 {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap();
    i128::from(time.tv_sec()) * 1_000_000_000 + i128::from(time.tv_nsec())
}

fn wall_ns() -> i128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i128
}

struct Helper {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// A child's clocks minus this process' own.
#[derive(Debug)]
struct Off {
    wall_ms: i128,
    monotonic_ms: i128,
    seconds: i64,
}

fn command(threads: u32) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "helper", "--nocapture"]).env("CLOCK_HELPER", threads.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

impl Helper {
    fn of(mut child: Child) -> Helper {
        let ask = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Helper { child, ask, answers }
    }

    fn new(threads: u32) -> Helper {
        Helper::of(command(threads).spawn().unwrap())
    }

    fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    fn off(&mut self) -> Off {
        writeln!(self.ask).unwrap();
        let mut line = String::new();
        while !line.contains("clocks ") {
            line.clear();
            assert_ne!(self.answers.read_line(&mut line).unwrap(), 0, "the helper ended");
        }
        let numbers: Vec<i128> =
            line.split("clocks ").nth(1).unwrap().split_whitespace().map(|n| n.parse().unwrap()).collect();
        Off {
            wall_ms: (numbers[0] - wall_ns()) / 1_000_000,
            monotonic_ms: (numbers[1] - monotonic_ns()) / 1_000_000,
            seconds: numbers[2] as i64 - seconds(),
        }
    }

    /// Fails unless the wall clock is `ms` off, and the monotonic one is not.
    fn expect(&mut self, ms: i128) {
        let off = self.off();
        assert!((off.wall_ms - ms).abs() < 1000, "{off:?} instead of {ms}");
        assert!(off.monotonic_ms.abs() < 1000, "{off:?}");
        assert!((i128::from(off.seconds) - ms / 1000).abs() <= 1, "{off:?} instead of {ms}");
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const HOUR_NS: i64 = 3_600_000_000_000;
const HOUR_MS: i128 = 3_600_000;

#[test]
fn a_clock_moves_again_and_again_and_back() {
    if !common::is_root() {
        return;
    }
    let (begin, before) = (Instant::now(), wall_ns());
    let mut helper = Helper::new(0);
    helper.expect(0);
    assert!(clock::read_back(helper.pid()).unwrap().offset_ns.abs() < 50_000_000);
    assert!(clock::set(helper.pid(), 1).is_err(), "never moved");

    clock::install(helper.pid(), HOUR_NS).unwrap();
    helper.expect(HOUR_MS);
    let observed = clock::read_back(helper.pid()).unwrap();
    assert!((observed.offset_ns - HOUR_NS).abs() <= observed.uncertainty_ns + 1000, "{observed:?}");

    clock::set(helper.pid(), -HOUR_NS).unwrap();
    helper.expect(-HOUR_MS);
    clock::install(helper.pid(), 2 * HOUR_NS).unwrap();
    helper.expect(2 * HOUR_MS);

    let observed = clock::remove(helper.pid()).unwrap();
    assert!(observed.offset_ns.abs() <= observed.uncertainty_ns + 1000, "{observed:?}");
    helper.expect(0);
    clock::remove(helper.pid()).unwrap();

    let drift = (wall_ns() - before) - begin.elapsed().as_nanos() as i128;
    assert!(drift.abs() < 100_000_000, "this process' own clock moved by {drift} ns");
}

#[test]
fn busy_threads_survive() {
    if !common::is_root() {
        return;
    }
    for round in 0..20 {
        let mut helper = Helper::new(4);
        helper.expect(0);
        clock::install(helper.pid(), HOUR_NS).unwrap();
        helper.expect(HOUR_MS);
        let observed = clock::read_back(helper.pid()).unwrap();
        assert!(
            (observed.offset_ns - HOUR_NS).abs() <= observed.uncertainty_ns + 1000,
            "{round}: {observed:?}"
        );
        clock::remove(helper.pid()).unwrap();
        helper.expect(0);
        assert_eq!(
            process::threads(helper.pid()).len(),
            4 + 2,
            "the test harness runs its tests on a second thread"
        );
    }
}

#[test]
fn a_program_starts_with_a_moved_clock() {
    if !common::is_root() {
        return;
    }
    let output = |mut command: Command| -> i64 {
        command.stdout(Stdio::piped()).args(["+%s"]);
        let child = clock::spawn(command, -HOUR_NS).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().trim().parse().unwrap()
    };
    let off = output(Command::new("date")) - seconds();
    assert!((off + 3600).abs() <= 2, "{off}");

    let mut helper = Helper::of(clock::spawn(command(1), HOUR_NS).unwrap());
    helper.expect(HOUR_MS);
    clock::remove(helper.pid()).unwrap();
    helper.expect(0);
    assert!(clock::spawn(Command::new("/no/such/program"), 1).is_err());
}

/// `sleep` with so much address space.
fn sleep_within(seconds: &str, bytes: u64) -> Command {
    let mut command = Command::new("sleep");
    command.arg(seconds);
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: between fork and exec this makes one system call.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_AS, &raw const limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        })
    };
    command
}

#[test]
fn a_program_whose_clock_cannot_be_moved_is_not_left_running() {
    if !common::is_root() {
        return;
    }
    let seconds = format!("61.{}", std::process::id());
    let runs = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let arguments =
            processes.map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default());
        arguments.filter(|found| found.ends_with(format!("\0{seconds}\0").as_bytes())).count()
    };
    // Somewhere there is room for the program, and none for the two pages more.
    let mut without_room = 0;
    for pages in 16.. {
        match clock::spawn(sleep_within(&seconds, pages * 4096), HOUR_NS) {
            Ok(mut child) => {
                child.kill().unwrap();
                child.wait().unwrap();
                break;
            }
            Err(ClockError::Call { .. }) => without_room += 1,
            Err(_) => {}
        }
        assert_eq!(runs(), 0, "with {pages} pages");
    }
    assert!(without_room > 0, "it was never started in vain");
}

/// The clock of a process that was paused so often moves, and the process stays paused.
fn moves_paused(times: u32) {
    if !common::is_root() {
        return;
    }
    let mut helper = Helper::new(2);
    helper.expect(0);
    (0..times).for_each(|_| drop(process::pause(helper.pid()).unwrap()));
    clock::move_tree(helper.pid(), HOUR_NS).unwrap();
    thread::sleep(Duration::from_millis(50));
    assert_eq!(process::stat(helper.pid()).unwrap().state, 'T');
    process::resume(helper.pid()).unwrap();
    helper.expect(HOUR_MS);
}

#[test]
fn a_paused_process_stays_paused() {
    moves_paused(1);
}

/// The second SIGSTOP waits behind the first: it is delivered once a thread is let go.
#[test]
fn a_process_that_was_paused_twice_stays_paused() {
    moves_paused(2);
}

#[test]
fn a_process_may_be_paused_and_resumed_while_its_clock_moves() {
    if !common::is_root() {
        return;
    }
    let mut helper = Helper::new(2);
    helper.expect(0);
    let pid = nix::unistd::Pid::from_raw(helper.pid());
    let (stop, ended) = std::sync::mpsc::channel::<()>();
    let signals = thread::spawn(move || {
        while ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            nix::sys::signal::kill(pid, Signal::SIGSTOP).unwrap();
            thread::sleep(Duration::from_micros(300));
            nix::sys::signal::kill(pid, Signal::SIGCONT).unwrap();
            thread::sleep(Duration::from_micros(100));
        }
        // The last word: whatever a tracer held up in between, this stop must come through.
        nix::sys::signal::kill(pid, Signal::SIGSTOP).unwrap();
    });
    for round in 1..=300 {
        clock::move_tree(helper.pid(), round * HOUR_NS / 100)
            .unwrap_or_else(|error| panic!("{round}: {error}"));
    }
    stop.send(()).unwrap();
    signals.join().unwrap();
    clock::move_tree(helper.pid(), HOUR_NS).unwrap();
    thread::sleep(Duration::from_millis(50));
    assert_eq!(process::stat(helper.pid()).unwrap().state, 'T');
    process::resume(helper.pid()).unwrap();
    helper.expect(HOUR_MS);
}

#[test]
fn a_tree_moves_and_its_evidence_tells() {
    if !common::is_root() {
        return;
    }
    let mut child = Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
    let pid = child.id() as i32;
    while process::tree(pid).len() < 2 {
        thread::sleep(Duration::from_millis(1));
    }
    // Both must be past exec, which gives a process a new vDSO.
    thread::sleep(Duration::from_millis(100));
    let moved = clock::move_tree(pid, 3_000_000_000).unwrap();
    assert_eq!(moved["pids"].as_array().unwrap().len(), 2);
    for observed in moved["observed_ms"].as_array().unwrap() {
        assert!((observed.as_f64().unwrap() - 3000.0).abs() < 100.0, "{moved:?}");
    }
    let restored = clock::restore_tree(pid).unwrap();
    assert!(restored["observed_ms"][1].as_f64().unwrap().abs() < 100.0, "{restored:?}");
    process::kill(pid).unwrap();
    child.wait().unwrap();
    assert!(clock::move_tree(pid, 1).is_err());
}

#[test]
fn forked_children_inherit_the_offset() {
    if !common::is_root() {
        return;
    }
    // The subshell is forked and not executed anew, as a server's child that saves its data is.
    let mut command = Command::new("bash");
    command.args(["-c", "read; (printf '%(%s)T\\n' -1)"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    thread::sleep(Duration::from_millis(200));
    clock::install(child.id() as i32, HOUR_NS).unwrap();
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let told: i64 =
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().trim().parse().unwrap();
    assert!((told - seconds() - 3600).abs() <= 2, "{}", told - seconds());
}

#[test]
fn a_process_may_execute_another_program_at_any_moment() {
    if !common::is_root() {
        return;
    }
    // Each child is hit somewhere on its way; the shell ends when one does not come through. Some live long enough to be
    // hit on a busy machine too.
    let script = "while /bin/true && /bin/sleep 0.002 && /bin/sleep 0.05; do :; done";
    let mut child = Ended(Command::new("sh").args(["-c", script]).spawn().unwrap());
    let pid = child.0.id() as i32;
    let begin = Instant::now();
    let lives = || process::stat(pid).is_some_and(|stat| stat.state != 'Z');
    let (mut moved, mut missed) = (0, BTreeSet::new());
    let seconds = |n| Duration::from_secs(n);
    while lives() && (begin.elapsed() < seconds(2) || (moved == 0 && begin.elapsed() < seconds(30))) {
        for child in process::tree(pid).into_iter().skip(1) {
            match clock::install(child, HOUR_NS) {
                Ok(()) => moved += 1,
                // It ended before, or in between.
                Err(
                    error @ (ClockError::Gone(_)
                    | ClockError::NoVdso(_)
                    | ClockError::Trace(Errno::ESRCH)
                    | ClockError::Io(_)),
                ) => drop(missed.insert(error.to_string())),
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(lives(), "a child did not come through: {moved} were moved, others not: {missed:?}");
    assert!(moved > 0, "none was met: {missed:?}");
    process::kill(pid).unwrap();
    child.0.wait().unwrap();
}

/// A child that does not outlive its test.
struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended as it should.
        let _ = self.0.kill();
    }
}

#[test]
fn sleepers_sleep_on() {
    if !common::is_root() {
        return;
    }
    // Interrupted system calls are restarted: `sleep` ends neither early nor with an error.
    let begin = Instant::now();
    let mut child = Command::new("sleep").arg("1").spawn().unwrap();
    thread::sleep(Duration::from_millis(200));
    clock::install(child.id() as i32, HOUR_NS).unwrap();
    clock::read_back(child.id() as i32).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(begin.elapsed() >= Duration::from_millis(999), "{:?}", begin.elapsed());
}
