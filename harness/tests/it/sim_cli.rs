//! Simulated runs and campaigns as a user meets them: what is said, kept and returned.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use crate::support::{fencepost, text};
use serde_json::Value;

fn within(folder: &Path, args: &str) -> Command {
    let mut command = fencepost();
    command.current_dir(folder).args(args.split_whitespace());
    command
}

fn said(folder: &Path, args: &str) -> (i32, String) {
    let output = within(folder, args).output().expect("the binary runs");
    (output.status.code().expect("no signal ended it"), text(&output))
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every run in a store.
fn runs(store: &Path, recipe: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(store.join(recipe)).expect("runs");
    let mut runs: Vec<PathBuf> = entries.map(|entry| entry.expect("a run").path()).collect();
    runs.sort();
    runs
}

/// Waits for the first line of its progress that holds this, asks it to stop, and waits for the end.
fn interrupted(mut child: Child, after: &str) -> Output {
    let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
    let line = lines.by_ref().map_while(Result::ok).find(|line| line.contains(after));
    assert!(line.is_some(), "nothing said {after}");
    let asked = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(asked.success());
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    let mut stdout = String::new();
    child.stdout.take().expect("stdout").read_to_string(&mut stdout).expect("text");
    let status = child.wait().expect("it ends");
    Output { status, stdout: stdout.into(), stderr: rest.join("\n").into() }
}

fn start(folder: &Path, args: &str) -> Child {
    let mut command = within(folder, args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
}

#[test]
fn a_campaign_that_is_interrupted_tells_and_keeps_what_it_found() {
    let folder = folder();
    let args = "explore redis/set-nx --faults pause:holder --time 10s --seeds 1000000000 --count";
    let output = interrupted(start(folder.path(), args), " broke a promise");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted after ") && said.contains("seed 1 violates exclusion"), "{said}");
    let kept = json(&folder.path().join("store/latest/verdict.json"));
    assert_eq!((&kept["verdict"], &kept["seed"]), (&"invalid".into(), &1.into()), "{kept:#}");
}

#[test]
fn shrinking_that_is_interrupted_keeps_the_smallest_so_far() {
    let folder = folder();
    let args = "explore redis/redlock --faults clock:any,pause:client --seeds 50 --shrink";
    let output = interrupted(start(folder.path(), args), "shrunk to");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("smallest run that violates exclusion"), "{said}");
}

#[test]
fn a_simulated_run_that_is_interrupted_is_judged_and_is_no_run_to_replay() {
    let folder = folder();
    let output =
        interrupted(start(folder.path(), "run etcd/lease-lock --on sim --time 4h --seed 1"), " s left");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    let kept = json(&folder.path().join("store/latest/verdict.json"));
    assert_eq!(kept["stopped"], "interrupted", "{kept:#}");
    let (code, said) = self::said(folder.path(), "replay store/latest");
    assert!(code == 65 && said.contains("not carried to its end (interrupted)"), "{said}");
}

#[test]
fn a_campaign_says_why_it_is_not_certain_and_with_which_seeds() {
    let folder = folder();
    // Who is dead cannot be paused.
    let dead = "recipe = \"etcd/lease-lock\"\ntime = \"6s\"\n\
        [[schedule]]\nkind = \"kill\"\ntarget = \"s1\"\nat_ms = 500\nlasts_ms = 3000\n\
        [[schedule]]\nkind = \"pause\"\ntarget = \"s1\"\nat_ms = 1000\nlasts_ms = 500\n";
    fs::write(folder.path().join("dead.toml"), dead).expect("the file is written");
    let (code, said) = said(folder.path(), "explore dead.toml --seed 7 --seeds 12");
    assert_eq!(code, 2, "{said}");
    let why = "unknown in 12 runs: no planned pause:s1 is known to have taken effect (exclusion, promise, ";
    assert!(said.contains(why) && said.contains("liveness); seed 7, 8, 9"), "{said}");
    let sound = dead.replace("at_ms = 1000", "at_ms = 4500");
    fs::write(folder.path().join("sound.toml"), sound).expect("the file is written");
    let (code, said) = self::said(folder.path(), "explore sound.toml --seeds 12");
    assert!(code == 0 && !said.contains("unknown in"), "{said}");
}

#[test]
fn a_replay_tells_a_changed_experiment_and_a_changed_history_from_another_build() {
    let folder = folder();
    let run = "run redis/set-nx --on sim --time 3s --seed 5 --faults pause:holder";
    assert_eq!(said(folder.path(), run).0, 1);
    let path = runs(&folder.path().join("store"), "redis/set-nx").pop().expect("a run");
    let replay = || said(folder.path(), &format!("replay {} --store again", path.display()));
    let (code, said) = replay();
    assert!(code == 0 && said.contains("simulated: the same run again"), "{said}");

    let change = |name: &str, change: &dyn Fn(String) -> String| {
        let file = path.join(name);
        let old = fs::read_to_string(&file).expect("a file of the run");
        fs::write(&file, change(old.clone())).expect("it is changed");
        let seen = replay();
        fs::write(&file, old).expect("it is as before");
        seen
    };
    let (code, said) = change("experiment.toml", &|old| old.replace("seed = 5", "seed = 6"));
    assert!(code == 65 && said.contains("experiment.toml was changed since that run"), "{said}");
    let lines = |old: &str| old.lines().count();
    let (code, said) = change("history.jsonl", &|old| {
        let kept = lines(&old) - 3;
        old.split_inclusive('\n').take(kept).collect()
    });
    assert!(code == 65 && said.contains("the run repeats") && said.contains("differs from line"), "{said}");
    let (code, said) = change("history.jsonl", &|old| old.replacen("\"time\":", "\"time\":1", 1));
    assert!(code == 65 && said.contains("differs from line 1 on"), "{said}");
    let (code, said) = change("run.json", &|old| old.replace("\"trace\": \"", "\"trace\": \"0"));
    assert!(code == 1 && said.contains("another run: trace "), "{said}");
    let (code, said) = change("run.json", &|old| old.replace("\"trace\":", "\"other\":"));
    assert!(code == 65 && said.contains("not a simulated run"), "{said}");
    let (code, said) = change("run.json", &|old| old[..old.len() / 2].to_owned());
    assert!(code == 65 && said.contains("cannot be read"), "{said}");
    let (code, said) = replay();
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_campaign_that_fails_tells_with_which_seed() {
    let folder = folder();
    // With nine of ten packets lost, servers find no leader in time with one seed or another.
    let lossy =
        "recipe = \"etcd/lease-lock\"\ntime = \"1s\"\n[sim]\nloss_ppm = 900000\ndelay_us = 60000000\n";
    fs::write(folder.path().join("lossy.toml"), lossy).expect("the file is written");
    let (code, said) = said(folder.path(), "explore lossy.toml --seed 3 --seeds 2 --jobs 1");
    assert_eq!(code, 70, "{said}");
    assert!(said.contains("simulated: 0 runs") && said.contains("error: seed 3: "), "{said}");
}

/// As `2>&1 | head -1` does.
#[test]
fn a_reader_that_goes_away_ends_nothing() {
    let folder = folder();
    for args in
        ["explore redis/set-nx --faults none --time 10s --seeds 20", "run redis/set-nx --on sim --seed 1"]
    {
        let mut child = start(folder.path(), args);
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{args}");
    }
}

#[test]
fn what_cannot_be_written_is_a_failure() {
    let folder = folder();
    for args in [
        "run redis/set-nx --on sim --faults none --time 2s --seed 1",
        "explore redis/set-nx --faults none --time 2s --seeds 2",
        "list",
        "man",
        "completions bash",
        "--help",
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        let output = within(folder.path(), args).stdout(full).output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(70), "{args}: {}", text(&output));
        assert!(text(&output).contains("error: the output could not be written: No space left"), "{args}");
    }
}

/// The clients get as long to finish as their own limits allow.
#[test]
fn a_run_of_long_leases_ends_as_others_do() {
    let folder = folder();
    for recipe in ["redis/set-nx", "etcd/lease-lock", "etcd/election"] {
        for ttl in ["30s", "60s"] {
            let args = format!("run {recipe} --on sim --faults none --time 10m --ttl {ttl} --seed 1");
            let (code, said) = said(folder.path(), &args);
            assert_eq!(code, 0, "{args}: {said}");
            assert_eq!(json(&folder.path().join("store/latest/verdict.json"))["verdict"], "valid", "{args}");
        }
    }
}

#[test]
fn two_campaigns_at_once_keep_a_run_each() {
    let folder = folder();
    let args = "explore redis/set-nx --faults pause:holder --time 10s --seeds 50";
    let both = [start(folder.path(), args), start(folder.path(), args)];
    for child in both {
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    }
    let kept = runs(&folder.path().join("store"), "redis/set-nx");
    assert_eq!(kept.len(), 2);
    for run in kept {
        let (code, said) = said(folder.path(), &format!("replay {} --store again", run.display()));
        assert_eq!(code, 0, "{said}");
    }
}

/// What its verdict does not tell of the checks, those of now do.
#[test]
fn a_run_whose_verdict_tells_nothing_of_its_checks_is_shown_alike() {
    let folder = folder();
    let args = "run redis/set-nx --on sim --faults pause:holder --time 10s --seed 1";
    assert_eq!(said(folder.path(), args).0, 1);
    let shown = || {
        ["html", "md", "table"].map(|format| {
            let (code, said) = said(folder.path(), &format!("report store/latest --format {format}"));
            assert_eq!(code, 0, "{said}");
            said
        })
    };
    let before = shown();
    let path = folder.path().join("store/latest/verdict.json");
    let mut verdict = json(&path);
    for check in verdict["checks"].as_object_mut().expect("checks").values_mut() {
        for field in ["rank", "promise", "informs", "stalls_excuse"] {
            assert!(check.as_object_mut().expect("a check").remove(field).is_some(), "{field}");
        }
    }
    fs::write(&path, verdict.to_string()).expect("it can be written");
    assert!(shown() == before, "it is shown otherwise");
}

#[test]
fn a_report_of_a_simulated_run_says_so_and_shows_its_messages() {
    let folder = folder();
    let run = "run redis/set-nx --on sim --time 5s --seed 5 --faults pause:holder";
    let (_, said) = said(folder.path(), run);
    assert!(said.contains("on sim (simulated"), "{said}");
    let latest = folder.path().join("store/latest");
    let page = fs::read_to_string(latest.join("report.html")).expect("a report");
    for part in ["simulated: models", "Messages", "timeline"] {
        assert!(page.contains(part), "no {part}");
    }
    for format in ["md", "junit", "json", "table"] {
        let (code, said) = self::said(folder.path(), &format!("report store/latest --format {format}"));
        assert!(code == 0 && said.contains("sim"), "{format}: {said}");
    }
}

#[test]
fn a_campaign_that_should_find_something_fails_when_it_does_not() {
    let folder = folder();
    let (code, said) =
        said(folder.path(), "explore redis/set-nx --faults none --time 3s --expect invalid --seeds 3");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("expected to be invalid, and no run was"), "{said}");
}

#[test]
fn a_simulated_run_without_its_end_is_still_a_simulated_run() {
    let folder = folder();
    let (code, told) = said(folder.path(), "run redis/set-nx --on sim --faults none --time 3s --seed 1");
    assert_eq!(code, 0, "{told}");
    for name in ["run.json", "verdict.json"] {
        fs::remove_file(folder.path().join("store/latest").join(name)).expect("it was written");
    }
    let (_, told) = said(folder.path(), "check store/latest");
    assert!(told.contains("redis/set-nx on sim"), "{told}");
    let (code, told) = said(folder.path(), "replay store/latest");
    assert_eq!(code, 65, "{told}");
    assert!(told.contains("no run that came to its end") && told.contains("fencepost run"), "{told}");
}

#[test]
fn half_a_try_on_real_servers_is_no_answer() {
    let Some(_alone) = crate::support::alone() else { return };
    let folder = folder();
    let explored = "explore redis/set-nx --faults pause:holder --time 20s --seeds 5";
    assert_eq!(said(folder.path(), explored).0, 1);
    let output = interrupted(start(folder.path(), "replay store/latest --on docker"), "running,");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(!said.contains("reality"), "{said}");
}

#[test]
fn equal_runs_leave_equal_messages() {
    let folder = folder();
    let messages = || {
        let (_, said) = said(folder.path(), "run redis/set-nx-fenced --on sim --time 2s --seed 5");
        fs::read_to_string(folder.path().join("store/latest/messages.jsonl")).expect(&said)
    };
    let (first, second) = (messages(), messages());
    assert!(first.contains("acquire-and-count"), "scripts are named: {first}");
    assert!(!first.contains("0x") && !first.contains("redis.call"), "and no more than that: {first}");
    assert!(first == second, "two processes, one seed");
}
