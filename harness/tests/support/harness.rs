//! A run of which a test is the nemesis.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use nix::unistd::Pid;
use serde_json::Value;

use super::{Ran, command, docker_says, left};

/// A harness at work; its keeper removes what it leaves if the test fails.
pub struct Harness {
    pub child: Child,
    store: tempfile::TempDir,
}

impl Harness {
    pub fn start(recipe: &str, args: &str) -> Harness {
        let store = tempfile::tempdir().expect("a temporary folder");
        let mut command = command(recipe, args, store.path());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
        Harness { child, store }
    }

    pub fn history(&self) -> String {
        fs::read_to_string(self.store.path().join("latest/history.jsonl")).unwrap_or_default()
    }

    /// Waits until the history holds this so often.
    pub fn until_recorded(&self, what: &str, times: usize) {
        let soon = Instant::now() + Duration::from_secs(90);
        while self.history().matches(what).count() < times {
            assert!(Instant::now() < soon, "{what} was never recorded {times} times:\n{}", self.history());
            sleep(Duration::from_millis(20));
        }
    }

    /// The processes of the run's nodes; of one of them, if one is named.
    pub fn of_nodes(&self, node: Option<&str>) -> Vec<Pid> {
        let names = left(self.child.id());
        let names = names.iter().filter_map(|line| line.split(' ').next());
        let named = names.filter(|name| node.is_none_or(|node| name.ends_with(&format!("-{node}"))));
        let ids =
            named.map(|name| docker_says(&["inspect", "--type", "container", "--format", "{{.Id}}", name]));
        let ids: Vec<String> = ids.filter(|id| !id.is_empty()).collect();
        let is_of = |pid: &i32| {
            let group = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
            ids.iter().any(|id| group.contains(id.as_str()))
        };
        let entries = fs::read_dir("/proc").expect("/proc is there").flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        pids.filter(is_of).map(Pid::from_raw).collect()
    }

    /// The end of the run: what [`support::run`] gives. Nothing of it is left.
    pub fn end(mut self) -> Ran {
        let output = std::mem::replace(&mut self.child, idle()).wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let store = std::mem::replace(&mut self.store, tempfile::tempdir().expect("a temporary folder"));
        let verdict = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        Ran { code: output.status.code().unwrap_or(-1), verdict, stderr, store }
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn idle() -> Child {
    Command::new("true").spawn().expect("true runs")
}
