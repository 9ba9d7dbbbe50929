//! What each command does.

use std::{
    fs,
    io::Read,
    net::Ipv4Addr,
    path::Path,
    process::{Command as Process, Stdio},
    time::Duration,
};

use nemesis::{
    clock::ClockError,
    net::NetError,
    process::ProcessError,
    verbs::{ClockSet, Cutting, Dead, Direction, Gone, Killed, Mended, Reach, Sigkill},
};
use serde_json::{Map, Number, Value, json};

use super::{
    node::{Node, Started},
    patience,
    protocol::{Command, Program},
    reach,
};
use crate::pressure;

type Answer = Result<Map<String, Value>, String>;

/// Runs one command to its answer.
pub fn run(node: &Node, command: Command) -> Answer {
    match command {
        Command::Write { path, content } => write(&path, &content),
        Command::Start(programs) => start(node, &programs),
        Command::Input(line) => node.input(&line).map(|()| Map::new()).map_err(|error| error.to_string()),
        Command::Exec { argv, timeout_ms } => exec(node, &argv, Duration::from_millis(timeout_ms)),
        Command::Reach { peers, wanted, within_ms } => {
            let missed = reach::missed(&peers, wanted, Duration::from_millis(within_ms));
            Ok(missed.into_iter().map(|(peer, why)| (peer, json!(why))).collect())
        }
        Command::Pause => pause(node),
        Command::Resume => resume(node),
        Command::Kill => kill(node),
        Command::Cut { fault, peers, direction } => cut(fault, &peers, direction),
        Command::Mend { fault } => mend(node, fault),
        Command::Shape { fault, peers, direction, delay } => {
            let shaping = node.shapes.begin(fault, &peers, direction, delay);
            shaping.map(|shaping| object(json!(shaping))).map_err(|error| error.to_string())
        }
        Command::Unshape { fault } => {
            let unshaped = node.shapes.end(fault);
            unshaped.map(|unshaped| object(json!(unshaped))).map_err(|error| error.to_string())
        }
        Command::CanShape => match nemesis::net::Shaper::try_out() {
            Ok(()) => Ok(Map::new()),
            Err(error) => Err(error.to_string()),
        },
        Command::Clock { offset_ns } => clock(node, offset_ns),
        Command::Watch { limit_ms, every_ms } => {
            node.watch(Duration::from_millis(limit_ms), Duration::from_millis(every_ms));
            Ok(pressure())
        }
        Command::Unwatch => {
            node.unwatch();
            Ok(pressure())
        }
    }
}

fn pressure() -> Map<String, Value> {
    object(json!({ "pressure": pressure::read() }))
}

fn start(node: &Node, programs: &[Vec<Program>]) -> Answer {
    let started = node.start(programs).map_err(|error| error.to_string())?;
    node.set_halted(false);
    Ok(object(match started {
        Started::Anew(pid) => json!({ "pid": pid }),
        Started::Before(pid) => json!({ "pid": pid, "running": true }),
    }))
}

fn kill(node: &Node) -> Answer {
    node.set_halted(true);
    let killed = node.kill().map_err(|error| error.to_string())?;
    let dead = |pid: &u32| Reach::Processes(Dead { pid: *pid, signal: Sigkill::Sigkill });
    let process = killed.first().map_or_else(Reach::nobody, dead);
    Ok(object(json!(Killed { process, unsynced_lost: None })))
}

fn pause(node: &Node) -> Answer {
    if !node.pids().is_empty() {
        node.set_halted(true);
    }
    on_each(node, nemesis::process::pause)
}

fn resume(node: &Node) -> Answer {
    let shown = on_each(node, nemesis::process::resume)?;
    if !node.pids().is_empty() {
        node.set_halted(false);
    }
    Ok(shown)
}

/// What shows that a process has ended before anything was done to it. It takes no doing to undo that.
fn gone() -> Map<String, Value> {
    object(json!(Gone::default()))
}

/// Does it to each process of the node, whatever comes of the others; all their evidence together.
fn on_each(node: &Node, act: impl Fn(i32) -> Result<Map<String, Value>, ProcessError>) -> Answer {
    let acted: Vec<_> = node.pids().into_iter().map(|pid| act(pid as i32)).collect();
    let there = acted.into_iter().filter(|acted| !matches!(acted, Err(ProcessError::Gone(_))));
    let each = there.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    if each.is_empty() { Ok(gone()) } else { Ok(together(each)) }
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
    let _no_reaping = node.reaper.hold();
    let moved = |pid: u32| match offset_ns {
        0 => nemesis::clock::restore_tree(pid as i32),
        _ => nemesis::clock::move_tree(pid as i32, offset_ns),
    };
    let moved: Vec<_> = node.pids().into_iter().map(moved).collect();
    let there = moved.into_iter().filter(|moved| !matches!(moved, Err(ClockError::Gone(_))));
    let each = there.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let all = together(each);
    if all.get("pids").and_then(Value::as_array).is_some_and(|pids| !pids.is_empty()) {
        return Ok(all);
    }
    let offset_ms = Number::from_f64(offset_ns as f64 / 1e6).ok_or("no such offset")?;
    Ok(object(json!(ClockSet::for_the_next(offset_ms))))
}

/// Asked twice, it is in place once.
fn cut(fault: u32, peers: &[Ipv4Addr], direction: Direction) -> Answer {
    match nemesis::net::cut(fault, peers, direction) {
        Ok(()) | Err(NetError::Exists(_)) => {}
        Err(error) => return Err(error.to_string()),
    }
    let rules_for = peers.iter().map(Ipv4Addr::to_string).collect();
    Ok(object(json!(Cutting { rules_for, direction })))
}

/// The counters are the evidence: a cut that no packet met changed nothing.
fn mend(node: &Node, fault: u32) -> Answer {
    let counters = node.mend(fault).map_err(|error| error.to_string())?;
    let packets = nemesis::net::packets(&counters);
    let dropped = counters.into_iter().map(|(peer, dropped)| (peer.to_string(), dropped.into())).collect();
    Ok(object(json!(Mended { packets, dropped })))
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
    let Ok(status) = patience::receive(&ended, limit) else {
        // It may have ended just now.
        let _ = nemesis::process::kill(child.id() as i32);
        return Err(format!("{program} did not end within {limit:?}"));
    };
    let text = |output: std::thread::JoinHandle<String>| output.join().unwrap_or_default();
    Ok(object(json!({ "status": status.code(), "stdout": text(stdout), "stderr": text(stderr) })))
}

/// So much of a program's output is kept.
const OUTPUT_MAX: u64 = 1 << 20;

fn collect(output: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut output) = output {
            // What came before an error is still worth having; what is too much is read and dropped.
            let _ = output.by_ref().take(OUTPUT_MAX).read_to_end(&mut bytes);
            let _ = std::io::copy(&mut output, &mut std::io::sink());
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
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
