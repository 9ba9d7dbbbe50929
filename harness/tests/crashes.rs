//! A server that ends by itself is a finding, whatever else was kept: it is named wherever a run is told.

mod support;

use std::{
    fs,
    thread::sleep,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use support::{Ran, alone, fencepost, harness::Harness, left};

/// The server crashes: what it would do by itself if it read a wrong address.
fn crash(harness: &Harness, node: &str) {
    let is_server = |pid: &&Pid| {
        let name = fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_nonzero())).unwrap_or_default();
        name.trim() == "redis-server"
    };
    let pids = harness.of_nodes(Some(node));
    let server = pids.iter().find(is_server).expect("the server runs");
    kill(*server, Signal::SIGSEGV).expect("it is there");
}

/// Waits until something of this second of the run is recorded.
fn until_second(harness: &Harness, second: u64) {
    let later = |line: &str| {
        let event = serde_json::from_str::<Value>(line).unwrap_or_default();
        event["time"].as_u64() >= Some(second * 1_000_000_000)
    };
    let soon = Instant::now() + Duration::from_secs(90);
    while !harness.history().lines().any(later) {
        assert!(Instant::now() < soon, "nothing of second {second} was recorded");
        sleep(Duration::from_millis(50));
    }
}

fn report(ran: &Ran, format: &str) -> String {
    let output = fencepost().arg("report").arg(ran.folder()).args(["--format", format]).output();
    String::from_utf8(output.expect("the binary runs").stdout).expect("text")
}

#[test]
fn at_the_start_and_at_the_end_break_no_other_promise_and_are_named() {
    let Some(_alone) = alone() else { return };
    let harness = Harness::start("redis/redlock", "--nodes 5 --time 8s --seed 1");
    let pid = harness.child.id();
    harness.until_recorded("\"phase\"", 1);
    crash(&harness, "s1");
    until_second(&harness, 7);
    crash(&harness, "s2");
    let ran = harness.end();
    ran.says(1, "crash=invalid liveness=valid promise=valid");
    let (exits, check) = (&ran.verdict["exits"], &ran.verdict["checks"]["crash"]);
    ran.must(exits[0]["node"] == "s1" && exits[1]["node"] == "s2", "both are told in order");
    ran.must(exits[0]["status"].as_str().is_some_and(|how| how.contains("SIGSEGV")), "and how");
    ran.must(check["count"] == 2 && check["blame"] == "service", "as two findings");
    let help = ran.verdict["help"][0]["prevented_by"].as_str().unwrap_or_default();
    ran.must(help.contains("its own log, under nodes/"), "the help is about servers");
    for format in ["table", "md", "junit", "html"] {
        let told = report(&ran, format);
        ran.must(told.contains("s1 ended by itself at"), &format!("{format} tells of it:\n{told}"));
        ran.must(!told.contains("without faults"), format);
    }
    assert_eq!(left(pid), Vec::<String>::new(), "nothing is left");
}

#[test]
fn in_the_run_take_the_blame_for_what_never_comes_again() {
    let Some(_alone) = alone() else { return };
    let harness = Harness::start("redis/set-nx", "--ttl 1s --time 4s --seed 1 --expect any");
    harness.until_recorded("\"acquire\"", 20);
    crash(&harness, "s1");
    let ran = harness.end();
    ran.says(0, "crash=invalid liveness=invalid");
    let liveness = &ran.verdict["checks"]["liveness"];
    let text = liveness["violations"][0]["text"].as_str().unwrap_or_default();
    ran.must(
        liveness["blame"] == "service" && text.contains("but s1 had ended by itself at"),
        "not the recipe",
    );
}
