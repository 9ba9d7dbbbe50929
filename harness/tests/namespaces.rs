//! Harnesses that do not see each other's processes, as in containers of continuous integration, share an engine.

mod support;

use std::{
    fs,
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use support::{alone, docker_says, fencepost, skipped, text};

/// A harness in a PID namespace of its own, under the host's name.
struct Apart {
    child: Child,
    store: tempfile::TempDir,
}

fn can_be_tried() -> bool {
    let tried = Command::new("unshare").args(["--pid", "--fork", "--mount-proc", "true"]).output();
    tried.is_ok_and(|tried| tried.status.success()) || skipped("PID namespaces need root")
}

/// The binary with these arguments in a new PID namespace; everything in it ends with `unshare`.
fn apart(arguments: &[&str], store: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc", env!("CARGO_BIN_EXE_fencepost")]);
    command.args(arguments).arg("--store").arg(store);
    command.env("CI", "true").env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

impl Apart {
    fn start(time: &str) -> Apart {
        let store = tempfile::tempdir().expect("a temporary folder");
        let run = [
            "run",
            "redis/set-nx",
            "--on",
            "docker",
            "--json",
            "--ttl",
            "1s",
            "--clients",
            "2",
            "--seed",
            "1",
        ];
        let mut command = apart(&[&run[..], &["--time", time]].concat(), store.path());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let apart = Apart { child, store };
        let soon = Instant::now() + Duration::from_secs(60);
        while !apart.history().contains("\"acquire\"") {
            assert!(Instant::now() < soon, "it never came to work:\n{}", apart.history());
            sleep(Duration::from_millis(50));
        }
        apart
    }

    fn history(&self) -> String {
        fs::read_to_string(self.store.path().join("latest/history.jsonl")).unwrap_or_default()
    }

    /// Its containers and its network.
    fn things(&self) -> Vec<String> {
        let told = fs::read_link(self.store.path().join("latest")).expect("the latest run");
        let stamp = told.file_name().expect("a name").to_string_lossy().to_lowercase();
        let all = docker_says(&["ps", "-a", "--filter", "label=fencepost.run", "--format", "{{.Names}}"])
            + "\n"
            + &docker_says(&["network", "ls", "--filter", "label=fencepost.run", "--format", "{{.Name}}"]);
        let of_run = |name: &&str| name.starts_with(&format!("fencepost-{stamp}-"));
        all.lines().filter(of_run).map(str::to_string).collect()
    }

    /// `clean` among its processes.
    fn clean(&self) -> String {
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        let inner = fs::read_to_string(children).expect("unshare has a child");
        let mut enter = Command::new("nsenter");
        enter.args(["--target", inner.trim(), "--pid", "--mount", env!("CARGO_BIN_EXE_fencepost"), "clean"]);
        cleaned(&enter.output().expect("nsenter runs"))
    }

    fn end(self) -> Output {
        self.child.wait_with_output().expect("it ends")
    }
}

fn cleaned(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(output));
    text(output)
}

#[test]
fn runs_in_two_pid_namespaces_leave_each_other_alone() {
    let Some(_alone) = alone() else { return };
    if !can_be_tried() {
        return;
    }
    let one = Apart::start("12s");
    let before = one.things();
    assert!(before.len() >= 5, "a server, a resource, two clients and a network: {before:?}");
    // Its start is one more that looks for what dead runs left.
    let other = Apart::start("4s");
    assert_eq!(one.things(), before);
    let others = other.things();
    for (own, foreign) in [(&one, &others), (&other, &before)] {
        let said = own.clean();
        assert!(!said.contains("removed"), "{said}");
        assert!(foreign.iter().all(|thing| said.contains(&format!("left alone {thing}: "))), "{said}");
    }
    let said = cleaned(&fencepost().arg("clean").output().expect("the binary runs"));
    assert!(!said.contains("removed"), "all are seen to live where all processes are seen: {said}");
    assert_eq!((one.things(), other.things()), (before, others));
    for run in [other, one] {
        let output = run.end();
        assert!(matches!(output.status.code(), Some(0 | 2)), "{}", text(&output));
    }
}

#[test]
fn what_a_dead_namespace_leaves_ends_by_itself_or_is_found_by_clean() {
    let Some(_alone) = alone() else { return };
    if !can_be_tried() {
        return;
    }
    let mut run = Apart::start("60s");
    // Its keeper dies with it.
    run.child.kill().expect("it lives");
    run.child.wait().expect("it is reaped");
    let soon = Instant::now() + Duration::from_secs(40);
    let is_network = |things: &[String]| matches!(things, [network] if network.matches('-').count() == 3);
    while !is_network(&run.things()) {
        assert!(Instant::now() < soon, "left behind: {:?}", run.things());
        sleep(Duration::from_millis(200));
    }
    let network = run.things().concat();
    let store = tempfile::tempdir().expect("a temporary folder");
    let elsewhere = Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc", env!("CARGO_BIN_EXE_fencepost"), "clean"])
        .current_dir(store.path())
        .output();
    let said = cleaned(&elsewhere.expect("unshare runs"));
    assert!(said.contains(&format!("left alone {network}: ")), "{said}");
    // Where all processes of the machine are seen, it is known to be dead.
    let said = cleaned(&fencepost().arg("clean").output().expect("the binary runs"));
    if fs::read_link("/proc/self/ns/pid").is_ok_and(|own| own == Path::new("pid:[4026531836]")) {
        assert!(said.contains(&format!("removed {network}\n")) && run.things().is_empty(), "{said}");
    } else {
        docker_says(&["network", "rm", &network]);
    }
}
