//! Mistakes: each gets one screen that points at the place and names what is right, and an exit code of its own.

mod support;

use std::{fs, path::Path, process::Output};

use support::{fencepost, text};

/// What a user sees, and the exit code, in a fresh folder with these files.
fn said(files: &[(&str, &str)], args: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content) in files {
        fs::write(folder.path().join(name), content).expect("the file is written");
    }
    said_in(folder.path(), args)
}

fn said_in(folder: &Path, args: &[&str]) -> String {
    let output = fencepost().current_dir(folder).env("DOCKER_HOST", "unix:///nonexistent").args(args).output();
    screen(&output.expect("the binary runs"))
}

fn screen(output: &Output) -> String {
    let text = text(output);
    assert!(!text.contains("panicked"), "{text}");
    assert!(text.lines().count() <= 24, "more than one screen:\n{text}");
    format!("{}\nexit {}", text.trim_end(), output.status.code().expect("no signal ended it"))
}

/// What is said of an experiment file.
fn said_of(experiment: &str) -> String {
    said(&[("e.toml", experiment)], &["run", "e.toml", "--on", "docker"])
}

/// What is said of flags.
fn said_to(flags: &str) -> String {
    let args: Vec<&str> = ["run", "redis/set-nx", "--on", "docker"].into_iter().chain(flags.split_whitespace()).collect();
    said(&[], &args)
}

#[test]
fn of_names() {
    insta::assert_snapshot!("unknown recipe", said(&[], &["run", "redis/setnx"]));
    insta::assert_snapshot!("unknown command", said(&[], &["runn"]));
    insta::assert_snapshot!("unknown flag", said_to("--clints 3"));
    insta::assert_snapshot!("unknown fault", said_to("--faults puase:holder"));
    insta::assert_snapshot!("unknown target", said_to("--faults pause:holdr"));
    insta::assert_snapshot!("impossible target", said_to("--faults kill:resource"));
    insta::assert_snapshot!("unknown version", said_to("--version 7.9"));
    insta::assert_snapshot!("unknown setting", said_to("--set persistance=none"));
    insta::assert_snapshot!("unknown world", said_to("--on dockr"));
    insta::assert_snapshot!("missing recipe", said(&[], &["run"]));
    insta::assert_snapshot!("unknown image to build", said(&[], &["images", "redis:7.9"]));
    insta::assert_snapshot!("leader where there is none", said(&[], &["run", "redis/redlock", "--faults", "kill:leader"]));
    insta::assert_snapshot!("workload of another kind", said_to("--workload election"));
}

#[test]
fn of_values() {
    insta::assert_snapshot!("setting of another kind", said_to("--set persistence=sometimes"));
    insta::assert_snapshot!("setting without value", said_to("--set persistence"));
    insta::assert_snapshot!("too many nodes", said_to("--nodes 3"));
    insta::assert_snapshot!("no nodes", said(&[], &["run", "etcd/lease-lock", "--nodes", "0"]));
    insta::assert_snapshot!("no clients", said_to("--clients 0"));
    insta::assert_snapshot!("too many clients", said_to("--clients 101"));
    insta::assert_snapshot!("negative clients", said_to("--clients -5"));
    insta::assert_snapshot!("ttl too short", said_to("--ttl 5ms"));
    insta::assert_snapshot!("ttl without unit", said_to("--ttl 2"));
    insta::assert_snapshot!("time of an unknown unit", said_to("--time 2d"));
    insta::assert_snapshot!("time too short", said_to("--time 0s"));
    insta::assert_snapshot!("negative time", said_to("--time -3s"));
    insta::assert_snapshot!("rate of nothing", said_to("--rate 0"));
    insta::assert_snapshot!("rate beyond reason", said_to("--rate 1e300"));
    insta::assert_snapshot!("unknown expectation", said_to("--expect good"));
    insta::assert_snapshot!("version and image", said_to("--version 7.0 --image redis:7"));
}

#[test]
fn in_files() {
    insta::assert_snapshot!("file without recipe", said_of("clients = 5\n"));
    insta::assert_snapshot!("file with unknown recipe", said_of("name = \"x\"\nrecipe = \"redis/setnx\"\n"));
    insta::assert_snapshot!("unknown key", said_of("recipe = \"redis/set-nx\"\nclinets = 5\n"));
    insta::assert_snapshot!("unknown key of system", said_of("recipe = \"redis/set-nx\"\n[system]\nverion = \"7.0\"\n"));
    insta::assert_snapshot!("wrong type", said_of("recipe = \"redis/set-nx\"\nclients = \"five\"\n"));
    insta::assert_snapshot!("number out of range", said_of("recipe = \"redis/set-nx\"\nclients = 1000\n"));
    insta::assert_snapshot!("number that is no duration", said_of("recipe = \"redis/set-nx\"\nttl = 2\n"));
    insta::assert_snapshot!("syntax", said_of("recipe = \"redis/set-nx\"\nclients = [\n"));
    insta::assert_snapshot!("unknown check", said_of("recipe = \"redis/set-nx\"\nexpect = { exclusoin = \"valid\" }\n"));
    insta::assert_snapshot!("unknown verdict", said_of("recipe = \"redis/set-nx\"\nexpect = { exclusion = \"vald\" }\n"));
    insta::assert_snapshot!("unknown fault in a file", said_of("recipe = \"redis/set-nx\"\n[faults.puase]\ntarget = \"holder\"\n"));
    insta::assert_snapshot!("unknown setting in a file", said_of("recipe = \"redis/set-nx\"\n[settings]\npersistance = \"none\"\n"));
    insta::assert_snapshot!("span upside down", said_of("recipe = \"redis/set-nx\"\n[rates]\nthink_ms = [5, 1]\n"));
    insta::assert_snapshot!("name that is no folder", said_of("name = \"../../x\"\nrecipe = \"redis/set-nx\"\n"));
    let late = "recipe = \"redis/set-nx\"\ntime = \"10s\"\n[[schedule]]\nkind = \"pause\"\ntarget = \"holder\"\nat_ms = 12000\nlasts_ms = 500\n";
    insta::assert_snapshot!("fault after the end", said_of(late));
    let both = "recipe = \"redis/set-nx\"\n[faults.pause]\n[[schedule]]\nkind = \"pause\"\ntarget = \"holder\"\nat_ms = 1000\nlasts_ms = 500\n";
    insta::assert_snapshot!("faults and schedule", said_of(both));
    insta::assert_snapshot!("no file", said(&[], &["run", "nothing.toml"]));
}

#[test]
fn a_file_of_other_bytes_is_no_experiment() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("e.toml"), [0xff, 0xfe, 0x00]).expect("the file is written");
    insta::assert_snapshot!("bytes", said_in(folder.path(), &["run", "e.toml"]));
}

#[test]
fn without_an_engine() {
    insta::assert_snapshot!("no socket", said_to(""));
    let output = fencepost().env("DOCKER_HOST", "tcp://127.0.0.1:1").args(["run", "redis/set-nx", "--on", "docker"]).output();
    insta::assert_snapshot!("nobody listens", screen(&output.expect("the binary runs")));
    for command in ["clean", "images"] {
        assert!(said(&[], &[command]).ends_with("exit 69"));
    }
    let doctor = said(&[], &["doctor"]);
    assert!(doctor.starts_with("PROBLEM  no Docker engine answers at unix:///nonexistent") && doctor.ends_with("exit 69"), "{doctor}");
}

#[test]
fn places_that_cannot_be_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("file"), "").expect("the file is written");
    insta::assert_snapshot!("junit", said_in(folder.path(), &["run", "redis/set-nx", "--on", "docker", "--junit", "file/junit.xml"]));
    if !support::docker() {
        return;
    }
    // The store is made only once an engine has answered.
    let output = fencepost().current_dir(folder.path()).args(["run", "redis/set-nx", "--on", "docker", "--store", "file/x"]).output();
    insta::assert_snapshot!("store", screen(&output.expect("the binary runs")));
}

#[test]
fn an_image_that_cannot_be_had_makes_the_world_unavailable() {
    if !support::docker() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for image in ["127.0.0.1:1/nothing:1", "Not A Name"] {
        let output = fencepost()
            .current_dir(folder.path())
            .args(["run", "redis/set-nx", "--on", "docker", "--time", "1s", "--image", image])
            .output()
            .expect("the binary runs");
        let text = screen(&output);
        assert!(text.ends_with("exit 69"), "{text}");
        let said = format!("error: the image {image} is not here and cannot be pulled: ");
        assert!(text.contains(&said) && text.contains("`fencepost images` lists"), "{text}");
    }
}

const ACQUIRE: &str = r#"{"index":0,"time":1,"process":0,"node":"c1","type":"invoke","f":"acquire","value":{"lock":"a"}}
{"index":1,"time":2,"process":0,"node":"c1","type":"ok","f":"acquire","value":{"lock":"a"}}
"#;

#[test]
fn histories() {
    let check = |history: &str| said(&[("history.jsonl", history)], &["check", "history.jsonl"]);
    insta::assert_snapshot!("line that is no JSON", check(&format!("{ACQUIRE}{{\"index\":2,\n{ACQUIRE}")));
    insta::assert_snapshot!("line that lacks a field", check(&format!("{ACQUIRE}{{\"index\":2,\"time\":3}}\n")));
    insta::assert_snapshot!("completion without invocation", check(ACQUIRE.lines().nth(1).expect("two lines")));
    let twice = ACQUIRE.lines().next().expect("two lines");
    insta::assert_snapshot!("two invocations of a process", check(&format!("{twice}\n{twice}\n")));
    insta::assert_snapshot!("no history", check("something else altogether"));
    insta::assert_snapshot!("no such history", said(&[], &["check", "nothing"]));
    insta::assert_snapshot!("folder that is no run", said(&[], &["check", "."]));
    insta::assert_snapshot!("report of no run", said(&[], &["report", "."]));
}

#[test]
fn a_torn_last_line_is_only_a_note() {
    let torn = format!("{ACQUIRE}{{\"index\":2,\"ti");
    let text = said(&[("history.jsonl", &torn)], &["check", "history.jsonl"]);
    assert!(text.contains("note: history.jsonl: line 3 is torn and was dropped") && text.ends_with("exit 2"), "{text}");
}
