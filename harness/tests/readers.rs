//! To look at a run changes nothing of it, whether it goes on, is over, or was killed.

#[path = "support/mounts.rs"]
mod mounts;
mod support;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::Value;
use support::{alone, fencepost, text};

/// What lies in a run's folder while it goes on.
const OWN: [&str; 4] = ["experiment.toml", "history.jsonl", "resource.jsonl", "nodes"];
const FORMATS: [&str; 6] = ["html", "md", "json", "junit", "edn", "table"];

/// A store, and a folder to be in.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn within(folder: &Path, args: &str) -> Command {
    let mut command = fencepost();
    command.current_dir(folder).args(args.split_whitespace());
    command
}

fn output(folder: &Path, args: &str) -> Output {
    within(folder, args).output().expect("the binary runs")
}

/// Exit code, and both outputs.
fn said(folder: &Path, args: &str) -> (i32, String) {
    let output = output(folder, args);
    (output.status.code().expect("no signal ended it"), text(&output))
}

fn start(folder: &Path, args: &str) -> Child {
    within(folder, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
}

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(text)))
}

/// Every file of a run with its content; the time of its last change too.
fn files(run: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(run).expect("a folder").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.append(&mut files(&path)),
            false => {
                let changed = entry.metadata().and_then(|file| file.modified()).expect("its times");
                found.insert(path.clone(), (fs::read(&path).expect("it can be read"), changed));
            }
        }
    }
    found
}

/// The folder of the only run of this recipe.
fn only_run(folder: &Path, recipe: &str) -> PathBuf {
    let runs: Vec<_> = fs::read_dir(folder.join("store").join(recipe)).expect("runs").flatten().collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].path()
}

/// A short simulated run that is over.
fn finished(folder: &Path) -> PathBuf {
    assert_eq!(said(folder, "run redis/set-nx --on sim --time 3s --seed 5 --faults pause:holder").0, 1);
    only_run(folder, "redis/set-nx")
}

/// Each event has the next index, each invocation of a process its completion, and the counts are those of the verdict.
fn is_whole(history: &str, verdict: &Value) {
    let mut pending: BTreeMap<(u64, String), i64> = BTreeMap::new();
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    for (index, line) in history.lines().enumerate() {
        let event: Value = serde_json::from_str(line).expect("an event");
        assert_eq!(event["index"], index, "{line}");
        let (f, kind) = (event["f"].as_str().expect("f").to_owned(), event["type"].as_str().expect("type"));
        let Some(process) = event["process"].as_u64() else { continue };
        *pending.entry((process, f.clone())).or_default() += if kind == "invoke" { 1 } else { -1 };
        *counts.entry((f, kind.to_owned())).or_default() += 1;
    }
    assert!(pending.values().all(|open| *open == 0), "an operation never ended: {pending:?}");
    for (f, outcomes) in verdict["operations"].as_object().expect("operations") {
        for kind in ["ok", "fail", "info"] {
            let counted = counts.get(&(f.clone(), kind.to_owned())).copied().unwrap_or_default();
            assert_eq!(outcomes[kind], counted, "{f} {kind}");
        }
    }
    assert!(counts[&("acquire".to_owned(), "ok".to_owned())] > 10, "{counts:?}");
}

#[test]
fn a_run_on_servers_goes_on_as_if_nobody_looked() {
    let Some(_alone) = alone() else { return };
    let folder = folder();
    let run = "run redis/set-nx --on docker --time 6s --ttl 1s --seed 1 --faults pause:holder --json";
    let mut child = start(folder.path(), run);
    let history = folder.path().join("store/latest/history.jsonl");
    let mut looks = 0;
    while child.try_wait().expect("it can be waited for").is_none() {
        sleep(Duration::from_millis(400));
        if fs::metadata(&history).is_ok_and(|file| file.len() > 0) {
            looks += looked_at(folder.path());
        }
    }
    assert!(looks >= 5, "only {looks} looks");
    let ended = child.wait_with_output().expect("it ends");
    let (verdict, said) = (json(&ended.stdout), text(&ended));
    assert_eq!(ended.status.code(), Some(1), "the lock is broken, and nothing else: {said}");
    assert!(verdict["stopped"].is_null() && verdict["running"] == false, "{verdict:#}");
    assert_eq!(verdict["checks"]["liveness"]["verdict"], "valid", "{verdict:#}");
    is_whole(&fs::read_to_string(&history).expect("a history"), &verdict);
    let again = json(&output(folder.path(), "check store/latest --json").stdout);
    assert_eq!(again["checks"], verdict["checks"], "judged again it is the same");
    assert_eq!(again["running"], false);
}

/// Looks at the latest run in every way. 1 if it went on all the time; then it must have been called running.
fn looked_at(folder: &Path) -> u32 {
    let run = fs::canonicalize(folder.join("store/latest")).expect("a run");
    // From then on the run writes what it leaves.
    let is_over = || run.join("run.json").exists();
    let check = output(folder, "check store/latest --json");
    let reports = FORMATS.map(|format| output(folder, &format!("report store/latest --format {format}")));
    if is_over() {
        return 0;
    }
    let code = check.status.code().expect("no signal ended it");
    assert!(code == 1 || code == 2, "a run that goes on is not known to be good: {}", text(&check));
    let verdict = json(&check.stdout);
    assert!(verdict["running"] == true && verdict["stopped"].is_null(), "{verdict:#}");
    assert_ne!(verdict["checks"]["liveness"]["verdict"], "valid", "{verdict:#}");
    for (format, report) in FORMATS.iter().zip(&reports) {
        let said = text(report);
        assert!(report.status.success() && said.contains("note: running: judged so far"), "{format}: {said}");
        assert_eq!(
            *format == "edn",
            !String::from_utf8_lossy(&report.stdout).contains("judged so far")
                && !said.contains("\"running\": true"),
            "{format} says so: {said}"
        );
    }
    let there = fs::read_dir(&run).expect("a run").flatten().map(|file| file.file_name());
    let others: Vec<_> = there.filter(|name| !OWN.iter().any(|own| name == own)).collect();
    assert!(others.is_empty() || is_over(), "a reader wrote {others:?}");
    1
}

#[test]
fn a_simulated_run_is_the_same_whoever_looks() {
    const RUN: &str = "run redis/set-nx --on sim --time 3m --seed 3 --faults pause:holder --json";
    let (left_alone, looked_at) = (folder(), folder());
    let code = output(left_alone.path(), RUN).status.code();
    let mut child = within(looked_at.path(), RUN).stdout(Stdio::null()).spawn().expect("the binary starts");
    let mut running = 0;
    while child.try_wait().expect("it can be waited for").is_none() {
        if looked_at.path().join("store/latest/history.jsonl").exists() {
            let both = ["check store/latest --json", "report store/latest --format json"];
            let looks = both.map(|args| start(looked_at.path(), args));
            for look in looks.map(|look| look.wait_with_output().expect("it ends")) {
                assert!(matches!(look.status.code(), Some(0..=2)), "{}", text(&look));
                running += u32::from(text(&look).contains("running: judged so far"));
            }
        }
    }
    assert!(running >= 2, "it was seen running {running} times");
    assert_eq!(child.wait().expect("it ends").code(), code);
    let [alone, seen] = [&left_alone, &looked_at].map(|folder| only_run(folder.path(), "redis/set-nx"));
    for file in ["history.jsonl", "resource.jsonl", "messages.jsonl"] {
        let [alone, seen] = [&alone, &seen].map(|run| fs::read(run.join(file)).expect("a file of the run"));
        assert!(alone == seen, "{file} is not the same");
    }
}

#[test]
fn a_run_that_was_killed_is_judged_and_left_as_it_is() {
    let folder = folder();
    let mut child =
        start(folder.path(), "run redis/set-nx --on sim --time 2h --seed 1 --faults pause:holder --json");
    let history = folder.path().join("store/latest/history.jsonl");
    let soon = Instant::now() + Duration::from_secs(60);
    while fs::metadata(&history).map_or(0, |file| file.len()) < 100_000 {
        assert!(Instant::now() < soon, "nothing was recorded");
        sleep(Duration::from_millis(5));
    }
    child.kill().expect("it lives");
    child.wait().expect("it is reaped");
    let run = only_run(folder.path(), "redis/set-nx");
    let before = files(&run);
    let first = said(folder.path(), "check store/latest");
    assert!(
        first.0 == 1 && first.1.contains("The run ended early: the harness ended before the run did"),
        "{}",
        first.1
    );
    assert!(!first.1.contains("running"), "{}", first.1);
    for format in FORMATS {
        let (code, said) = said(folder.path(), &format!("report store/latest --format {format}"));
        assert_eq!(code, 0, "{format}: {said}");
    }
    assert_eq!(said(folder.path(), "check store/latest"), first, "judged again it is the same");
    assert!(files(&run) == before, "a reader wrote");
}

/// Told by the kernel, not by who can see whose process or write where.
#[test]
fn a_run_is_known_to_go_on_from_another_namespace_and_a_folder_that_can_only_be_read() {
    mounts::privately(|| {
        let folder = folder();
        let mut child = start(folder.path(), "run redis/set-nx --on sim --time 4h --seed 1 --json");
        while !folder.path().join("store/latest/history.jsonl").exists() {
            assert_eq!(child.try_wait().expect("it can be waited for"), None, "it goes on");
            sleep(Duration::from_millis(5));
        }
        mounts::read_only(&folder.path().join("store"));
        let is_running = || {
            let mut elsewhere = Command::new("unshare");
            elsewhere.args([
                "--pid",
                "--fork",
                env!("CARGO_BIN_EXE_fencepost"),
                "check",
                "store/latest",
                "--json",
            ]);
            let output = elsewhere.current_dir(folder.path()).output().expect("unshare runs");
            json(&output.stdout)["running"].clone()
        };
        let running = is_running();
        child.kill().expect("it lives");
        child.wait().expect("it is reaped");
        assert_eq!((running, is_running()), (true.into(), false.into()));
    });
}

#[test]
fn many_may_look_at_one_run_at_once() {
    let folder = folder();
    let run = finished(folder.path());
    let before = files(&run);
    let alone =
        FORMATS.map(|format| output(folder.path(), &format!("report store/latest --format {format}")));
    for _ in 0..12 {
        let six =
            FORMATS.map(|format| start(folder.path(), &format!("report store/latest --format {format}")));
        for ((format, child), alone) in FORMATS.iter().zip(six).zip(&alone) {
            let report = child.wait_with_output().expect("it ends");
            assert!(report.status.success(), "{format}: {}", text(&report));
            assert!(report.stdout == alone.stdout, "{format} is another");
        }
    }
    assert!(files(&run) == before, "a reader wrote");
}

#[test]
fn a_run_that_can_only_be_read_is_read() {
    mounts::privately(|| {
        let folder = folder();
        let run = finished(folder.path());
        let looks = || {
            let reports = FORMATS
                .map(|format| said(folder.path(), &format!("report {} --format {format}", run.display())));
            (said(folder.path(), &format!("check {} --json", run.display())).0, reports)
        };
        let before = looks();
        mounts::read_only(&run);
        assert!(fs::write(run.join("x"), "").is_err(), "it can be written");
        let after = looks();
        assert_eq!(after.0, 1);
        assert!(after == before, "{after:#?}");
        fs::create_dir(folder.path().join("out")).expect("a folder");
        let elsewhere =
            said(folder.path(), &format!("report {} --format html -o out/page.html", run.display()));
        assert!(elsewhere.0 == 0 && folder.path().join("out/page.html").exists(), "{}", elsewhere.1);
    });
}

/// What is there is judged, and what is not is named with its place.
#[test]
fn files_that_are_broken_are_named_and_the_rest_is_judged() {
    let folder = folder();
    let run = finished(folder.path());
    let verdict = |args: &str| {
        let output = output(folder.path(), args);
        let said = text(&output);
        (output.status.code(), json(&output.stdout), said)
    };
    let (_, whole, _) = verdict("report store/latest --format json");
    let with = |name: &str, content: &str, look: &dyn Fn()| {
        let old = fs::read(run.join(name)).expect("a file of the run");
        fs::write(run.join(name), content).expect("it is changed");
        look();
        fs::write(run.join(name), old).expect("it is as before");
    };
    with("run.json", "{\n  \"format\": 2,\n  \"stopped\": }\n", &|| {
        for (args, code) in [("check store/latest --json", 1), ("report store/latest --format json", 0)] {
            let (seen, told, said) = verdict(args);
            assert!(seen == Some(code) && said.contains("run.json:3:"), "{args}: {said}");
            assert_eq!((&told["verdict"], &told["stopped"]), (&whole["verdict"], &Value::Null), "{args}");
            for check in ["exclusion", "damage", "liveness"] {
                assert_eq!(told["checks"][check], whole["checks"][check], "{args}");
            }
        }
    });
    for broken in ["", "{\n  \"format\": 1,\n  \"verdict\": \"vali", "[]"] {
        with("verdict.json", broken, &|| {
            let (code, told, said) = verdict("report store/latest --format json");
            assert!(
                code == Some(0) && said.contains("verdict.json:") && said.contains("judged anew"),
                "{said}"
            );
            assert_eq!(told["checks"], whole["checks"]);
        });
    }
    with("run.json", "\u{0}", &|| {
        with("verdict.json", "\u{0}", &|| {
            let (code, _, said) = verdict("check store/latest --json");
            assert!(code == Some(1) && said.contains("run.json:1:1"), "{said}");
        });
    });
    fs::rename(run.join("resource.jsonl"), run.join("log")).expect("it is moved");
    fs::create_dir(run.join("resource.jsonl")).expect("a folder in its place");
    let (code, _, said) = verdict("check store/latest --json");
    assert!(code == Some(1) && said.contains("resource.jsonl") && said.contains("Is a directory"), "{said}");
}

#[test]
fn files_without_end_are_left() {
    let folder = folder();
    let run = finished(folder.path());
    for (name, code, said) in [
        ("run.json", 1, "run.json cannot be read (it is longer than 256 MiB): judged without it"),
        ("resource.jsonl", 65, "resource.jsonl: line 1, column 1: what begins here is longer than 16 MiB"),
    ] {
        let old = run.join("old");
        fs::rename(run.join(name), &old).expect("it is moved");
        std::os::unix::fs::symlink("/dev/zero", run.join(name)).expect("a link in its place");
        let output = output(folder.path(), "check store/latest --json");
        let told = text(&output);
        assert!(output.status.code() == Some(code) && told.contains(said), "{name}: {told}");
        fs::rename(old, run.join(name)).expect("it is as before");
    }
}

#[test]
fn only_our_own_link_is_moved_on() {
    let folder = folder();
    let latest = folder.path().join("store/latest");
    let run = || said(folder.path(), "run redis/set-nx --on sim --faults none --time 1s --seed 1");
    assert_eq!(run().0, 0);
    let first = fs::read_link(&latest).expect("a link");
    assert_eq!(run().0, 0);
    assert_ne!(fs::read_link(&latest).expect("a link"), first, "it names the run of then");

    fs::remove_file(&latest).expect("it is removed");
    fs::write(&latest, "mine").expect("a file of the user's");
    let (code, said) = run();
    assert!(code == 0 && said.contains("store/latest is not Fencepost's and stays as it is"), "{said}");
    assert_eq!(fs::read_to_string(&latest).expect("a file"), "mine");

    fs::remove_file(&latest).expect("it is removed");
    fs::create_dir(&latest).expect("a folder of the user's");
    fs::write(latest.join("mine"), "mine").expect("a file of the user's");
    let (code, said) = run();
    assert!(code == 0 && said.contains("stays as it is") && latest.join("mine").exists(), "{said}");

    fs::remove_dir_all(&latest).expect("it is removed");
    std::os::unix::fs::symlink("../elsewhere", &latest).expect("a link of the user's");
    let (code, said) = run();
    assert!(code == 0 && said.contains("stays as it is"), "{said}");
    assert_eq!(fs::read_link(&latest).expect("a link"), Path::new("../elsewhere"));
}

/// The last command that a report shows under this heading.
fn shown<'t>(heading: &str, text: &'t str) -> &'t str {
    let line = text.lines().find_map(|line| line.strip_prefix(heading));
    line.unwrap_or_else(|| panic!("no {heading}: {text}")).trim()
}

/// Where a shell is given what is printed.
#[test]
fn what_is_printed_to_be_run_again_can_be() {
    let folder = folder();
    let experiment = "name = \"again\"\nrecipe = \"redis/set-nx\"\non = \"sim\"\ntime = \"1s\"\nseed = 1\n";
    fs::write(folder.path().join("e.toml"), experiment).expect("an experiment");
    let store = "it's a $HOME store";
    let args = ["run", "e.toml", "--store", store];
    let output = fencepost().current_dir(folder.path()).args(args).output().expect("the binary runs");
    assert!(output.status.success(), "{}", text(&output));
    let run = |command: &str| {
        let program = Path::new(env!("CARGO_BIN_EXE_fencepost")).parent().expect("a folder");
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        shell
            .current_dir(folder.path())
            .env("PATH", path)
            .env_remove("FENCEPOST_STORE")
            .args(["-c", command]);
        let output = shell.output().expect("a shell");
        assert!(output.status.success(), "{command}: {}", text(&output));
    };
    run(shown("Repeat", &text(&output)));

    let latest = format!("{store}/latest");
    let report =
        fencepost().current_dir(folder.path()).args(["report", &latest]).output().expect("the binary runs");
    let said = text(&report);
    let (repeat, path) = (shown("Repeat", &said), shown("Report", &said));
    assert!(!repeat.contains("latest") && !path.contains("latest"), "they will name another run: {said}");
    assert!(path.starts_with(store), "{said}");
    run(repeat);

    let explored = [
        "explore",
        "redis/set-nx",
        "--faults",
        "pause:holder",
        "--time",
        "10s",
        "--seeds",
        "20",
        "--store",
        store,
    ];
    let output = fencepost().current_dir(folder.path()).args(explored).output().expect("the binary runs");
    run(shown("again:", &text(&output)));
}
