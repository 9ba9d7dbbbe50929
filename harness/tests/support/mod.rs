//! What the tests on real servers share.
#![expect(dead_code, reason = "each test binary uses a part of it")]

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

/// Whether a Docker engine is there. Says so loudly when not, and fails where continuous integration demands one.
pub fn docker() -> bool {
    let there = Command::new("docker").arg("info").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        return true;
    }
    assert!(
        std::env::var("FENCEPOST_REQUIRE_DOCKER").as_deref() != Ok("1"),
        "FENCEPOST_REQUIRE_DOCKER=1, and no Docker engine answers"
    );
    eprintln!("\n*** SKIPPED: no Docker engine answers; nothing was tested on real servers ***\n");
    false
}

/// The binary.
pub fn fencepost() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.env("CI", "true").env("NO_COLOR", "1").env_remove("FENCEPOST_STORE");
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

    /// The run's folder.
    pub fn folder(&self) -> std::path::PathBuf {
        self.store.path().join("latest")
    }

    /// Fails with everything there is to know.
    pub fn must(&self, holds: bool, what: &str) {
        assert!(holds, "{what}\nexit {}\n{:#}\n{}", self.code, self.verdict, self.stderr);
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

/// The command that [`run`] runs.
pub fn command(recipe: &str, args: &str, store: &Path) -> Command {
    let mut command = fencepost();
    command
        .args(["run", recipe, "--on", "docker", "--json", "--store"])
        .arg(store)
        .args(args.split_whitespace());
    command.stdin(Stdio::null());
    command
}

/// Both outputs.
pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Ids of containers or networks whose run's name contains `part`.
pub fn left(what: &str, run: &str) -> Vec<String> {
    let args: &[&str] = match what {
        "container" => &["ps", "-a", "--format", "{{.Names}}"],
        _ => &["network", "ls", "--format", "{{.Name}}"],
    };
    let output = Command::new("docker").args(args).output().expect("docker runs");
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    names
        .lines()
        .filter(|name| name.starts_with("fencepost-") && name.contains(run))
        .map(str::to_string)
        .collect()
}
