//! A machine that stood still, or was so busy that it might as well have, accuses nobody; and hides nothing.
//!
//! `FENCEPOST_LONG=1` makes all of it longer and more often, and tells what came of each run.

mod support;

use std::{
    fs,
    path::Path,
    process::{Child, Command},
    thread::sleep,
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use support::{
    Ran,
    agent::{Agent, start},
    alone,
    harness::Harness,
    left,
};

/// How much of it.
struct Measure {
    spinners: usize,
    /// Of runs beside spinners, in seconds.
    run_s: u64,
    times: usize,
    stop: Duration,
}

fn measure() -> Measure {
    match std::env::var("FENCEPOST_LONG").as_deref() {
        Ok("1") => Measure { spinners: 64, run_s: 30, times: 10, stop: Duration::from_secs(30) },
        _ => Measure { spinners: 32, run_s: 8, times: 1, stop: Duration::from_secs(5) },
    }
}

/// Recipes that are sound without faults.
const SOUND: [&str; 2] = ["redis/set-nx-fenced", "redis/set-nx"];

/// Stops these processes for a while, from outside of everything that Fencepost does.
fn stop(pids: &[Pid], length: Duration) {
    // A process may end meanwhile.
    let send = |signal| pids.iter().for_each(|pid| _ = kill(*pid, signal));
    send(Signal::SIGSTOP);
    sleep(length);
    send(Signal::SIGCONT);
}

/// Processes that do nothing but that, at normal priority, until this is dropped or the test is gone.
struct Spinners(Vec<Child>);

impl Spinners {
    fn start(count: usize) -> Spinners {
        let script = "while [ -d /proc/$PPID ]; do i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; done";
        let spin = || Command::new("sh").args(["-c", script]).spawn().expect("sh runs");
        Spinners((0..count).map(|_| spin()).collect())
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for spinner in &mut self.0 {
            // Each is there until it is killed here.
            let _ = spinner.kill();
            let _ = spinner.wait();
        }
    }
}

/// Each stall of the history: node, from and to in nanoseconds.
fn stalls(folder: &Path) -> Vec<(String, u64, u64)> {
    let history = fs::read_to_string(folder.join("history.jsonl")).expect("there is a history");
    let events = history.lines().map(|line| serde_json::from_str::<Value>(line).expect("an event"));
    let stall = |event: Value| {
        let value = &event["value"];
        Some((value["node"].as_str()?.to_string(), value["from_ns"].as_u64()?, value["to_ns"].as_u64()?))
    };
    events.filter(|event| event["f"] == "stall").filter_map(stall).collect()
}

/// Nobody is accused, and nothing is unknown but what was set aside, with that as the reason.
///
/// An update may be lost indeed, when a client stands still in the midst of a critical section for longer than its lock
/// lives. No stall sets that aside, for it happened; it blames nobody.
fn accuses_nobody(ran: &Ran) {
    let checks = ran.verdict["checks"].as_object().expect("checks");
    for (name, check) in checks.iter().filter(|(_, check)| check["verdict"] == "invalid") {
        ran.must(name == "damage" && check["blame"].is_null(), &format!("{name} accuses nobody"));
    }
    ran.must(matches!(ran.code, 0..=2), "it comes to its end");
    for (name, check) in checks.iter().filter(|(_, check)| check["verdict"] == "unknown") {
        ran.must(
            check["set_aside"].as_u64() > Some(0),
            &format!("{name} is unknown, and nothing was set aside"),
        );
        let reason = check["reason"].as_str().unwrap_or_default();
        ran.must(reason.contains("stood still"), &format!("{name} names the reason: {reason}"));
    }
}

fn tell(what: &str, ran: &Ran) {
    let checks = ran.verdict["checks"].as_object().into_iter().flatten();
    let not_valid: Vec<String> = checks
        .map(|(name, check)| (name, check["verdict"].as_str(), check["set_aside"].as_u64().unwrap_or(0)))
        .filter(|(_, verdict, set_aside)| *verdict != Some("valid") || *set_aside > 0)
        .map(|(name, verdict, set_aside)| {
            format!("{name} {} ({set_aside} set aside)", verdict.unwrap_or("?"))
        })
        .collect();
    let stalls = &ran.verdict["stalls"];
    eprintln!(
        "{what}: exit {}, {}, {} stalls, {} ms in all, longest {} ms; {}",
        ran.code,
        ran.verdict["verdict"],
        stalls["count"],
        stalls["total_ms"],
        stalls["longest_ms"],
        if not_valid.is_empty() { "all valid".into() } else { not_valid.join(", ") }
    );
}

/// Gives a command; what the agent told of stalls until it answered, in milliseconds.
fn stalls_until(agent: &mut Agent, command: &str) -> Vec<u64> {
    agent.ask(command);
    let of = |told: Value| {
        told["stall"]["came_ns"]
            .as_u64()
            .zip(told["stall"]["due_ns"].as_u64())
            .map(|(a, b)| (a - b) / 1_000_000)
    };
    agent.told.drain(..).filter_map(of).collect()
}

fn stop_for(agent: &Agent, ms: u64) {
    // A tick just after a fault's end is still counted to the fault; on a busy machine it may take its time.
    sleep(Duration::from_millis(700));
    stop(&[Pid::from_raw(agent.child.id() as i32)], Duration::from_millis(ms));
    // Until the tick has come.
    sleep(Duration::from_millis(700));
}

#[test]
fn of_an_agent_are_told_but_not_while_a_fault_halts_its_node() {
    let mut agent = Agent::start();
    // On a busy machine there may be short ones of its own.
    let long = |stalls: Vec<u64>| stalls.into_iter().filter(|ms| *ms >= 450).count();
    stalls_until(&mut agent, r#"{"watch":{"limit_ms":100,"every_ms":20}}"#);
    stop_for(&agent, 600);
    assert_eq!(long(stalls_until(&mut agent, "\"unwatch\"")), 1, "it stood still");
    stop_for(&agent, 600);
    stalls_until(&mut agent, r#"{"watch":{"limit_ms":100,"every_ms":20}}"#);
    agent.ask(&start("sleep", &["60"]));
    stalls_until(&mut agent, "\"pause\"");
    stop_for(&agent, 600);
    assert_eq!(long(stalls_until(&mut agent, "\"resume\"")), 0, "nobody ticked, then a pause of ours was on");
    stop_for(&agent, 600);
    assert_eq!(long(stalls_until(&mut agent, "\"kill\"")), 1, "the pause is over");
    stop_for(&agent, 600);
    assert_eq!(long(stalls_until(&mut agent, "\"unwatch\"")), 0, "its process was killed");
}

#[test]
fn of_everything_accuse_nobody() {
    let Some(_alone) = alone() else { return };
    let Measure { stop: length, .. } = measure();
    let harness = Harness::start("redis/set-nx", "--ttl 1s --time 8s --seed 3");
    let pid = harness.child.id();
    harness.until_recorded("\"acquire\"", 20);
    // One node alone, then everything.
    stop(&harness.of_nodes(Some("c2")), Duration::from_millis(600));
    harness.until_recorded("\"stall\"", 1);
    let nodes = harness.of_nodes(None);
    assert!(nodes.len() >= 14, "an agent and its process on each of seven nodes: {nodes:?}");
    let everything: Vec<Pid> = [Pid::from_raw(harness.child.id() as i32)].into_iter().chain(nodes).collect();
    stop(&everything, length);
    let ran = harness.end();
    tell("everything stood still", &ran);
    accuses_nobody(&ran);
    let stalls = &ran.verdict["stalls"];
    let at_least = length.as_millis() as f64 - 200.0;
    for node in ["harness", "s1", "resource", "c1", "c2", "c3", "c4", "c5"] {
        let longest = stalls["nodes"][node]["longest_ms"].as_f64();
        ran.must(longest.is_some_and(|ms| ms > at_least), &format!("{node} stood still"));
    }
    ran.must(stalls["nodes"]["c2"]["count"].as_u64() >= Some(2), "c2 stood still alone, too");
    ran.must(stalls["total_ms"].as_f64() < Some(2.0 * (at_least + 1000.0)), "at once counts once");
    let page = fs::read_to_string(ran.folder().join("report.html")).expect("there is a report");
    ran.must(page.contains("stood still though no fault of this run did that"), "the report tells of it");
    assert_eq!(left(pid), Vec::<String>::new(), "nothing is left");
}

/// Its nodes cannot know that it comes back; it says what has become of them, and accuses nobody.
#[test]
fn of_the_harness_alone_end_its_nodes_and_fail_the_run() {
    if std::env::var("FENCEPOST_LONG").as_deref() != Ok("1") {
        eprintln!("only with FENCEPOST_LONG=1: nodes wait half a minute");
        return;
    }
    let Some(_alone) = alone() else { return };
    let harness = Harness::start("redis/set-nx", "--ttl 1s --time 60s --seed 3");
    let pid = harness.child.id();
    harness.until_recorded("\"acquire\"", 20);
    stop(&[Pid::from_raw(harness.child.id() as i32)], Duration::from_secs(45));
    let ran = harness.end();
    tell("the harness stood still", &ran);
    ran.must(ran.code == 70, "that is a failure of the harness");
    ran.must(ran.stderr.contains("heard nothing from here for 30s and ended"), "which it explains");
    ran.must(ran.verdict["verdict"] != "invalid", "and nobody's fault");
    assert_eq!(left(pid), Vec::<String>::new(), "nothing is left");
}

#[test]
fn of_a_busy_machine_accuse_nobody() {
    let Some(_alone) = alone() else { return };
    let Measure { spinners, run_s, times, .. } = measure();
    for round in 0..times {
        let recipe = SOUND[round % SOUND.len()];
        let harness = Harness::start(recipe, &format!("--time {run_s}s --seed {}", round + 1));
        let pid = harness.child.id();
        harness.until_recorded("\"phase\"", 1);
        let busy = Spinners::start(spinners);
        let ran = harness.end();
        drop(busy);
        tell(&format!("{recipe} beside {spinners} spinners"), &ran);
        accuses_nobody(&ran);
        ran.must(ran.verdict["grants"]["contended"].as_u64() >= Some(10), "there was something at stake");
        assert_eq!(left(pid), Vec::<String>::new(), "nothing is left");
    }
}

/// Holds are so long that the holder still is one when the busy harness has heard of it.
const PAUSED: &str = r#"
name = "paused-on-a-busy-machine"
recipe = "redis/set-nx"
clients = 5
ttl = "2s"
[rates]
hold_percent = [50, 80]
[faults.pause]
target = "holder"
every = "5s"
lasts = "4s"
"#;

#[test]
fn of_a_busy_machine_hide_nothing() {
    let Some(_alone) = alone() else { return };
    let Measure { spinners, run_s, times, .. } = measure();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("paused.toml");
    fs::write(&file, PAUSED).expect("the experiment is written");
    for round in 0..times {
        let args = format!("--time {}s --seed {}", run_s + 4, round + 1);
        let harness = Harness::start(&file.display().to_string(), &args);
        harness.until_recorded("\"phase\"", 1);
        let busy = Spinners::start(spinners);
        let ran = harness.end();
        drop(busy);
        tell(&format!("redis/set-nx paused, beside {spinners} spinners"), &ran);
        ran.says(1, "exclusion=invalid");
        ran.all_installed(&["pause"]);
        // What a pause of ours halts does not stand still by itself.
        let told = stalls(&ran.folder());
        for fault in ran.faults().iter().filter(|fault| fault["result"] == "installed") {
            let (from, to) = (fault["start_ns"].as_u64(), fault["end_ns"].as_u64());
            let paused = |(node, begin, end): &&(String, u64, u64)| {
                fault["targets"][0] == node.as_str() && Some(*begin) >= from && Some(*end) <= to
            };
            let wrong = told.iter().find(paused);
            ran.must(wrong.is_none(), &format!("no stall of a paused node: {wrong:?}"));
        }
    }
}
