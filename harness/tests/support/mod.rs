//! What the tests on real servers share.
#![expect(dead_code, reason = "each test binary uses a part of it")]

pub mod agent;
pub mod harness;
pub mod proxy;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

/// Whether a Docker engine is there. Says so loudly when not, and fails where continuous integration demands one.
pub fn docker() -> bool {
    let there = Command::new("docker").arg("info").stdout(Stdio::null()).stderr(Stdio::null()).status();
    there.is_ok_and(|status| status.success()) || skipped("no Docker engine answers")
}

/// `false`, said loudly; a failure where continuous integration demands that nothing is skipped.
pub fn skipped(why: &str) -> bool {
    assert!(
        std::env::var("FENCEPOST_REQUIRE_DOCKER").as_deref() != Ok("1"),
        "FENCEPOST_REQUIRE_DOCKER=1, and {why}"
    );
    eprintln!("\n*** SKIPPED: {why}; nothing was tested on real servers ***\n");
    false
}

/// Held by a test while it runs servers: runs beside each other disturb each other's timing. Released by the kernel
/// with the process, and seen by all test binaries. `None` without an engine, as [`docker`] says.
pub fn alone() -> Option<File> {
    if !docker() {
        return None;
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("servers.lock");
    let file = File::create(&path).expect("the lock file can be made");
    file.lock().expect("the lock can be had");
    Some(file)
}

/// The binary.
pub fn fencepost() -> Command {
    apart(Command::new(env!("CARGO_BIN_EXE_fencepost")))
}

/// The same, and it ends at a hang-up, though whoever runs the tests ignores them (nohup).
pub fn hearing_hang_ups() -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal=HUP").arg(env!("CARGO_BIN_EXE_fencepost"));
    apart(command)
}

/// Whatever terminal and settings there are where the tests run.
fn apart(mut command: Command) -> Command {
    command.env("CI", "true").env("NO_COLOR", "1").env_remove("FENCEPOST_STORE").stdin(Stdio::null());
    command
}

/// A finished `run --json`.
pub struct Ran {
    /// Its exit code.
    pub code: i32,
    /// `verdict.json`
    pub verdict: Value,
    /// Everything on stderr.
    pub stderr: String,
    /// Where it was kept.
    pub store: tempfile::TempDir,
}

impl Ran {
    /// A check's verdict.
    pub fn check(&self, name: &str) -> &str {
        self.verdict["checks"][name]["verdict"].as_str().unwrap_or("absent")
    }

    /// A figure of a check.
    pub fn figure(&self, check: &str, name: &str) -> &Value {
        &self.verdict["checks"][check][name]
    }

    /// The faults.
    pub fn faults(&self) -> &[Value] {
        self.verdict["faults"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The run's folder.
    pub fn folder(&self) -> PathBuf {
        self.store.path().join("latest")
    }

    /// Fails with everything there is to know.
    pub fn must(&self, holds: bool, what: &str) {
        assert!(holds, "{what}\nexit {}\n{:#}\n{}", self.code, self.verdict, self.stderr);
    }

    /// The exit code, and what checks say: `exclusion=invalid token=valid`.
    pub fn says(&self, code: i32, checks: &str) {
        self.must(self.code == code, &format!("exit {code} expected"));
        for (check, verdict) in checks.split_whitespace().filter_map(|pair| pair.split_once('=')) {
            self.must(self.check(check) == verdict, &format!("{check} must be {verdict}"));
        }
    }

    /// Some fault of each of these kinds took effect, and every one shows evidence for each node it hit and was healed.
    /// Only one aimed at a holder may have found none, and then it must say so.
    pub fn all_installed(&self, kinds: &[&str]) {
        for kind in kinds {
            let installed = |fault: &Value| fault["kind"] == *kind && fault["result"] == "installed";
            self.must(self.faults().iter().any(installed), &format!("a {kind} was installed"));
        }
        for fault in self.faults() {
            if fault["result"] == "failed" && fault["evidence"]["reason"] == "nobody holds the lock" {
                continue;
            }
            let targets = fault["targets"].as_array().map_or(&[][..], Vec::as_slice);
            let shown = |node: &Value| node.as_str().is_some_and(|node| fault["evidence"][node].is_object());
            let proved = !targets.is_empty() && targets.iter().all(shown);
            self.must(
                fault["result"] == "installed" && proved,
                &format!("fault {} has evidence", fault["id"]),
            );
            self.must(fault["healed"] == true, &format!("fault {} is healed", fault["id"]));
        }
    }
}

/// Runs a recipe on docker with these further arguments.
pub fn run(recipe: &str, args: &str) -> Ran {
    let store = tempfile::tempdir().expect("a temporary folder");
    let output = command(recipe, args, store.path()).output().expect("the binary runs");
    let verdict = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{recipe} {args}: {error}: exit {:?}\n{}", output.status.code(), text(&output))
    });
    Ran {
        code: output.status.code().unwrap_or(-1),
        verdict,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        store,
    }
}

/// Runs an experiment file.
pub fn run_file(experiment: &str) -> Ran {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("experiment.toml");
    std::fs::write(&path, experiment).expect("the experiment is written");
    run(&path.display().to_string(), "")
}

/// The command that [`run`] runs.
pub fn command(recipe: &str, args: &str, store: &Path) -> Command {
    let mut command = hearing_hang_ups();
    command
        .args(["run", recipe, "--on", "docker", "--json", "--store"])
        .arg(store)
        .args(args.split_whitespace());
    command
}

/// Both outputs.
pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// What `docker` prints on stdout.
pub fn docker_says(args: &[&str]) -> String {
    let output = Command::new("docker").args(args).output().expect("docker runs");
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

/// Names of containers and networks of the run that the harness of this pid made.
pub fn left(harness: u32) -> Vec<String> {
    let containers = docker_says(&[
        "ps",
        "-a",
        "--filter",
        "label=fencepost.run",
        "--format",
        "{{.Names}} {{.Label \"fencepost.owner\"}}",
    ]);
    let networks = docker_says(&[
        "network",
        "ls",
        "--filter",
        "label=fencepost.run",
        "--format",
        "{{.Name}} {{.Label \"fencepost.owner\"}}",
    ]);
    // The label is host/boot/pid/start/namespace.
    let owned = |line: &&str| line.split('/').nth(2) == Some(&harness.to_string());
    containers.lines().chain(networks.lines()).filter(owned).map(str::to_string).collect()
}

/// Processes on this machine whose control group or arguments name one of these.
pub fn processes(names: &[String]) -> Vec<String> {
    let read = |entry: &Path, file: &str| fs::read_to_string(entry.join(file)).unwrap_or_default();
    let entries = fs::read_dir("/proc").expect("/proc is there").flatten().map(|entry| entry.path());
    entries
        .filter(|entry| entry.file_name().is_some_and(|name| name.to_string_lossy().parse::<u32>().is_ok()))
        .map(|entry| {
            format!(
                "{} {} {}",
                entry.display(),
                read(&entry, "cgroup"),
                read(&entry, "cmdline").replace('\0', " ")
            )
        })
        .filter(|process| names.iter().any(|name| process.contains(name.as_str())))
        .collect()
}
