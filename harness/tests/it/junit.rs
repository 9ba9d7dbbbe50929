//! JUnit says what the exit code says, and nothing of an earlier run.

use std::{
    fs,
    path::Path,
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use crate::support::{fencepost, text};

/// A run's exit code, its JUnit, and what was said; the file was of an earlier run.
fn ran(folder: &Path, args: &str) -> (i32, String, String) {
    let path = folder.join("junit.xml");
    fs::write(&path, "<of an earlier run/>").expect("a file");
    let output = fencepost()
        .current_dir(folder)
        .args(args.split_whitespace())
        .args(["--junit", "junit.xml"])
        .env("DOCKER_HOST", "unix:///nonexistent")
        .output()
        .expect("the binary runs");
    let xml = fs::read_to_string(&path).unwrap_or_default();
    assert!(!xml.contains("earlier"), "{args}: {}", text(&output));
    (output.status.code().expect("no signal ended it"), xml, text(&output))
}

fn file(folder: &Path, experiment: &str) {
    fs::write(folder.join("e.toml"), experiment).expect("an experiment");
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

const BROKEN: &str = "run redis/set-nx --on sim --time 10s --seed 5 --faults pause:holder";
const SOUND: &str = "run etcd/lease-lock-aware --on sim --time 10s --seed 5 --faults pause:holder";

fn green(xml: &str) -> bool {
    !xml.contains("<failure") && !xml.contains("<error") && xml.contains("<testcase")
}

#[test]
fn without_expectations_a_broken_promise_fails_with_what_helps() {
    let folder = folder();
    let (code, xml, said) = ran(folder.path(), BROKEN);
    assert_eq!(code, 1, "{said}");
    assert!(xml.contains("<failure message=\"two holds of one lock overlap"), "{xml}");
    assert!(xml.contains("redis/set-nx never promised that"), "what helps: {xml}");
    let (code, xml, said) = ran(folder.path(), SOUND);
    assert!(code == 0 && green(&xml), "{said}\n{xml}");
}

#[test]
fn an_expectation_that_is_met_is_no_failure() {
    let folder = folder();
    for expect in ["invalid", "any"] {
        let (code, xml, said) = ran(folder.path(), &format!("{BROKEN} --expect {expect}"));
        assert!(code == 0 && green(&xml), "{expect}: {said}\n{xml}");
        assert!(xml.contains("<system-out>") && xml.contains("believed"), "what was found is shown: {xml}");
    }
    let (code, xml, said) = ran(folder.path(), &format!("{SOUND} --expect valid"));
    assert!(code == 0 && green(&xml), "{said}\n{xml}");
    let (code, xml, said) = ran(
        folder.path(),
        "run redis/set-nx --on sim --time 1s --clients 1 --seed 1 --faults none --expect any",
    );
    assert!(code == 0 && green(&xml) && xml.contains("<skipped"), "unknown is not green: {said}\n{xml}");
}

#[test]
fn an_expectation_that_is_not_met_is_a_failure_that_says_both() {
    let folder = folder();
    let (code, xml, said) = ran(folder.path(), &format!("{SOUND} --expect invalid"));
    assert!(code == 1 && xml.matches("<failure").count() == 1, "{said}\n{xml}");
    assert!(xml.contains("expected to be invalid, was valid"), "{xml}");
    let (code, xml, said) = ran(folder.path(), &format!("{BROKEN} --expect valid"));
    assert!(code == 1 && xml.contains("expected to be valid, was invalid"), "{said}\n{xml}");
    assert!(xml.contains("<failure message=\"two holds of one lock overlap"), "{xml}");
    // Nothing was contended: neither expectation is met.
    for expect in ["valid", "invalid"] {
        let run = "run redis/set-nx --on sim --time 1s --clients 1 --seed 1 --faults none";
        let (code, xml, said) = ran(folder.path(), &format!("{run} --expect {expect}"));
        assert!(code == 2 && xml.contains("<error") && !xml.contains("<failure"), "{said}\n{xml}");
    }
}

#[test]
fn expectations_of_single_checks_fail_one_by_one() {
    let folder = folder();
    let experiment = |expect: &str| {
        file(
            folder.path(),
            &format!(
                "recipe = \"redis/set-nx\"\non = \"sim\"\ntime = \"10s\"\nseed = 5\nexpect = {{ {expect} }}\n[faults.pause]\ntarget = \"holder\"\n"
            ),
        );
        ran(folder.path(), "run e.toml")
    };
    let (code, xml, said) = experiment("exclusion = \"invalid\", promise = \"valid\"");
    assert!(code == 0 && green(&xml), "{said}\n{xml}");
    let (code, xml, said) = experiment("exclusion = \"invalid\", promise = \"invalid\"");
    assert!(code == 1 && xml.matches("<failure").count() == 1, "{said}\n{xml}");
    let (_, promise) = xml.split_once("<testcase name=\"promise\"").expect("a test case");
    assert!(promise.contains("<failure message=\"expected to be invalid, was valid\""), "{xml}");
    let (code, xml, said) = experiment("exclusion = \"valid\"");
    assert!(
        code == 1 && xml.matches("<failure").count() == 1,
        "a check not named may say what it will: {said}\n{xml}"
    );
    assert!(xml.contains("expected to be valid, was invalid: two holds of one lock overlap"), "{xml}");
    let (code, xml, said) = experiment("fencing = \"valid\"");
    assert!(code == 1 && xml.contains("expected to be valid, does not apply: "), "{said}\n{xml}");
    for format in ["junit", "json"] {
        let report = fencepost()
            .current_dir(folder.path())
            .args(["report", "store/latest", "--format", format])
            .output();
        let told = String::from_utf8_lossy(&report.expect("the binary runs").stdout).into_owned();
        match format {
            "junit" => assert_eq!(told, xml, "told later it is the same"),
            _ => assert!(
                told.replace([' ', '\n'], "").contains(r#""fencing":{"expected":"valid","met":false}"#),
                "{told}"
            ),
        }
    }
}

#[test]
fn a_run_that_fails_says_why_and_leaves_nothing_of_an_earlier_one() {
    let folder = folder();
    let (code, xml, said) = ran(folder.path(), "run redis/set-nx --on docker --time 3s");
    assert_eq!(code, 69, "{said}");
    assert!(xml.contains("<error") && xml.contains("no Docker engine answers"), "{xml}");
    file(folder.path(), "recipe = \"redis/set-nx\"\ntime = \"soon\"\n");
    for (args, code, why) in [
        ("run e.toml", 65, "`soon` is no duration"),
        ("run redis/set-nx --faults bogus", 64, "unknown fault `bogus`"),
        ("run nonsense", 64, "there is no recipe"),
    ] {
        let (seen, xml, said) = ran(folder.path(), args);
        assert_eq!(seen, code, "{said}");
        assert!(xml.contains("<error") && xml.contains(why), "{args}: {xml}");
    }
    fs::write(folder.path().join("not-a-store"), "").expect("a file");
    let (code, xml, said) = ran(folder.path(), "run redis/set-nx --on sim --store not-a-store/x");
    assert_eq!(code, 64, "{said}");
    assert!(xml.contains("<error") && xml.contains("cannot be made"), "{xml}");
    let lossy = "recipe = \"etcd/lease-lock\"\non = \"sim\"\ntime = \"1s\"\n[sim]\nloss_ppm = 900000\ndelay_us = 60000000\n";
    file(folder.path(), lossy);
    let (code, xml, said) = ran(folder.path(), "run e.toml --seed 3");
    assert_eq!(code, 70, "{said}");
    assert!(xml.contains("<error") && xml.contains("the run ended early: "), "{xml}");
}

/// A run that is killed has no results, and those of the run before it are not its own.
#[test]
fn a_run_that_is_killed_leaves_nothing_of_an_earlier_one() {
    let folder = folder();
    let path = folder.path().join("junit.xml");
    fs::write(&path, "<of an earlier run/>").expect("a file");
    let args = "run redis/set-nx --on sim --time 4h --seed 1 --json --junit junit.xml";
    let mut child = fencepost()
        .current_dir(folder.path())
        .args(args.split_whitespace())
        .spawn()
        .expect("the binary starts");
    while !folder.path().join("store/latest/history.jsonl").exists() {
        assert_eq!(child.try_wait().expect("it can be waited for"), None, "it goes on");
        sleep(Duration::from_millis(5));
    }
    child.kill().expect("it lives");
    child.wait().expect("it is reaped");
    let xml = fs::read_to_string(&path).unwrap_or_default();
    assert!(xml.contains("<error") && xml.contains("did not come to its end"), "{xml}");
}

/// The reader of a pipe is given one document, and nobody waits for another reader.
#[test]
fn a_named_pipe_takes_one_document() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    let reader = std::thread::spawn(move || fs::read_to_string(pipe).expect("it can be read"));
    let args = "run redis/set-nx --on sim --time 1s --seed 1 --faults none --json --junit pipe";
    let mut child = fencepost()
        .current_dir(folder.path())
        .args(args.split_whitespace())
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let soon = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("it can be waited for").is_none() {
        if Instant::now() > soon {
            child.kill().expect("it lives");
        }
        sleep(Duration::from_millis(20));
    }
    assert_eq!(child.wait().expect("it is reaped").code(), Some(0), "it comes to its end");
    let xml = reader.join().expect("it reads");
    assert!(green(&xml) && xml.matches("<?xml").count() == 1, "{xml}");
}
