//! Mistakes: each gets one screen that points at the place and names what is right, and an exit code of its own.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Output,
};

use crate::support::{fencepost, text};

/// What a user sees, and the exit code, in a fresh folder with these files.
fn said(files: &[(&str, &str)], args: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content) in files {
        fs::write(folder.path().join(name), content).expect("the file is written");
    }
    said_in(folder.path(), args)
}

fn said_in(folder: &Path, args: &[&str]) -> String {
    let output =
        fencepost().current_dir(folder).env("DOCKER_HOST", "unix:///nonexistent").args(args).output();
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
    let args: Vec<&str> =
        ["run", "redis/set-nx", "--on", "docker"].into_iter().chain(flags.split_whitespace()).collect();
    said(&[], &args)
}

/// Screens one after the other, each under what the mistake is.
#[derive(Default)]
struct Transcript(String);

impl Transcript {
    fn add(&mut self, mistake: &str, screen: String) {
        self.0.push_str(&format!("# {mistake}\n{screen}\n\n"));
    }
}

#[test]
fn of_names() {
    let mut seen = Transcript::default();
    seen.add("unknown recipe", said(&[], &["run", "redis/setnx"]));
    seen.add("unknown command", said(&[], &["runn"]));
    seen.add("unknown flag", said_to("--clints 3"));
    seen.add("unknown fault", said_to("--faults puase:holder"));
    seen.add("unknown target", said_to("--faults pause:holdr"));
    seen.add("impossible target", said_to("--faults kill:resource"));
    seen.add("unknown version", said_to("--version 7.9"));
    seen.add("unknown setting", said_to("--set persistance=none"));
    seen.add("unknown world", said(&[], &["run", "redis/set-nx", "--on", "dockr"]));
    seen.add("missing recipe", said(&[], &["run"]));
    seen.add("unknown image to build", said(&[], &["images", "redis:7.9"]));
    let strangers = ["pause:s9", "kill:c9", "partition:x1"];
    for faults in strangers {
        seen.add(
            &format!("a node that is not there: {faults}"),
            said(&[], &["run", "etcd/lease-lock", "--nodes", "3", "--faults", faults]),
        );
    }
    seen.add("leader where there is none", said(&[], &["run", "redis/redlock", "--faults", "kill:leader"]));
    seen.add("workload of another kind", said_to("--workload election"));
    for faults in ["partition:halves", "kill:minority", "kill:rolling"] {
        seen.add(&format!("a part of one server: {faults}"), said_to(&format!("--faults {faults}")));
    }
    insta::assert_snapshot!(seen.0);
}

#[test]
fn of_values() {
    let mut seen = Transcript::default();
    seen.add("setting of another kind", said_to("--set persistence=sometimes"));
    seen.add("setting without value", said_to("--set persistence"));
    seen.add("too many nodes", said_to("--nodes 3"));
    seen.add("no nodes", said(&[], &["run", "etcd/lease-lock", "--nodes", "0"]));
    let waits = ["run", "redis/sentinel", "--set", "wait_replicas=3"];
    seen.add("more replicas than there are", said(&[], &waits));
    let drift = |percent| ["run", "redis/redlock", "--set", percent];
    seen.add("no drift that a lock outlives", said(&[], &drift("drift_percent=91")));
    seen.add("drift beyond 32 bits", said(&[], &drift("drift_percent=4294967297")));
    seen.add("no time at all", said(&[], &["run", "redis/sentinel", "--set", "down_after_ms=0"]));
    seen.add("no clients", said_to("--clients 0"));
    seen.add("too many clients", said_to("--clients 101"));
    seen.add("negative clients", said_to("--clients -5"));
    seen.add("ttl too short", said_to("--ttl 5ms"));
    seen.add("ttl without unit", said_to("--ttl 2"));
    seen.add("time of an unknown unit", said_to("--time 2d"));
    seen.add("time too short", said_to("--time 0s"));
    seen.add("negative time", said_to("--time -3s"));
    seen.add("ttl too long", said_to("--ttl 24h"));
    seen.add("time too long", said_to("--time 25h"));
    seen.add("one setting twice", said_to("--set persistence=none --set persistence=always"));
    seen.add("clients beyond 32 bits", said_to("--clients 5000000000"));
    seen.add("servers in words", said_to("--nodes three"));
    seen.add("rate in words", said_to("--rate often"));
    seen.add("rate of nothing", said_to("--rate 0"));
    seen.add("rate beyond reason", said_to("--rate 1e300"));
    seen.add("unknown expectation", said_to("--expect good"));
    seen.add("version and image", said_to("--version 7.0 --image redis:7"));
    insta::assert_snapshot!(seen.0);
}

#[test]
fn in_files() {
    let mut seen = Transcript::default();
    seen.add("file without recipe", said_of("clients = 5\n"));
    seen.add("file with unknown recipe", said_of("name = \"x\"\nrecipe = \"redis/setnx\"\n"));
    seen.add("unknown key", said_of("recipe = \"redis/set-nx\"\nclinets = 5\n"));
    seen.add("unknown key of system", said_of("recipe = \"redis/set-nx\"\n[system]\nverion = \"7.0\"\n"));
    seen.add("wrong type", said_of("recipe = \"redis/set-nx\"\nclients = \"five\"\n"));
    seen.add("number out of range", said_of("recipe = \"redis/set-nx\"\nclients = 1000\n"));
    seen.add("number that is no duration", said_of("recipe = \"redis/set-nx\"\nttl = 2\n"));
    seen.add("syntax", said_of("recipe = \"redis/set-nx\"\nclients = [\n"));
    seen.add("unknown check", said_of("recipe = \"redis/set-nx\"\nexpect = { exclusoin = \"valid\" }\n"));
    seen.add("unknown verdict", said_of("recipe = \"redis/set-nx\"\nexpect = { exclusion = \"vald\" }\n"));
    seen.add(
        "unknown fault in a file",
        said_of("recipe = \"redis/set-nx\"\n[faults.puase]\ntarget = \"holder\"\n"),
    );
    seen.add(
        "unknown setting in a file",
        said_of("recipe = \"redis/set-nx\"\n[settings]\npersistance = \"none\"\n"),
    );
    seen.add(
        "wrong value of a setting in a file",
        said_of("recipe = \"redis/set-nx\"\n[settings]\npersistence = \"somtimes\"\n"),
    );
    seen.add(
        "setting out of range",
        said_of("recipe = \"redis/redlock\"\n[settings]\ndrift_percent = 4294967297\n"),
    );
    seen.add("span upside down", said_of("recipe = \"redis/set-nx\"\n[rates]\nthink_ms = [5, 1]\n"));
    seen.add("name that is no folder", said_of("name = \"../../x\"\nrecipe = \"redis/set-nx\"\n"));
    for name in ["latest", "latest/x"] {
        seen.add(
            "name of the latest run",
            said_of(&format!("name = \"{name}\"\nrecipe = \"redis/set-nx\"\n")),
        );
    }
    let three = "recipe = \"etcd/lease-lock\"\ntime = \"10s\"\n[system]\nnodes = 3\n";
    let groups = "[faults.partition]\ngroups = [[\"s1\", \"c1\"], [\"s9\"]]\n";
    seen.add("groups of nodes that are not there", said_of(&format!("{three}{groups}")));
    let given = "[[schedule]]\nkind = \"pause\"\nat_ms = 1000\nlasts_ms = 500\n";
    let there = format!("{three}{given}target = \"s3\"\n");
    seen.add("given for a node that is not there", said_of(&format!("{there}{given}target = \"s4\"\n")));
    let jump = "[[schedule]]\nkind = \"clock\"\ntarget = \"s1\"\nat_ms = 1000\nlasts_ms = 500\nparams = { by_ms = 9223372036854775807 }\n";
    seen.add("clock beyond reason", said_of(&format!("{three}{jump}")));
    let late = "recipe = \"redis/set-nx\"\ntime = \"10s\"\n[[schedule]]\nkind = \"pause\"\ntarget = \"holder\"\nat_ms = 12000\nlasts_ms = 500\n";
    seen.add("fault after the end", said_of(late));
    let both = "recipe = \"redis/set-nx\"\n[faults.pause]\n[[schedule]]\nkind = \"pause\"\ntarget = \"holder\"\nat_ms = 1000\nlasts_ms = 500\n";
    seen.add("faults and schedule", said_of(both));
    let redis = |line: &str| said_of(&format!("recipe = \"redis/set-nx\"\n{line}\n"));
    for line in [
        "faults = \"pause:holder\"",
        "schedule = 5",
        "expect = \"valid\"",
        "on = 5",
        "seed = -1",
        "clients = 99999999999999999999",
        "[sim]\npower_cut = 1",
        "[rates]\nthink_ms = 5",
    ] {
        seen.add(&format!("of another type: {}", line.replace('\n', " ")), redis(line));
    }
    seen.add("three ends of a span", redis("[rates]\nthink_ms = [1, 2, 3]"));
    seen.add("no groups at all", redis("[faults.partition]\ngroups = []"));
    seen.add("no offset", redis("[faults.clock]\nby = \"soon\""));
    seen.add("workload of another kind", redis("workload = \"election\""));
    seen.add("halves of one server", redis("[faults.partition]\ntarget = \"halves\""));
    seen.add(
        "given for halves of one server",
        redis(&given.replace("pause", "partition").replace("at_ms", "target = \"halves\"\nat_ms")),
    );
    seen.add("ttl too long in a file", redis("ttl = \"1000h\""));
    seen.add("time too long in a file", redis("time = \"25h\""));
    seen.add(
        "faults without number",
        redis("time = \"24h\"\n[faults.pause]\nevery = \"1ms\"\nlasts = \"1ms\""),
    );
    seen.add("name too long", redis(&format!("name = \"{}\"", "x".repeat(300))));
    seen.add("no file", said(&[], &["run", "nothing.toml"]));
    insta::assert_snapshot!(seen.0);
}

#[test]
fn of_simulations() {
    let mut seen = Transcript::default();
    let explore = |flags: &str| {
        let args: Vec<&str> =
            ["explore", "redis/set-nx"].into_iter().chain(flags.split_whitespace()).collect();
        said(&[("file", "")], &args)
    };
    seen.add("no seeds", explore("--seeds 0"));
    seen.add("negative seed", explore("--seed -1"));
    seen.add("seed of another kind", explore("--seed first"));
    seen.add("seeds past the last one", explore("--seed 18446744073709551615 --seeds 2"));
    seen.add("no threads", explore("--jobs 0"));
    seen.add("more threads than there can be", explore("--jobs 100000000"));
    seen.add("real servers", explore("--on docker"));
    seen.add("one run's formats", explore("--json"));
    seen.add("image", explore("--image redis:7"));
    seen.add(
        "image of a simulated run",
        said(&[], &["run", "redis/set-nx", "--on", "sim", "--image", "redis:7"]),
    );
    let file = |line: &str, on: &[&str]| {
        let text = format!("recipe = \"redis/set-nx\"\n{line}\n");
        said(&[("e.toml", &text)], &[&["run", "e.toml"], on].concat())
    };
    let image = "[system]\nimage = \"redis:7\"";
    seen.add("image of a simulated run in a file", file(image, &["--on", "sim"]));
    seen.add("time that is too long to simulate", file("time = \"5h\"", &["--on", "sim"]));
    seen.add("unknown recipe", said(&[], &["explore", "redis/setnx"]));
    seen.add("replay of nothing", said(&[], &["replay", "nothing"]));
    seen.add("replay of no run", said(&[], &["replay", "."]));
    insta::assert_snapshot!(seen.0);
    let unwritable = explore("--store file/x");
    assert!(
        unwritable.contains("cannot be made: Not a directory") && unwritable.ends_with("exit 64"),
        "{unwritable}"
    );
}

#[test]
fn a_file_of_other_bytes_is_no_experiment() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("e.toml"), [0xff, 0xfe, 0x00]).expect("the file is written");
    insta::assert_snapshot!("bytes", said_in(folder.path(), &["run", "e.toml"]));
}

#[test]
fn without_an_engine() {
    let mut seen = Transcript::default();
    seen.add("no socket", said_to(""));
    let output = fencepost()
        .env("DOCKER_HOST", "tcp://127.0.0.1:1")
        .args(["run", "redis/set-nx", "--on", "docker"])
        .output();
    seen.add("nobody listens", screen(&output.expect("the binary runs")));
    insta::assert_snapshot!(seen.0);
    for command in ["clean", "images"] {
        assert!(said(&[], &[command]).ends_with("exit 69"));
    }
    let doctor = said(&[], &["doctor"]);
    assert!(
        doctor.starts_with("PROBLEM  no Docker engine answers at unix:///nonexistent")
            && doctor.ends_with("exit 69"),
        "{doctor}"
    );
}

#[test]
fn places_that_cannot_be_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("file"), "").expect("the file is written");
    insta::assert_snapshot!(
        "junit",
        said_in(folder.path(), &["run", "redis/set-nx", "--on", "docker", "--junit", "file/junit.xml"])
    );
    if !crate::support::docker() {
        return;
    }
    // The store is made only once an engine has answered.
    let output = fencepost()
        .current_dir(folder.path())
        .args(["run", "redis/set-nx", "--on", "docker", "--store", "file/x"])
        .output();
    insta::assert_snapshot!("store", screen(&output.expect("the binary runs")));
}

#[test]
fn an_image_that_cannot_be_had_makes_the_world_unavailable() {
    if !crate::support::docker() {
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

/// An engine that has every image, and a network pool in which nothing is free. Serves until the test ends.
fn engine_without_addresses() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || listener.incoming().flatten().try_for_each(answer));
    format!("tcp://{address}")
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut request, mut line, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut request)?;
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
        line.clear();
    }
    io::copy(&mut reader.take(length), &mut io::sink())?;
    let (status, body) = match request.split(' ').nth(1).unwrap_or_default() {
        path if path.ends_with("/version") => {
            (200, r#"{"Version":"27.0","ApiVersion":"1.46","MinAPIVersion":"1.24"}"#)
        }
        path if path.ends_with("/networks/create") => {
            (403, r#"{"message":"Pool overlaps with other one on this address space"}"#)
        }
        path if path.contains("/images/") => (200, r#"{"Id":"sha256:0"}"#),
        path if path.ends_with("/info") => (200, r#"{"ServerVersion":"27.0"}"#),
        _ if request.starts_with("DELETE") => (404, r#"{"message":"no such network"}"#),
        _ => (200, "[]"),
    };
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn no_free_network_makes_the_world_unavailable() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let host = engine_without_addresses();
    let output = fencepost()
        .current_dir(folder.path())
        .env("DOCKER_HOST", &host)
        .args(["run", "redis/set-nx", "--on", "docker", "--image", "x:1", "--seed", "1"])
        .output();
    let screen = screen(&output.expect("the binary runs")).replace(&host, "tcp://127.0.0.1:PORT");
    insta::assert_snapshot!("addresses", screen);
}

const ACQUIRE: &str = r#"{"index":0,"time":1,"process":0,"node":"c1","type":"invoke","f":"acquire","value":{"lock":"a"}}
{"index":1,"time":2,"process":0,"node":"c1","type":"ok","f":"acquire","value":{"lock":"a"}}
"#;

#[test]
fn histories() {
    let mut seen = Transcript::default();
    let check = |history: &str| said(&[("history.jsonl", history)], &["check", "history.jsonl"]);
    seen.add("line that is no JSON", check(&format!("{ACQUIRE}{{\"index\":2,\n{ACQUIRE}")));
    seen.add("line that lacks a field", check(&format!("{ACQUIRE}{{\"index\":2,\"time\":3}}\n")));
    seen.add(
        "completion without invocation",
        check(&ACQUIRE.lines().nth(1).expect("two lines").replace("\"index\":1", "\"index\":0")),
    );
    let twice = ACQUIRE.lines().next().expect("two lines");
    seen.add(
        "two invocations of a process",
        check(&format!("{twice}\n{}\n", twice.replace("\"index\":0", "\"index\":1"))),
    );
    seen.add("no history", check("something else altogether"));
    seen.add("no such history", said(&[], &["check", "nothing"]));
    seen.add("folder that is no run", said(&[], &["check", "."]));
    seen.add("report of no run", said(&[], &["report", "."]));
    insta::assert_snapshot!(seen.0);
}

#[test]
fn a_torn_last_line_is_only_a_note() {
    let torn = format!("{ACQUIRE}{{\"index\":2,\"ti");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let history = folder.path().join("history.jsonl");
    fs::write(&history, torn).expect("the file is written");
    let output = fencepost().arg("check").arg(&history).output().expect("the binary runs");
    assert!(text(&output).contains("history.jsonl: line 3 is torn and was dropped"), "{}", text(&output));
    assert_eq!(output.status.code(), Some(2), "nothing was contended");
}

/// What `command`, a line of a shell, prints and ends with; `$FENCEPOST` is the binary.
fn shell(folder: &Path, command: &str) -> String {
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(folder).env("FENCEPOST", env!("CARGO_BIN_EXE_fencepost")).env("CI", "true");
    screen(&shell.args(["-c", command]).output().expect("a shell runs"))
}

/// Files and pipes without end: refused soon, within the memory that there is.
#[test]
fn what_has_no_end() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    std::os::unix::fs::symlink("/dev/zero", path.join("e.toml")).expect("a link");
    let long = format!(
        "{}\n",
        ACQUIRE.lines().next().expect("a line").replace("\"a\"", &format!("\"{}\"", "k".repeat(4000)))
    );
    fs::write(path.join("line"), &long).expect("the file is written");
    let limited = |command: &str| shell(path, &format!("ulimit -v 400000; {command}"));
    let mut seen = Transcript::default();
    seen.add("experiment", limited("timeout 60 $FENCEPOST run e.toml --on sim"));
    seen.add("history of zeroes", limited("timeout 60 $FENCEPOST check /dev/zero"));
    seen.add("history of something else", limited("yes | timeout 60 $FENCEPOST check -"));
    seen.add("line without end", limited("cat line /dev/zero | timeout 60 $FENCEPOST check -"));
    insta::assert_snapshot!(seen.0);
    let endless = limited("yes \"$(cat line)\" | timeout 100 $FENCEPOST check - | head -4");
    assert!(endless.starts_with("UNKNOWN  ") && endless.contains("memory"), "{endless}");
}

#[test]
fn a_binary_that_no_node_can_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("script"), "#!/bin/sh\n").expect("the file is written");
    let mut seen = Transcript::default();
    for binary in ["nothing", "script"] {
        let mut run = fencepost();
        run.current_dir(folder.path()).args(["run", "redis/set-nx", "--on", "docker"]);
        run.env("DOCKER_HOST", "unix:///nonexistent").env("FENCEPOST_NODE_BINARY", binary);
        seen.add(binary, screen(&run.output().expect("the binary runs")));
    }
    insta::assert_snapshot!(seen.0);
    assert!(!folder.path().join("store").exists(), "nothing was made");
}

/// Whatever a file holds, a terminal is neither moved nor flooded by it.
#[test]
fn what_others_wrote_does_not_reach_the_terminal_as_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let evil = "\u{9b}2J\u{202e}\u{200b}\u{fffe}";
    let key = "k".repeat(1_000_000);
    let token = |value: &str| {
        ACQUIRE.replace(
            r#""ok","f":"acquire","value":{"lock":"a""#,
            &format!(r#""ok","f":"acquire","value":{{"lock":"a","token":"{value}""#),
        )
    };
    let files = [
        ("evil.jsonl", token(evil)),
        ("key.jsonl", token(&key)),
        ("lock.jsonl", ACQUIRE.replace("\"a\"", &format!("\"{evil}{key}\""))),
        ("name.jsonl", ACQUIRE.replace("c1", evil).replace("acquire", &key)),
        ("evil.toml", format!("recipe = \"{evil}\"")),
        ("key.toml", format!("recipe = \"{key}\"")),
        ("line.toml", format!("recipe = \"redis/set-nx\"\n{key} = 1")),
        ("name.toml", format!("recipe = \"redis/set-nx\"\nname = \"{evil}{key}\"")),
    ];
    for (name, content) in &files {
        fs::write(folder.path().join(name), content).expect("the file is written");
    }
    let of_file =
        |name: &str| if name.ends_with("toml") { ["run", "--on=sim"] } else { ["check", "--format=table"] };
    let mut commands: Vec<Vec<String>> = files
        .iter()
        .map(|(name, _)| of_file(name).into_iter().chain([*name]).map(String::from).collect())
        .collect();
    let flags =
        [["--faults", evil], ["--set", evil], ["--version", evil], ["--expect", evil], ["--ttl", evil]];
    commands.extend(
        flags.map(|flag| ["run", "redis/set-nx"].into_iter().chain(flag).map(String::from).collect()),
    );
    for command in commands {
        let output = fencepost().current_dir(folder.path()).args(&command).output().expect("the binary runs");
        let text = text(&output);
        let raw = |c: char| (c.is_control() && c != '\n') || evil.chars().any(|e| e == c && !e.is_ascii());
        assert_eq!(text.find(raw), None, "{command:?}: {}", text.escape_debug());
        let longest = text.lines().map(str::len).max().unwrap_or_default();
        assert!(longest < 4096 && text.lines().count() < 100, "{command:?}: a line of {longest} bytes");
        assert!(!text.contains("panicked"), "{text}");
    }
}
