//! A disk that fills up: what was recorded is judged and printed, whatever can no longer be written.

#[path = "support/mounts.rs"]
mod mounts;
mod support;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use serde_json::Value;
use support::{alone, fencepost, left, text};

const PAGE: u64 = 4096;
const PLENTY: u64 = 1 << 30;

/// A store on a disk of its own, and a place elsewhere.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(bytes: u64, files: u64) -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("store")).expect("a folder");
        mounts::small_disk(&folder.path().join("store"), bytes, files);
        Place { folder }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn junit(&self) -> String {
        fs::read_to_string(self.folder.path().join("junit.xml")).expect("JUnit lies on another disk")
    }

    fn command(&self, args: &str) -> std::process::Command {
        let mut command = fencepost();
        command.current_dir(self.folder.path()).args(args.split_whitespace()).args(["--junit", "junit.xml"]);
        command
    }

    /// A simulated run that breaks its promise, of so many seconds.
    fn run(&self, seconds: u32) -> Output {
        fs::write(self.folder.path().join("junit.xml"), "<of an earlier run/>").expect("a file");
        let args =
            format!("run redis/set-nx --on sim --time {seconds}s --seed 5 --faults pause:holder --json");
        self.command(&args).output().expect("the binary runs")
    }

    /// The harness failed, without a panic, each failure was told once, and JUnit says the same.
    fn failed(&self, output: &Output, told: &[&str]) -> String {
        let said = text(output);
        assert_eq!(output.status.code(), Some(70), "{said}");
        assert!(!said.contains("panicked"), "{said}");
        for told in told {
            assert_eq!(String::from_utf8_lossy(&output.stderr).matches(told).count(), 1, "{told}: {said}");
        }
        assert!(said.contains("No space left on device"), "{said}");
        let junit = self.junit();
        assert!(junit.contains("<error") && junit.contains("No space left on device"), "{junit}");
        said
    }
}

/// The verdict that was printed.
fn printed(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(output)))
}

/// What a run leaves where there is room: bytes on the disk, by file.
fn sizes(seconds: u32) -> BTreeMap<String, u64> {
    let place = Place::new(PLENTY, PLENTY);
    assert_eq!(place.run(seconds).status.code(), Some(1));
    let run = fs::read_dir(place.store().join("latest")).expect("a run").flatten();
    let size = |file: fs::DirEntry| {
        let bytes = file.metadata().expect("it is there").len();
        (file.file_name().to_string_lossy().into_owned(), bytes.div_ceil(PAGE) * PAGE)
    };
    run.map(size).collect()
}

/// Files in a folder, those below it included.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut found = Vec::new();
    for entry in entries {
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.file_name().to_string_lossy().into_owned()),
        }
    }
    found
}

#[test]
fn before_the_run_has_a_folder() {
    mounts::privately(|| {
        let place = Place::new(PLENTY, 2);
        place.failed(&place.run(5), &["the run's folder store/redis/set-nx cannot be made"]);
    });
}

#[test]
fn before_its_experiment_is_written() {
    mounts::privately(|| {
        let place = Place::new(PAGE, 100);
        fs::write(place.store().join("filler"), [1; PAGE as usize]).expect("it fits");
        place.failed(&place.run(5), &["experiment.toml"]);
        assert_eq!(files(&place.store()), ["filler"], "nothing half made is left");
    });
}

#[test]
fn when_its_logs_are_opened() {
    mounts::privately(|| {
        // The folders, the experiment, the link and the history.
        let place = Place::new(PLENTY, 7);
        place.failed(&place.run(5), &["resource.jsonl"]);
    });
}

#[test]
fn while_it_records() {
    mounts::privately(|| {
        let size = sizes(20);
        let place = Place::new(size["experiment.toml"] + size["history.jsonl"] / 3, PLENTY);
        let output = place.run(20);
        let said = place.failed(
            &output,
            &["the harness failed: failed to write", "run.json", "report.html", "verdict.json"],
        );
        let verdict = printed(&output);
        let recorded = |verdict: &Value| verdict["operations"]["acquire"]["ok"].as_u64().unwrap_or_default();
        assert!(recorded(&verdict) > 10 && verdict["verdict"] == "invalid", "{verdict:#}");
        assert!(verdict["stopped"].as_str().is_some_and(|why| why.contains("No space left")), "{verdict:#}");
        assert!(
            verdict["phases_ms"]["run"].as_f64().is_some_and(|ms| ms < 15_000.0),
            "it went on: {verdict:#}"
        );
        // What fitted can be read, and is nothing else than the beginning of the run.
        let check =
            fencepost().current_dir(place.folder.path()).args(["check", "store/latest", "--json"]).output();
        let check = check.expect("the binary runs");
        assert!(matches!(check.status.code(), Some(1 | 2)), "{}", text(&check));
        let kept = printed(&check);
        assert!(recorded(&kept) > 0 && recorded(&kept) <= recorded(&verdict), "{said}\n{kept:#}");
    });
}

#[test]
fn while_its_report_is_written() {
    mounts::privately(|| {
        let size = sizes(3);
        let files = [
            "experiment.toml",
            "history.jsonl",
            "history.jsonl",
            "resource.jsonl",
            "messages.jsonl",
            "run.json",
        ];
        let room = files.iter().map(|name| size[*name]).sum::<u64>() + 2 * PAGE;
        assert!(size["report.html"] > size["history.jsonl"] + 2 * PAGE, "the report is what does not fit");
        let place = Place::new(room, PLENTY);
        let output = place.run(3);
        place.failed(&output, &["report.html"]);
        assert_eq!(printed(&output)["verdict"], "invalid");
        let kept = self::files(&place.store());
        assert!(!kept.iter().any(|name| name == "report.html"), "half a report: {kept:?}");
        let check =
            fencepost().current_dir(place.folder.path()).args(["check", "store/latest", "--json"]).output();
        let (kept, printed) = (self::printed(&check.expect("the binary runs")), printed(&output));
        assert_eq!(kept["checks"], printed["checks"]);
    });
}

#[test]
fn while_servers_run() {
    let Some(_alone) = alone() else { return };
    mounts::privately(|| {
        let place = Place::new(10 * PAGE, PLENTY);
        fs::write(place.folder.path().join("junit.xml"), "<of an earlier run/>").expect("a file");
        let run = "run redis/set-nx --on docker --time 60s --ttl 1s --seed 1 --faults pause:holder --json";
        let mut command = place.command(run);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let harness = child.id();
        let output = child.wait_with_output().expect("it ends");
        let said = place.failed(&output, &["run.json", "verdict.json"]);
        let verdict = printed(&output);
        assert!(verdict["operations"]["acquire"]["ok"].as_u64().is_some_and(|ok| ok > 5), "{said}");
        assert!(
            verdict["phases_ms"]["run"].as_f64().is_some_and(|ms| ms < 50_000.0),
            "it went on: {verdict:#}"
        );
        assert_eq!(left(harness), Vec::<String>::new(), "{said}");
    });
}
