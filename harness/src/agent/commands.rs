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
        Command::Pause => on_each(node, nemesis::process::pause),
        Command::Resume => resume(node),
        Command::Kill => node.kill().map(|pid| object(json!({ "pid": pid, "signal": "SIGKILL" }))),
        Command::Cut { fault, peers, direction } => cut(fault, &peers, direction),
        Command::Mend { fault } => mend(fault),
        Command::Clock { offset_ns } => clock(node, offset_ns),
    }
}

/// Processes that died while they stood still need nobody to let them go on.
fn resume(node: &Node) -> Answer {
    let gone = || object(json!({ "state": "gone", "pids": [] }));
    let resumed = |pid| match nemesis::process::resume(pid) {
        Err(ProcessError::Gone(_)) => Ok(gone()),
        resumed => resumed,
    };
    if node.pids().is_err() { Ok(gone()) } else { on_each(node, resumed) }
}

/// Does it to each process of the node; all their evidence together.
fn on_each<E: std::fmt::Display>(node: &Node, act: impl Fn(i32) -> Result<Map<String, Value>, E>) -> Answer {
    let each = node.pids()?.into_iter().map(|pid| evidence(act(pid as i32)));
    Ok(together(each.collect::<Result<Vec<_>, _>>()?))
}

/// Lists are joined, numbers of threads added; anything else is the first's.
fn together(each: Vec<Map<String, Value>>) -> Map<String, Value> {
    let mut all = Map::new();
    for (key, value) in each.into_iter().flatten() {
        match (all.get_mut(&key), value) {
            (Some(Value::Array(joined)), Value::Array(more)) => joined.extend(more),
            (Some(threads), more) if key == "threads" => {
                *threads = json!(threads.as_u64().unwrap_or_default() + more.as_u64().unwrap_or_default());
            }
            (Some(_), _) => {}
            (None, value) => drop(all.insert(key, value)),
        }
    }
    all
}

fn write(path: &str, content: &str) -> Answer {
    let failed = |error: std::io::Error| format!("failed to write {path}: {error}");
    if let Some(folder) = Path::new(path).parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, content).map_err(failed)?;
    Ok(Map::new())
}

/// Moves the running processes' clocks and remembers the offset for the next ones. The evidence is read back from each
/// process' own clock.
fn clock(node: &Node, offset_ns: i64) -> Answer {
    node.set_offset(offset_ns);
    if node.pids().is_err() {
        let offset_ms = offset_ns as f64 / 1e6;
        return Ok(object(
            json!({ "offset_ms": offset_ms, "pids": [], "note": "its process does not run; the next one will have it" }),
        ));
    }
    let _no_reaping = node.reaper.hold();
    match offset_ns {
        0 => on_each(node, nemesis::clock::restore_tree),
        _ => on_each(node, |pid| nemesis::clock::move_tree(pid, offset_ns)),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_of_two_processes_names_both() {
        let shown = |pid: u32| object(json!({ "state": "T", "pids": [pid], "threads": 4 }));
        let both = together(vec![shown(8), shown(9)]);
        assert_eq!(both, object(json!({ "state": "T", "pids": [8, 9], "threads": 8 })));
    }
}
