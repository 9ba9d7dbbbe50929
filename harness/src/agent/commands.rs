//! What each command does.

use std::{
    fs,
    io::Read,
    net::Ipv4Addr,
    path::Path,
    process::{Command as Process, Stdio},
    time::Duration,
};

use nemesis::{kind::partition::Direction, process::ProcessError};
use serde_json::{Map, Value, json};

use super::{node::Node, protocol::Command};

type Answer = Result<Map<String, Value>, String>;

/// Runs one command to its answer.
pub fn run(node: &Node, command: Command) -> Answer {
    match command {
        Command::Write { path, content } => write(&path, &content),
        Command::Start(programs) => node.start(&programs).map(|pid| object(json!({ "pid": pid }))),
        Command::Input(line) => node.input(&line).map(|()| Map::new()),
        Command::Exec { argv, timeout_ms } => exec(node, &argv, Duration::from_millis(timeout_ms)),
        Command::Pause => evidence(nemesis::process::pause(node.pid()? as i32)),
        Command::Resume => resume(node),
        Command::Kill => node.kill().map(|pid| object(json!({ "pid": pid, "signal": "SIGKILL" }))),
        Command::Cut { fault, peers, direction } => cut(fault, &peers, direction),
        Command::Mend { fault } => mend(fault),
        Command::Clock { offset_ns } => clock(node, offset_ns),
    }
}

/// A process that died while it stood still needs nobody to let it go on.
fn resume(node: &Node) -> Answer {
    match node.pid().map(|pid| nemesis::process::resume(pid as i32)) {
        Err(_) | Ok(Err(ProcessError::Gone(_))) => Ok(object(json!({ "state": "gone", "pids": [] }))),
        Ok(resumed) => evidence(resumed),
    }
}

fn write(path: &str, content: &str) -> Answer {
    let failed = |error: std::io::Error| format!("failed to write {path}: {error}");
    if let Some(folder) = Path::new(path).parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, content).map_err(failed)?;
    Ok(Map::new())
}

/// Moves the running process' clock and remembers the offset for the next one. The evidence is read back from the
/// process' own clock.
fn clock(node: &Node, offset_ns: i64) -> Answer {
    node.set_offset(offset_ns);
    let Ok(pid) = node.pid() else {
        let offset_ms = offset_ns as f64 / 1e6;
        return Ok(object(
            json!({ "offset_ms": offset_ms, "pids": [], "note": "its process does not run; the next one will have it" }),
        ));
    };
    let _no_reaping = node.reaper.hold();
    let pid = pid as i32;
    if offset_ns == 0 {
        return evidence(nemesis::clock::restore_tree(pid));
    }
    evidence(nemesis::clock::move_tree(pid, offset_ns))
}

fn cut(fault: u32, peers: &[Ipv4Addr], direction: Direction) -> Answer {
    nemesis::net::cut(fault, peers, direction).map_err(|error| error.to_string())?;
    Ok(object(json!({ "rules_for": peers, "direction": direction })))
}

/// The counters are the evidence: a cut that no packet met changed nothing.
fn mend(fault: u32) -> Answer {
    let counters = nemesis::net::heal(fault).map_err(|error| error.to_string())?;
    Ok(object(json!({ "packets": nemesis::net::packets(&counters), "dropped": counters })))
}

fn exec(node: &Node, argv: &[String], limit: Duration) -> Answer {
    let (program, args) = argv.split_first().ok_or("nothing to run")?;
    let mut command = Process::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut held = node.reaper.hold();
    let mut child = command.spawn().map_err(|error| format!("failed to start {program}: {error}"))?;
    let ended = held.watch(&child);
    drop(held);
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let Ok(status) = ended.recv_timeout(limit) else {
        // It may have ended just now.
        let _ = nemesis::process::kill(child.id() as i32);
        return Err(format!("{program} did not end within {limit:?}"));
    };
    let text = |output: std::thread::JoinHandle<String>| output.join().unwrap_or_default();
    Ok(object(json!({ "status": status.code(), "stdout": text(stdout), "stderr": text(stderr) })))
}

fn collect(output: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut output) = output {
            // What came before an error is still worth having.
            let _ = output.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn evidence<E: std::fmt::Display>(result: Result<Map<String, Value>, E>) -> Answer {
    result.map_err(|error| error.to_string())
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => Map::from_iter([("value".to_string(), other)]),
    }
}
