//! What an agent does when something goes wrong: it says so, leaves nothing behind, and can be asked again.

use std::{
    fs,
    os::unix::process::CommandExt,
    process::Command,
    thread::sleep,
    time::{Duration, Instant},
};

use crate::support::{
    agent::{Agent, start, start_with},
    fencepost, skipped,
};
use nix::{
    libc,
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

const KILL: &str = "\"kill\"";
const PAUSE: &str = "\"pause\"";
const RESUME: &str = "\"resume\"";
const FORWARD: &str = r#"{"clock":{"offset_ns":3600000000000}}"#;
const BACK: &str = r#"{"clock":{"offset_ns":0}}"#;

/// Children of a process, and theirs, that are not dead.
fn descendants(of: u32) -> Vec<i32> {
    let tree = nemesis::process::tree(of as i32).into_iter().skip(1);
    tree.filter(|pid| nemesis::process::stat(*pid).is_some_and(|stat| stat.state != 'Z')).collect()
}

#[test]
fn what_runs_already_is_not_started_again() {
    let mut agent = Agent::start();
    let first = agent.ask(&start("sleep", &["60"]));
    let again = agent.ask(&start("sleep", &["60"]));
    assert_eq!(again, json!({ "pid": first["pid"], "running": true }));
    assert_eq!(descendants(agent.child.id()).len(), 1);
    assert_eq!(agent.ask(KILL)["signal"], "SIGKILL");
    assert_ne!(agent.ask(&start("sleep", &["60"]))["pid"], first["pid"]);
    agent.ask(KILL);
}

#[test]
fn what_ended_by_itself_is_not_hit() {
    let mut agent = Agent::start();
    let gone = json!({ "state": "gone", "pids": [] });
    for command in [PAUSE, RESUME, KILL] {
        assert_eq!(agent.ask(command), gone, "{command} before anything ran");
    }
    let pid = agent.ask(&start("sleep", &["0.1"]))["pid"].clone();
    let exit = agent.next().expect("it tells of the end");
    assert_eq!((&exit["exit"]["pid"], &exit["exit"]["status"]), (&pid, &json!("exit status: 0")));
    for command in [PAUSE, RESUME, KILL] {
        assert_eq!(agent.ask(command), gone, "{command} after its end");
    }
    assert_eq!(agent.ask(FORWARD)["pids"], json!([]));
    assert_eq!(agent.ask(BACK)["pids"], json!([]));
    let why = agent.asked(r#"{"input":"word"}"#).expect_err("nobody reads it");
    assert!(why.contains("does not run"), "{why}");
    let next = agent.ask(&start("sleep", &["60"]));
    assert!(next["running"].is_null() && next["pid"] != pid, "{next}");
    agent.ask(KILL);
}

#[test]
fn of_two_processes_the_one_that_is_left_is_hit() {
    let mut agent = Agent::start();
    let program = |seconds: &str| -> Value {
        let one: Value = serde_json::from_str(&start("sleep", &[seconds])).expect("a command");
        one["start"][0].clone()
    };
    agent.ask(&json!({ "start": [program("0.1"), program("60")] }).to_string());
    agent.next().expect("it tells of the first one's end");
    let left = descendants(agent.child.id());
    assert_eq!(left.len(), 1);
    let paused = agent.ask(PAUSE);
    assert_eq!((&paused["state"], &paused["pids"]), (&json!("T"), &json!(left)));
    agent.ask(RESUME);
    assert_eq!(agent.ask(KILL), json!({ "pid": left[0], "signal": "SIGKILL" }));
    assert_eq!(descendants(agent.child.id()), [0; 0]);
}

#[test]
fn a_start_that_fails_leaves_no_process() {
    let mut agent = Agent::start();
    // Deaf, so that a first line longer than the pipe cannot be written.
    let deaf = ["-c", "exec <&-; exec sleep 60"];
    let why = agent.asked(&start_with("sh", &deaf, &json!("x".repeat(1 << 20)))).expect_err("nobody reads");
    assert!(why.contains("failed to write to its stdin"), "{why}");
    assert_eq!(descendants(agent.child.id()), [0; 0]);
}

/// A command that runs in a network of its own, in which only the loopback interface is.
fn in_own_network(mut command: Command) -> Command {
    // SAFETY: between fork and exec these are system calls alone; an all-zero `ifreq` is valid.
    unsafe {
        command.pre_exec(|| {
            let failed = |done: libc::c_int| match done {
                0.. => Ok(done),
                _ => Err(std::io::Error::last_os_error()),
            };
            failed(libc::unshare(libc::CLONE_NEWNET))?;
            let socket = failed(libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0))?;
            let mut request: libc::ifreq = std::mem::zeroed();
            request.ifr_name[..2].copy_from_slice(&[b'l' as libc::c_char, b'o' as libc::c_char]);
            request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
            failed(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &request)).map(drop)
        });
    }
    command
}

#[test]
fn a_cut_that_is_mended_twice_shows_the_same_counters() {
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !is_root {
        skipped("network namespaces need root");
        return;
    }
    let mut agent = Agent::start_by(in_own_network(fencepost()));
    let cut = r#"{"cut":{"fault":7,"peers":["127.0.0.2"],"direction":"both"}}"#;
    let made = agent.ask(cut);
    assert_eq!(agent.ask(cut), made, "it is there already");
    let binary = env!("CARGO_BIN_EXE_fencepost");
    let knock =
        json!({ "exec": { "argv": [binary, "probe", "redis", "127.0.0.2:6379", "0"], "timeout_ms": 9000 } });
    agent.ask(&knock.to_string());
    let mend = r#"{"mend":{"fault":7}}"#;
    let first = agent.ask(mend);
    assert!(first["packets"].as_u64() > Some(0), "{first}");
    assert_eq!(agent.ask(mend), first);
    let nothing = agent.ask(r#"{"mend":{"fault":8}}"#);
    assert_eq!(nothing["packets"], 0, "one that never was: {nothing}");
}

fn leased() -> Agent {
    let mut command = fencepost();
    command.args(["agent", "--lease-ms", "1500"]);
    Agent::of(command)
}

#[test]
fn one_that_hears_nothing_ends_though_its_stdin_stays_open() {
    let begun = Instant::now();
    let mut agent = leased();
    let told = agent.next().expect("it says why");
    assert_eq!(told["unheard"]["for_ms"], 1500, "{told}");
    assert!(agent.next().is_none(), "it has ended");
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(1500) && took < Duration::from_secs(20), "after {took:?}");
    assert_eq!(agent.child.wait().expect("it is a child").code(), Some(70));
}

#[test]
fn signs_of_life_keep_an_agent_and_time_in_which_it_stood_still_does_not_count() {
    let mut agent = leased();
    for _ in 0..15 {
        sleep(Duration::from_millis(200));
        agent.say("").expect("it listens");
    }
    agent.ask(&start("sleep", &["60"]));
    let pid = Pid::from_raw(agent.child.id() as i32);
    kill(pid, Signal::SIGSTOP).expect("it is there");
    sleep(Duration::from_secs(3));
    kill(pid, Signal::SIGCONT).expect("it is there");
    agent.ask(KILL);
    assert_eq!(agent.told, [Value::Null; 0]);
}

#[test]
fn one_whose_words_nobody_takes_ends_all_the_same() {
    let mut agent = leased();
    // More than the pipe holds, so that whoever says a word waits.
    agent.ask(&start("sh", &["-c", "yes > /dev/stdout"]));
    let end = Instant::now() + Duration::from_secs(20);
    while agent.child.try_wait().expect("it is a child").is_none() {
        assert!(Instant::now() < end, "it goes on");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn an_endless_line_is_passed_up_in_pieces() {
    let mut agent = Agent::start();
    agent.ask(&start("sh", &["-c", "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo end; exec sleep 60"]));
    let mut length = 0;
    loop {
        let line = agent.line().expect("it is passed up");
        let Some(line) = line.strip_prefix('L') else { continue };
        assert!(line.len() <= 1 << 16, "{} bytes", line.len());
        if line == "end" {
            break;
        }
        assert!(line.bytes().all(|byte| byte == b'x'), "{line}");
        length += line.len();
    }
    assert_eq!(length, 1_000_000);
    agent.ask(KILL);
}
