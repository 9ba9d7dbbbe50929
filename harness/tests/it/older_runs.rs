//! Runs that a build recorded when plain names stood for clients that look at their clocks: read by the names of now.
//!
//! `older/` holds three of them as that build left them, without reports and messages.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::support::{fencepost, text};
use history::record::RunRecord;
use serde_json::Value;

/// A copy of a stored run, which tests may change.
struct Run {
    folder: tempfile::TempDir,
}

impl Run {
    fn of(name: &str) -> Run {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/older").join(name);
        for entry in fs::read_dir(stored).expect("a stored run") {
            let path = entry.expect("a file").path();
            let name = path.file_name().expect("it has a name");
            fs::copy(&path, folder.path().join(name)).expect("it is copied");
        }
        Run { folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Exit code, stdout, and both outputs.
    fn said(&self, command: &str) -> (i32, String, String) {
        let mut words = command.split_whitespace();
        let mut fencepost = fencepost();
        fencepost.arg(words.next().expect("a command")).arg(self.folder.path()).args(words);
        let output = fencepost.current_dir(self.folder.path()).output().expect("the binary runs");
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code().expect("no signal ended it"), stdout, text(&output))
    }
}

/// What each was recorded as, and what it is called now.
const RUNS: [(&str, &str, &str); 3] = [
    ("redlock", "redis/redlock", "redis/redlock-aware"),
    ("redlock-lease-unaware", "redis/redlock-lease-unaware", "redis/redlock-lease"),
    ("lease-lock", "etcd/lease-lock", "etcd/lease-lock-aware"),
];

#[test]
fn check_and_report_name_the_recipe_of_now_and_say_so() {
    for (run, then, now) in RUNS {
        let run = Run::of(run);
        let note = format!("note: recorded by an older build: its recipe {then} is called {now} now");
        for command in ["check --json", "report --format json"] {
            let (code, stdout, said) = run.said(command);
            assert!(code < 3 && said.contains(&note), "{command}: {code} {said}");
            assert_eq!(said.contains("note: judged anew"), command.starts_with("report"), "{said}");
            let verdict: Value = serde_json::from_str(&stdout).expect("verdict.json");
            assert_eq!((&verdict["recipe"], &verdict["experiment"]), (&now.into(), &now.into()), "{command}");
        }
        for command in ["report --format table", "report --format md", "check"] {
            let (_, stdout, said) = run.said(command);
            assert!(said.contains(&note) && stdout.contains(now), "{command}: {said}");
            assert!(stdout.contains(&format!("fencepost run {now} --on ")), "{command} repeats: {stdout}");
        }
        if now.ends_with("-aware") {
            // A hold ends at the deadline that its client stated, whenever the client notices.
            assert_eq!(run.said("check").0, 0, "{then} was accused for noticing late");
        }
        let (_, page, _) = run.said("report --format html");
        assert!(page.contains(&format!("{now}, recorded as {then}")), "{then}");
    }
}

/// Builds before and after write the same record, byte for byte.
#[test]
fn a_record_that_is_read_is_written_as_it_was() {
    for (run, ..) in RUNS {
        let told = fs::read_to_string(Run::of(run).file("run.json")).expect("run.json");
        let record: RunRecord = serde_json::from_str(&told).expect("a record");
        assert_eq!(record.to_json().expect("JSON"), told, "{run}");
    }
}

/// The clients of now may do otherwise, and the run of then is not to blame.
#[test]
fn a_replay_accuses_nobody() {
    for (run, then, now) in &RUNS[..2] {
        for other_trace in [false, true] {
            let run = Run::of(run);
            if other_trace {
                let told = fs::read_to_string(run.file("run.json")).expect("run.json");
                fs::write(run.file("run.json"), told.replace("\"trace\": \"", "\"trace\": \"0"))
                    .expect("it is written");
            }
            let (code, stdout, said) = run.said("replay --store again");
            let differs = stdout.contains("not comparable: ") && stdout.contains("an older build");
            assert!(if differs { code == 2 } else { code == 0 && !other_trace }, "{code} {said}");
            assert!(!said.contains("another run") && !said.contains("differs from line"), "{said}");
            assert!(said.contains(&format!("its recipe {then} is called {now} now")), "{said}");
            assert!(run.file("again").join(now).is_dir(), "it is kept under the name of now");
        }
    }
    let (code, _, said) = Run::of("lease-lock").said("replay");
    assert!(code == 65 && said.contains("not a simulated run"), "{code} {said}");
}

#[test]
fn without_its_end_an_older_run_is_still_one() {
    let run = Run::of("redlock");
    for file in ["run.json", "verdict.json"] {
        fs::remove_file(run.file(file)).expect("it was there");
    }
    let (code, stdout, said) = run.said("check --json");
    let verdict: Value = serde_json::from_str(&stdout).expect("verdict.json");
    assert!(code < 3 && verdict["recipe"] == "redis/redlock-aware", "{code} {said}");
}

/// What bears its format, or was written by hand, means what names mean now.
#[test]
fn names_of_now_are_not_mapped() {
    let run = Run::of("redlock");
    let experiment = run.file("experiment.toml");
    let text = fs::read_to_string(&experiment).expect("an experiment");
    fs::write(&experiment, format!("format = 2\n{text}")).expect("it is written");
    let (_, stdout, said) = run.said("check --json");
    assert!(stdout.contains("\"recipe\": \"redis/redlock\"") && !said.contains("older build"), "{said}");

    let alone = tempfile::tempdir().expect("a temporary folder");
    let run_it = |text: &str| {
        fs::write(alone.path().join("experiment.toml"), text).expect("it is written");
        let args = ["run", "experiment.toml", "--on", "sim"];
        let output = fencepost().current_dir(alone.path()).args(args).output().expect("the binary runs");
        (output.status.code(), crate::support::text(&output))
    };
    let by_hand = "recipe = \"redis/redlock\"\ntime = \"1s\"\nseed = 1\n";
    let (code, said) = run_it(by_hand);
    assert!(code == Some(0) && said.contains("redis/redlock simulated") && !said.contains("older"), "{said}");
    let saved = fs::read_to_string(alone.path().join("store/latest/experiment.toml")).expect("it is saved");
    assert!(saved.starts_with("format = 2\n"), "{saved}");
    let told = fs::read_to_string(alone.path().join("store/latest/run.json")).expect("it is saved");
    assert!(told.contains("\"format\": 2"), "{told}");
    let (code, said) = run_it(&format!("format = 1\n{by_hand}"));
    assert!(code == Some(0) && said.contains("redis/redlock-aware simulated"), "{said}");
    let (code, said) = run_it(&format!("format = 3\n{by_hand}"));
    assert!(code == Some(65) && said.contains("experiment.toml:1:10: format 3 is not known"), "{said}");
}

#[test]
fn names_that_are_gone_are_refused_with_those_of_now() {
    let output = fencepost().args(["run", "redis/redlock-lease-unaware"]).output().expect("the binary runs");
    let said = text(&output);
    assert!(output.status.code() == Some(64) && said.contains("\"redis/redlock-lease\""), "{said}");
}
