//! Servers that misbehave as programs: they exit, cannot be started for a while, print without end, take all they get.

mod support;

use std::{
    fs,
    path::Path,
    process::Output,
    time::{Duration, Instant},
};

use serde_json::Value;
use support::{alone, command, docker_says, run, skipped, text};

/// An image whose Redis server is started by a script of the test; gone with it.
struct Made(String);

impl Made {
    /// The script is given the server's arguments; the server itself is `/usr/bin/redis-real`.
    fn with(name: &str, script: &str) -> Option<Made> {
        if docker_says(&["image", "ls", "-q", "fencepost/redis:7.0"]).is_empty() {
            skipped("there is no image fencepost/redis:7.0");
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write =
            |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it is written");
        write(
            "Dockerfile",
            "FROM fencepost/redis:7.0\nRUN mv /usr/bin/redis-server /usr/bin/redis-real\nCOPY script /usr/bin/redis-server\nRUN chmod 755 /usr/bin/redis-server\n",
        );
        write("script", &format!("#!/bin/sh\n{script}\n"));
        let made = Made(format!("fencepost-test/{name}:{}", std::process::id()));
        docker_says(&["build", "-q", "-t", &made.0, &folder.path().display().to_string()]);
        assert_ne!(docker_says(&["image", "ls", "-q", &made.0]), "", "{} is built", made.0);
        Some(made)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        docker_says(&["rmi", "-f", &self.0]);
    }
}

fn tried(recipe: &str, args: &str, store: &Path) -> (Output, Duration) {
    let begun = Instant::now();
    let output = command(recipe, args, store).output().expect("the binary runs");
    (output, begun.elapsed())
}

#[test]
fn one_that_exits_while_it_starts_ends_the_run_at_once() {
    let Some(_alone) = alone() else { return };
    let script = "echo 'Fatal config: no such option'\necho 'and so it goes' >&2\nsleep 1\nexit 3";
    let Some(image) = Made::with("exits", script) else { return };
    let store = tempfile::tempdir().expect("a temporary folder");
    let (output, took) =
        tried("redis/set-nx", &format!("--image {} --time 2s --clients 2", image.0), store.path());
    let said = text(&output);
    assert_eq!(output.status.code(), Some(69), "{said}");
    for words in ["server s1 ended while it started: exit status: 3", "Fatal config", "so it goes"] {
        assert!(said.contains(words), "{words} is told: {said}");
    }
    assert!(took < Duration::from_secs(30), "after {took:?}");
}

#[test]
fn one_that_is_killed_for_want_of_memory_did_not_end_by_itself() {
    let Some(_alone) = alone() else { return };
    // Of a pipe it must keep all, as it cannot know where that ends.
    let script = "mkfifo /pipe\nhead -c 2400M /dev/zero > /pipe &\nexec tail -c 2300M < /pipe";
    let Some(image) = Made::with("hungry", script) else { return };
    let store = tempfile::tempdir().expect("a temporary folder");
    let (output, _) =
        tried("redis/set-nx", &format!("--image {} --time 2s --clients 2", image.0), store.path());
    let said = text(&output);
    assert_eq!(output.status.code(), Some(69), "{said}");
    let why = "s1 ended while it started: signal: 9 (SIGKILL), because the node had used up its memory";
    assert!(said.contains(why), "{said}");
}

/// On s2 its program is away for a while after it was killed.
const AWAY: &str = r#"
if [ "$(cat /etc/hostname)" = s2 ] && [ ! -e /watched ]; then
  : > /watched
  ( setsid sh -c "while kill -0 $$; do sleep 0.02; done
                  mv /usr/bin/redis-server /away; sleep 1.2; mv /away /usr/bin/redis-server" \
    > /dev/null 2>&1 < /dev/null & )
fi
exec /usr/bin/redis-real "$@""#;

const KILLED: &str = r#"
name = "killed"
recipe = "redis/redlock"
clients = 2
ttl = "1s"
time = "5s"
seed = 1
[[schedule]]
kind = "kill"
target = "all"
at_ms = 1000
lasts_ms = 1000
"#;

#[test]
fn one_that_cannot_be_started_at_first_is_healed_all_the_same() {
    let Some(_alone) = alone() else { return };
    let Some(image) = Made::with("away", AWAY) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("killed.toml");
    fs::write(&file, KILLED).expect("the experiment is written");
    let ran = run(&file.display().to_string(), &format!("--nodes 3 --image {}", image.0));
    ran.all_installed(&["kill"]);
    ran.must(matches!(ran.code, 0 | 1), "the run went to its end");
    let history = fs::read_to_string(ran.folder().join("history.jsonl")).expect("there is a history");
    let events = history.lines().map(|line| serde_json::from_str::<Value>(line).expect("an event"));
    let stop = events.into_iter().find(|event| event["f"] == "stop-kill").expect("it was healed");
    assert!(stop["value"]["tries"].as_u64() > Some(1), "not at the first try: {stop}");
    for node in ["s1", "s2", "s3"] {
        assert!(stop["value"]["evidence"][node]["after"]["new_pid"].is_u64(), "{node} is new: {stop}");
    }
}

/// Tells what comes of each attempt to take more than there is, and then serves. Without processes to be had the shell
/// must do with its own words, until those that it had are reaped.
const GREEDY: &str = r#"
echo "processes of pid 1 gain privileges: $(grep NoNewPrivs /proc/1/status)"
setsid sh -c 'echo $$ > /group; i=0; while [ $i -lt 5000 ]; do sleep 60 & i=$((i + 1)); done'
read group < /group
kill -9 -$group
i=0
while [ $i -lt 500000 ]; do i=$((i + 1)); done
echo "disk: $(dd if=/dev/zero of=/fencepost-data/much bs=1M count=1100 2>&1 | head -n 1)"
rm /fencepost-data/much
head -c 2400M /dev/zero | tail -c 2300M > /dev/null
echo "memory: exit $?"
while :; do echo "all work and no play makes this log a long one"; done | head -c 9000000
exec /usr/bin/redis-real "$@""#;

#[test]
fn one_that_takes_all_it_gets_gets_so_much_and_no_more() {
    let Some(_alone) = alone() else { return };
    let Some(image) = Made::with("greedy", GREEDY) else { return };
    let ran = run("redis/set-nx", &format!("--image {} --ttl 1s --time 3s --clients 2 --seed 1", image.0));
    let log = fs::read_to_string(ran.folder().join("nodes/s1/process.log")).expect("there is a log");
    let said = log.lines().take(12).collect::<Vec<_>>().join("\n");
    for words in ["NoNewPrivs:\t1", "annot fork", "No space left on device", "memory: exit 137"] {
        ran.must(said.contains(words), &format!("{words} is said: {said}"));
    }
    ran.must(
        log.len() < 5_000_000 && log.contains("bytes of the log are left out here]"),
        "the log is clipped",
    );
    ran.must(log.contains("Ready to accept connections"), "and its end is kept");
    ran.says(0, "exclusion=valid liveness=valid");
}
