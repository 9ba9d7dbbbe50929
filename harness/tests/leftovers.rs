//! However a run ends, nothing of it stays, and what it recorded can be judged; nothing of anybody else is touched.

mod support;

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use support::{alone, command, docker_says, fencepost, left, processes, text};

/// A harness at work; killed with the test if that fails.
struct Harness {
    child: Child,
    store: tempfile::TempDir,
}

impl Harness {
    fn start(args: &str) -> Harness {
        let store = tempfile::tempdir().expect("a temporary folder");
        let mut command = command("redis/set-nx-fenced", args, store.path());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
        Harness { child, store }
    }

    fn history(&self) -> String {
        fs::read_to_string(self.store.path().join("latest/history.jsonl")).unwrap_or_default()
    }

    /// Waits until the history speaks of something.
    fn until_recorded(&self, what: &str) {
        let soon = Instant::now() + Duration::from_secs(60);
        while !self.history().contains(what) {
            assert!(Instant::now() < soon, "{what} was never recorded:\n{}", self.history());
            sleep(Duration::from_millis(50));
        }
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).expect("it lives");
    }

    /// Waits for its end: exit code, stdout as JSON (null if it is none), stderr.
    fn end(mut self) -> (Option<i32>, Value, String) {
        let child = std::mem::replace(
            &mut self.child,
            fencepost().arg("list").stdout(Stdio::null()).spawn().expect("it runs"),
        );
        let output = child.wait_with_output().expect("it ends");
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or(Value::Null), text(&output))
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        // Whatever it left, its keeper removes.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Within five seconds no container, no network and no process of the run is there; within ten its keeper has seen that
/// nothing comes up any more.
fn nothing_is_left(harness: u32, containers: &[String]) {
    let begun = Instant::now();
    let until = |seconds: u64, names: &[String]| {
        loop {
            let rest = (left(harness), processes(names));
            if rest.0.is_empty() && rest.1.is_empty() {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(seconds), "left behind: {rest:?}");
            sleep(Duration::from_millis(100));
        }
    };
    until(5, containers);
    until(10, &[format!("-{harness} ")]);
}

/// Ids of the containers that a harness made.
fn containers(harness: u32) -> Vec<String> {
    left(harness)
        .iter()
        .map(|line| {
            docker_says(&[
                "inspect",
                "--type",
                "container",
                "--format",
                "{{.Id}}",
                line.split(' ').next().unwrap_or_default(),
            ])
        })
        .filter(|id| !id.is_empty())
        .collect()
}

fn judged_again(folder: &Path) -> (Option<i32>, String) {
    let output = fencepost().arg("check").arg(folder).output().expect("the binary runs");
    (output.status.code(), text(&output))
}

fn is_long() -> bool {
    std::env::var("FENCEPOST_LONG").as_deref() == Ok("1")
}

/// Kills harnesses so long after their start. After ten seconds nothing of them is there, whatever the engine still made.
fn killed_after(moments_ms: &[u64]) {
    let mut dead = Vec::new();
    let mut late = 0;
    for after_ms in moments_ms {
        let mut harness = Harness::start("--ttl 1s --time 5s --seed 1");
        sleep(Duration::from_millis(*after_ms));
        // It may have come to its end.
        let _ = harness.child.kill();
        harness.child.wait().expect("it is reaped");
        let pid = harness.child.id();
        let killed = Instant::now();
        let mut gone = None;
        while killed.elapsed() < Duration::from_secs(10)
            && gone.is_none_or(|gone: Instant| gone.elapsed().as_secs() < 2)
        {
            match left(pid).is_empty() {
                false if gone.take().is_some() => late += 1,
                false => {}
                true => _ = gone.get_or_insert_with(Instant::now),
            }
            sleep(Duration::from_millis(100));
        }
        assert!(left(pid).is_empty(), "killed after {after_ms} ms: left behind: {:?}", left(pid));
        dead.push((*after_ms, killed, harness));
    }
    if let Some((_, last, _)) = dead.last() {
        sleep(Duration::from_secs(10).saturating_sub(last.elapsed()));
    }
    for (after_ms, _, harness) in &dead {
        let rest = (left(harness.child.id()), processes(&[format!("-{} ", harness.child.id())]));
        assert!(rest.0.is_empty() && rest.1.is_empty(), "killed after {after_ms} ms: {rest:?}");
        let folder = harness.store.path().join("latest");
        if folder.join("history.jsonl").exists() {
            let (code, text) = judged_again(&folder);
            assert!(matches!(code, Some(0..=2)), "killed after {after_ms} ms: exit {code:?}: {text}");
        }
    }
    if is_long() {
        eprintln!(
            "{} kills, nothing left after 10 s; after {late} of them something came up late",
            dead.len()
        );
    }
}

#[test]
fn of_harnesses_killed_while_they_start_nodes() {
    let Some(_alone) = alone() else { return };
    match is_long() {
        true => killed_after(&Vec::from_iter((0..60).map(|kill| 20 + kill * 33))),
        false => killed_after(&[400, 550, 700, 900]),
    }
}

#[test]
fn of_harnesses_killed_anywhere() {
    let Some(_alone) = alone() else { return };
    if is_long() {
        killed_after(&Vec::from_iter((0..20).map(|kill| 400 + kill * 470)));
    }
}

#[test]
fn of_a_harness_killed_while_it_starts_nodes() {
    let Some(_alone) = alone() else { return };
    for after_ms in [300, 800, 1300, 1800] {
        let mut harness = Harness::start("--ttl 1s --time 30s --seed 1");
        sleep(Duration::from_millis(after_ms));
        let containers = containers(harness.child.id());
        harness.child.kill().expect("it lives");
        harness.child.wait().expect("it is reaped");
        nothing_is_left(harness.child.id(), &containers);
        let folder = harness.store.path().join("latest");
        if folder.join("history.jsonl").exists() {
            let (code, text) = judged_again(&folder);
            assert_eq!(code, Some(2), "killed after {after_ms} ms: {text}");
        }
    }
}

#[test]
fn of_a_harness_killed_while_clients_work_and_a_fault_is_on() {
    let Some(_alone) = alone() else { return };
    for recorded in ["\"acquire\"", "start-pause"] {
        let mut harness = Harness::start("--ttl 1s --time 30s --seed 1 --faults pause:holder");
        harness.until_recorded(recorded);
        let containers = containers(harness.child.id());
        assert!(containers.len() >= 7, "server, resource and five clients are there: {containers:?}");
        harness.child.kill().expect("it lives");
        harness.child.wait().expect("it is reaped");
        nothing_is_left(harness.child.id(), &containers);
        let (code, text) = judged_again(&harness.store.path().join("latest"));
        assert!(matches!(code, Some(1 | 2)), "exit {code:?}: {text}");
        assert!(text.contains("The run ended early: the harness ended before the run did"), "{text}");
    }
}

#[test]
fn of_an_interrupted_run() {
    let Some(_alone) = alone() else { return };
    [Signal::SIGINT, Signal::SIGHUP].into_iter().for_each(interrupted_by);
}

fn interrupted_by(signal: Signal) {
    let harness = Harness::start("--ttl 1s --time 30s --seed 1 --faults pause:holder");
    harness.until_recorded("start-pause");
    let (pid, containers) = (harness.child.id(), containers(harness.child.id()));
    harness.signal(signal);
    let (code, verdict, text) = harness.end();
    assert_eq!(code, Some(130), "{text}");
    assert_eq!(verdict["stopped"], "interrupted", "{text}");
    let faults = verdict["faults"].as_array().expect("faults");
    assert!(!faults.is_empty() && faults.iter().all(|fault| fault["healed"] == true), "{text}");
    assert!(verdict["checks"]["exclusion"]["verdict"].is_string(), "what there is was judged: {text}");
    nothing_is_left(pid, &containers);
}

#[test]
fn of_a_run_interrupted_while_it_starts_nodes() {
    let Some(_alone) = alone() else { return };
    let harness = Harness::start("--ttl 1s --time 30s --seed 1");
    sleep(Duration::from_millis(900));
    let (pid, containers) = (harness.child.id(), containers(harness.child.id()));
    harness.signal(Signal::SIGINT);
    let (code, _, text) = harness.end();
    assert_eq!(code, Some(130), "{text}");
    nothing_is_left(pid, &containers);
}

#[test]
fn a_keeper_holds_nothing_that_was_open_before() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = "exec 9> lock; exec \"$0\" keep no-such-run";
    let mut keeper = Command::new("sh");
    keeper.args(["-c", script, env!("CARGO_BIN_EXE_fencepost")]).current_dir(folder.path());
    let mut keeper = keeper.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("sh runs");
    let open = || {
        let all = fs::read_dir(format!("/proc/{}/fd", keeper.id())).expect("it lives").flatten();
        all.filter_map(|entry| fs::read_link(entry.path()).ok()).collect::<Vec<_>>()
    };
    let soon = Instant::now() + Duration::from_secs(5);
    // It has descriptors of its own once it waits.
    while !open().iter().any(|file| file.to_string_lossy().contains("eventpoll")) {
        assert!(Instant::now() < soon, "it never began: {:?}", open());
        sleep(Duration::from_millis(20));
    }
    assert!(!open().contains(&folder.path().join("lock")), "{:?}", open());
    keeper.kill().expect("it lives");
    keeper.wait().expect("it is reaped");
}

#[test]
fn of_a_run_interrupted_twice() {
    let Some(_alone) = alone() else { return };
    let harness = Harness::start("--ttl 1s --time 30s --seed 1 --faults pause:holder");
    harness.until_recorded("start-pause");
    let (pid, containers) = (harness.child.id(), containers(harness.child.id()));
    harness.signal(Signal::SIGINT);
    sleep(Duration::from_millis(200));
    harness.signal(Signal::SIGINT);
    let (code, _, text) = harness.end();
    assert_eq!(code, Some(130), "{text}");
    nothing_is_left(pid, &containers);
}

/// Two capabilities, nothing of the host, and a network that leads nowhere.
fn has_only_what_it_needs(container: &str) {
    let said: Value = serde_json::from_str(&docker_says(&["inspect", container])).expect("docker inspects");
    let host = &said[0]["HostConfig"];
    let caps = host["CapAdd"].to_string().replace("CAP_", "");
    assert_eq!(caps, r#"["NET_ADMIN","SYS_PTRACE"]"#);
    assert_eq!(host["CapDrop"].to_string(), r#"["ALL"]"#);
    assert_eq!(host["Privileged"], false);
    assert_eq!(host["SecurityOpt"].to_string(), r#"["no-new-privileges"]"#);
    let limits = ["Memory", "MemorySwap", "PidsLimit"].map(|name| host[name].as_i64().unwrap_or_default());
    assert!(limits[0] >= 512 << 20 && limits[1] == limits[0] && limits[2] == 4096, "{limits:?}");
    assert!(host["Tmpfs"].to_string().contains("size="), "{host:#}");
    assert!(
        host["Binds"].is_null()
            && host["Mounts"].is_null()
            && host["Devices"].as_array().is_none_or(Vec::is_empty),
        "{host:#}"
    );
    let mounts = said[0]["Mounts"].as_array().expect("mounts");
    assert!(mounts.iter().all(|mount| mount["Type"] != "bind"), "{mounts:?}");
    assert!(host["PortBindings"].as_object().is_none_or(serde_json::Map::is_empty), "{host:#}");
    assert!(host["PidMode"] == "" && host["IpcMode"] != "host" && host["UTSMode"] == "", "{host:#}");
    let network = host["NetworkMode"].as_str().expect("a network");
    assert!(network.starts_with("fencepost-"), "{network}");
    let network: Value =
        serde_json::from_str(&docker_says(&["network", "inspect", network])).expect("docker inspects");
    assert_eq!(network[0]["Internal"], true);
    let subnet = network[0]["IPAM"]["Config"][0]["Subnet"].as_str().expect("a subnet");
    assert!(subnet.starts_with("198.18.") || subnet.starts_with("198.19."), "{subnet}");
}

/// Somebody else's container on somebody else's network, named as ours are; removed at the end.
struct Foreign(String);

impl Foreign {
    fn make() -> Foreign {
        let foreign = Foreign(format!("fencepost-foreign-{}", std::process::id()));
        docker_says(&["network", "create", "--label", "test.foreign=1", &foreign.0]);
        docker_says(&[
            "run",
            "-d",
            "--label",
            "test.foreign=1",
            "--name",
            &foreign.0,
            "--network",
            &foreign.0,
            "fencepost/redis:7.0",
            "sleep",
            "300",
        ]);
        assert!(foreign.is_there(), "the foreign container runs");
        foreign
    }

    fn is_there(&self) -> bool {
        let running = docker_says(&["inspect", "--format", "{{.State.Running}} {{.RestartCount}}", &self.0]);
        running == "true 0"
            && docker_says(&["network", "inspect", "--format", "{{.Name}}", &self.0]) == self.0
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        docker_says(&["rm", "-f", &self.0]);
        docker_says(&["network", "rm", &self.0]);
    }
}

/// From a node, what listens on this host is not there, at any of its addresses.
fn does_not_reach_the_host(server: &str) {
    let listener = TcpListener::bind("0.0.0.0:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let own = docker_says(&[
        "inspect",
        "--format",
        "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}",
        server,
    ]);
    let (network, _) = own.rsplit_once('.').expect("an address");
    let others = Command::new("hostname").arg("-I").output().expect("hostname runs").stdout;
    let others = String::from_utf8_lossy(&others).into_owned();
    let others = others.split_whitespace().filter(|address| !address.contains(':')).map(str::to_string);
    for address in others.chain([format!("{network}.1")]) {
        let knock = format!("timeout 2 bash -c 'echo > /dev/tcp/{address}/{port}' && echo reached");
        assert_eq!(docker_says(&["exec", server, "sh", "-c", &knock]), "", "{address}");
    }
}

#[test]
fn nodes_are_confined_and_what_is_foreign_stays_and_so_does_a_living_run() {
    let Some(_alone) = alone() else { return };
    let harness = Harness::start("--ttl 1s --time 30s --seed 1");
    harness.until_recorded("\"acquire\"");
    let nodes = containers(harness.child.id());
    assert!(nodes.len() >= 7, "server, resource and five clients are there: {nodes:?}");
    nodes.iter().for_each(|node| has_only_what_it_needs(node));
    let server = left(harness.child.id()).into_iter().find_map(|line| {
        let name = line.split(' ').next()?.to_string();
        name.ends_with("-s1").then_some(name)
    });
    does_not_reach_the_host(&server.expect("a server"));
    let foreign = Foreign::make();
    let (pid, before) = (harness.child.id(), left(harness.child.id()));
    let output = fencepost().arg("clean").output().expect("the binary runs");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(left(pid), before, "a living run is left alone: {}", text(&output));
    harness.signal(Signal::SIGINT);
    harness.end();
    nothing_is_left(pid, &nodes);
    assert!(foreign.is_there(), "neither the run nor `clean` touched what is not ours");
}
