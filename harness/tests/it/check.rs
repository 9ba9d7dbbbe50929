//! `fencepost check` on histories of every format, for every model, and beyond its limits.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

#[path = "../../../checkers/linear/tests/support/wrong.rs"]
mod wrong;

fn fencepost(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.args(arguments).env("NO_COLOR", "1");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A check that ends before it has read all closes the pipe.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the binary ends")
}

/// Checks what stands in `input`; exit code and `verdict.json`.
fn check(input: &str, arguments: &[&str]) -> (i32, Value) {
    let output = fencepost(&[&["check", "-", "--json"], arguments].concat(), input);
    let code = output.status.code().expect("no signal");
    let json = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: exit {code}: {}", String::from_utf8_lossy(&output.stderr)));
    (code, json)
}

/// What goes wrong: exit code and stderr.
fn refused(input: &str, arguments: &[&str]) -> (i32, String) {
    let output = fencepost(&[&["check", "-"], arguments].concat(), input);
    assert!(output.stdout.is_empty());
    (output.status.code().expect("no signal"), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// One operation after another, each of a process of its own: function, what was asked, what was answered.
fn edn(operations: &[(&str, &str, &str)]) -> String {
    let events = operations.iter().enumerate().map(|(process, (f, asked, got))| {
        let event = |kind: &str, value: &str| {
            format!("{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}\n")
        };
        event("invoke", asked) + &event("ok", got)
    });
    events.collect()
}

/// Histories, with whether they are linearizable, and what has to be said of what they mean.
fn vectors() -> Vec<(PathBuf, bool, &'static [&'static str])> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/vectors");
    let Ok(index) = fs::read_to_string(folder.join("INDEX.tsv")) else {
        eprintln!(
            "\n*** SKIPPED: {} is not there; no history of another tool was judged ***\n",
            folder.display()
        );
        return Vec::new();
    };
    let fields = index.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let told = |format: &str| if format == "jepsen-log" { ETCD } else { &[] };
    let of = |fields: Vec<&str>| (folder.join(fields[0]), fields[6] == "linearizable", told(fields[1]));
    let mut found: Vec<(PathBuf, bool, &[&str])> = fields.map(of).collect();
    let locks = fs::read_dir(folder.join("synthetic/lock")).into_iter().flatten().flatten();
    found.extend(
        locks.map(|file| (file.path(), !file.path().to_string_lossy().ends_with("_bad.txt"), &[][..])),
    );
    found
}

/// In Jepsen's old etcd logs a failed compare-and-set saw another value, and at first there is no key.
const ETCD: &[&str] = &["--failed-cas", "observation", "--nil-read", "value", "--initial", "nil"];

#[test]
fn vectors_are_judged_as_their_index_says() {
    for (path, is_valid, told) in vectors() {
        // What is wrong is told within the limit; explaining it further may be cut short by it.
        let path_given = path.display().to_string();
        let arguments = ["check", &path_given, "--json", "--timeout", "10s"];
        let output = fencepost(&[&arguments, told].concat(), "");
        let expected = if is_valid { 0 } else { 1 };
        assert_eq!(output.status.code(), Some(expected), "{}: {output:?}", path.display());
    }
}

/// Model, operations that it permits, operations that it does not.
type Case = (
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
    &'static [(&'static str, &'static str, &'static str)],
);

const CASES: [Case; 9] = [
    (
        "register",
        &[("write", "1", "1"), ("read", "nil", "1")],
        &[("write", "1", "1"), ("write", "2", "2"), ("read", "nil", "1")],
    ),
    (
        "cas-register",
        &[("write", "1", "1"), ("cas", "[1 2]", "[1 2]"), ("read", "nil", "2")],
        &[("write", "1", "1"), ("cas", "[3 2]", "[3 2]")],
    ),
    (
        "multi-register",
        &[("txn", "[[:w :x 1] [:w :y 2]]", "[[:w :x 1] [:w :y 2]]"), ("txn", "[[:r :x nil]]", "[[:r :x 1]]")],
        &[("txn", "[[:w :x 1] [:w :y 2]]", "[[:w :x 1] [:w :y 2]]"), ("txn", "[[:r :y nil]]", "[[:r :y 1]]")],
    ),
    (
        "mutex",
        &[("acquire", "nil", "nil"), ("release", "nil", "nil")],
        &[("acquire", "nil", "nil"), ("acquire", "nil", "nil")],
    ),
    (
        "semaphore:2",
        &[("acquire", "nil", "nil"), ("acquire", "1", "1")],
        &[("acquire", "2", "2"), ("acquire", "1", "1")],
    ),
    (
        "counter",
        &[("add", "2", "2"), ("add-and-get", "3", "5"), ("read", "nil", "5")],
        &[("add", "2", "2"), ("read", "nil", "3")],
    ),
    (
        "fifo-queue",
        &[("enqueue", "1", "1"), ("enqueue", "2", "2"), ("dequeue", "nil", "1")],
        &[("enqueue", "1", "1"), ("enqueue", "2", "2"), ("dequeue", "nil", "2")],
    ),
    (
        "set",
        &[("add", "1", "1"), ("read", "nil", "#{1}")],
        &[("add", "1", "1"), ("remove", "1", "1"), ("contains", "1", "true")],
    ),
    (
        "key-value",
        &[
            ("put", "{:key \"k\" :value \"a\"}", "nil"),
            ("append", "{:key \"k\" :value \"b\"}", "nil"),
            ("get", "{:key \"k\"}", "{:value \"ab\"}"),
        ],
        &[("put", "{:key \"k\" :value \"a\"}", "nil"), ("get", "{:key \"k\"}", "{:value \"b\"}")],
    ),
];

#[test]
fn every_model_tells_good_from_bad() {
    for (model, good, bad) in CASES {
        let (code, verdict) = check(&edn(good), &["--model", model]);
        assert_eq!((code, &verdict["verdict"]), (0, &"valid".into()), "{model}: {verdict}");
        let (code, verdict) = check(&edn(bad), &["--model", model]);
        assert_eq!((code, &verdict["verdict"]), (1, &"invalid".into()), "{model}: {verdict}");
        let check = &verdict["checks"]["linearizability"];
        assert_eq!(check["count"], 1);
        assert!(check["reason"].as_str().is_some_and(|reason| reason.contains(model.trim_end_matches(":2"))));
        assert!(
            !check["violations"][0]["operations"].as_array().expect("indexes").is_empty(),
            "{model}: {check}"
        );
    }
}

#[test]
fn locks_differ_in_what_they_permit() {
    let nested = "0 invoke acquire\n0 ok acquire 1\n0 invoke acquire\n0 ok acquire 1\n0 invoke release\n0 ok release\n0 invoke release\n0 ok release\n";
    let stolen = "0 invoke acquire\n0 ok acquire 1\n1 invoke release\n1 ok release\n";
    let backwards = "0 invoke acquire\n0 ok acquire 2\n0 invoke release\n0 ok release\n1 invoke acquire\n1 ok acquire 1\n";
    for (history, permitting) in [
        (nested, &["reentrant-mutex", "reentrant-fenced-mutex"][..]),
        (stolen, &["mutex"]),
        (backwards, &["mutex", "owned-mutex", "reentrant-mutex"]),
    ] {
        for model in ["mutex", "owned-mutex", "reentrant-mutex", "fenced-mutex", "reentrant-fenced-mutex"] {
            let (code, _) = check(history, &["--model", model]);
            assert_eq!(code == 0, permitting.contains(&model), "{model}: {history}");
        }
    }
}

#[test]
fn every_format_is_told_by_its_content() {
    let jsonl = |value: u32| {
        let line = |kind: &str, f: &str, value: &str| {
            format!("{{\"time\":1,\"process\":0,\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
        };
        [
            line("invoke", "write", "1"),
            line("ok", "write", "1"),
            line("invoke", "read", "null"),
            line("ok", "read", &value.to_string()),
        ]
        .concat()
    };
    let log = |value: u32| {
        format!(
            "INFO  jepsen.util - 0\t:invoke\t:write\t1\nINFO  jepsen.util - 0\t:ok\t:write\t1\n\
             INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - 0\t:ok\t:read\t{value}\n"
        )
    };
    let map = |value: u32| edn(&[("write", "1", "1"), ("read", "nil", &value.to_string())]);
    let porcupine = |value: u32| {
        format!(
            "{{:process 0, :type :invoke, :f :put, :key \"k\", :value \"1\"}}\n{{:process 0, :type :ok, :f :put, :key \"k\", :value \"1\"}}\n\
             {{:process 0, :type :invoke, :f :get, :key \"k\", :value nil}}\n{{:process 0, :type :ok, :f :get, :key \"k\", :value \"{value}\"}}\n"
        )
    };
    let lines = |value: u32| {
        format!(
            "0 invoke acquire\n0 ok acquire 1\n0 invoke release\n0 ok release\n1 invoke acquire\n1 ok acquire {}\n",
            2 - (value - 1) * 2
        )
    };
    for (format, good, bad) in [
        ("JSON Lines", jsonl(1), jsonl(2)),
        ("EDN", map(1), map(2)),
        ("Jepsen's log", log(1), log(2)),
        ("Porcupine's lines", porcupine(1), porcupine(2)),
        ("lock lines", lines(1), lines(2)),
    ] {
        assert_eq!((check(&good, &[]).0, check(&bad, &[]).0), (0, 1), "{format}");
    }
}

#[test]
fn what_a_history_means_can_be_said() {
    let failed = "0 :invoke :cas [1 2]\n0 :fail :cas [1 2]\n1 :invoke :read nil\n1 :ok :read 1\n";
    let written = format!("2 :invoke :write 1\n2 :ok :write 1\n{failed}");
    assert_eq!(check(&written, &[]).0, 0, "what failed did not happen");
    assert_eq!(check(&written, &["--failed-cas", "observation"]).0, 1, "it saw another value");
    let read = edn(&[("read", "nil", "0")]);
    assert_eq!(check(&read, &[]).0, 0, "nobody says what the register starts with");
    assert_eq!((check(&read, &["--initial", "0"]).0, check(&read, &["--initial", "nil"]).0), (0, 1));
    let nil = edn(&[("write", "1", "1"), ("read", "nil", "nil")]);
    assert_eq!((check(&nil, &[]).0, check(&nil, &["--nil-read", "value"]).0), (0, 1));
}

/// A counter to which `clients` may each have added an even number, and one an odd one that is too large, while a read
/// sees an odd number: which sums can be made is hard to tell, so that every choice must be tried.
fn explosive(clients: u32) -> String {
    let event = |process: u32, kind: &str, f: &str, value: &str| {
        format!("{{:process {process} :type :{kind} :f :{f} :value {value}}}\n")
    };
    let amount =
        |client: u32| 2 * (100_000_000_000 + 31 * u64::from(client * client) * 7u64.pow(client % 13));
    let mut text: String =
        (0..clients).map(|client| event(client, "invoke", "add", &amount(client).to_string())).collect();
    text += &event(clients, "invoke", "add", "10000000000000001");
    let sum: u64 = (0..clients / 2).map(amount).sum();
    text + &event(clients + 1, "invoke", "read", "nil")
        + &event(clients + 1, "ok", "read", &(sum + 1).to_string())
}

#[test]
fn a_search_that_explodes_stops_in_time_and_tells_how_far_it_came() {
    let start = Instant::now();
    let (code, verdict) = check(&explosive(40), &["--timeout", "2s"]);
    let took = start.elapsed();
    assert_eq!((code, &verdict["verdict"]), (2, &"unknown".into()));
    // The search itself would take hours; how soon after the limit it ends is a bench's business.
    assert!(took < Duration::from_secs(60), "{took:?}");
    let reason = verdict["checks"]["linearizability"]["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("time limit") && reason.contains("--timeout") && reason.contains("returns"),
        "{reason}"
    );
}

#[test]
fn memory_has_a_limit_in_the_search_and_while_reading() {
    let (code, verdict) = check(&explosive(40), &["--memory", "96MiB", "--timeout", "60s"]);
    let reason = verdict["checks"]["linearizability"]["reason"].as_str().expect("a reason");
    assert_eq!(code, 2, "{reason}");
    assert!(reason.contains("memory limit") && reason.contains("--memory"), "{reason}");
    let large = edn(&vec![("read", "nil", "1"); 4000]);
    let (code, verdict) = check(&large, &["--memory", "100KiB"]);
    let reason = verdict["checks"]["linearizability"]["reason"].as_str().expect("a reason");
    assert_eq!(code, 2, "{reason}");
    assert!(reason.contains("memory"), "{reason}");
}

/// The most memory that the process held, as often as it was looked at, in MiB.
fn peak_mib(input: &str, arguments: &[&str]) -> (u64, Output) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args([&["check", "-", "--json"], arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("it is ours").is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let highest = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak = peak.max(highest.and_then(|kib| kib.trim().parse().ok()).unwrap_or(0) / 1024);
        std::thread::sleep(Duration::from_millis(2));
    }
    (peak, child.wait_with_output().expect("it ended"))
}

#[test]
fn the_memory_limit_is_used_up_and_not_passed() {
    const LIMIT_MIB: u64 = 160;
    let limit = format!("{LIMIT_MIB}MiB");
    let (peak, output) = peak_mib(&explosive(40), &["--memory", &limit, "--timeout", "120s"]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("memory limit was reached after"), "{told}");
    assert!((LIMIT_MIB * 9 / 10..=LIMIT_MIB * 11 / 10).contains(&peak), "{peak} of {LIMIT_MIB} MiB");
}

#[test]
fn our_own_vocabulary_goes_to_the_checks_of_a_run() {
    let line = |time: u32, process: u32, kind: &str, value: &str| {
        format!(
            "{{\"time\":{time},\"process\":{process},\"type\":\"{kind}\",\"f\":\"acquire\",\"value\":{value}}}\n"
        )
    };
    let lock = r#"{"lock":"a"}"#;
    let text = line(1, 0, "invoke", lock)
        + &line(2, 0, "ok", lock)
        + &line(3, 1, "invoke", lock)
        + &line(4, 1, "ok", lock);
    // The second hold must last: at its first instant nothing overlaps yet.
    let text = text + &line(5, 2, "invoke", lock);
    let (code, verdict) = check(&text, &[]);
    assert_eq!((code, &verdict["checks"]["exclusion"]["verdict"]), (1, &"invalid".into()));
    assert_eq!(verdict["grants"]["total"], 2);
    let (code, verdict) = check(&text, &["--model", "owned-mutex"]);
    assert_eq!((code, &verdict["checks"]["linearizability"]["verdict"]), (1, &"invalid".into()));
    let table = fencepost(&["check", "-"], &text);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(table.contains("First violation") && table.contains("acquire ok"), "{table}");
}

#[test]
fn malformed_input_is_told_with_its_place() {
    let (code, message) =
        refused("{\"time\":1,\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}\n{\"time\":oops}\n", &[]);
    assert_eq!(code, 65);
    assert!(message.starts_with("error: <stdin>:2:9: "), "{message}");
    let (code, message) = refused("{:process 0 :type :invoke :f :read}\n{:process 0 :type :ok :f", &[]);
    assert_eq!(code, 65);
    assert!(message.starts_with("error: <stdin>:2:"), "{message}");
    let (code, message) = refused("0 ok acquire 1\n", &[]);
    assert_eq!(
        (code, message.trim()),
        (65, "error: <stdin>:1: process 0 completes acquire, which it did not invoke")
    );
    for (input, part) in [("", "empty"), ("what is this", "known format"), ("[{\"time\":1}]", "JSON array")] {
        let (code, message) = refused(input, &[]);
        assert!(code == 65 && message.contains(part), "{input}: {message}");
    }
}

#[test]
fn what_fits_no_model_is_told_the_models() {
    let (code, message) = refused(&edn(&[("fly", "nil", "nil")]), &[]);
    assert!(code == 65 && message.contains("fly") && message.contains("cas-register"), "{message}");
    let (code, message) = refused(&edn(&[("fly", "nil", "nil")]), &["--model", "set"]);
    assert!(code == 65 && message.contains("<stdin>:1: fly is no operation of a set"), "{message}");
    let (code, message) = refused(&edn(&[("cas", "[1 2]", "[1 2]")]), &["--model", "register"]);
    assert!(code == 65 && message.contains("cas-register"), "{message}");
    let (code, message) = refused("", &["--model", "fifo-quue"]);
    assert!(code == 64 && message.contains("did you mean `fifo-queue`?"), "{message}");
    let (code, message) = refused("", &["--model", "set", "--initial", "1"]);
    assert!(code == 64 && message.contains("starts empty"), "{message}");
    assert_eq!(refused("", &["--timeout", "soon"]).0, 64);
    assert_eq!(fencepost(&["check", "no such file"], "").status.code(), Some(65));
}

#[test]
fn an_explanation_is_a_page_of_its_own_and_words_below_the_table() {
    let bad = edn(&[("write", "1", "1"), ("write", "2", "2"), ("read", "nil", "1")]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let page = folder.path().join("why.html");
    let output = fencepost(&["check", "-", "--format", "html", "-o", &page.display().to_string()], &bad);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let page = fs::read_to_string(page).expect("the page was written");
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("<svg") && page.contains("cannot be placed")
    );
    let table = fencepost(&["check", "-"], &bad);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    for part in [
        "INVALID",
        "Not linearizable as a cas-register",
        "operations are enough to see it",
        "the register was 1 all the time",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
}

#[test]
fn a_verdict_is_explained_in_few_lines_whatever_is_wrong() {
    for (kind, model) in wrong::KINDS {
        // Not every wrong answer has no excuse.
        let texts = (1..50).map(|seed| wrong::history(kind, 60, seed));
        let outputs = texts.map(|text| fencepost(&["check", "-", "--model", model], &text));
        let output = outputs.into_iter().find(|output| output.status.code() == Some(1));
        let output = output.unwrap_or_else(|| panic!("{kind} is never wrong"));
        let printed = String::from_utf8_lossy(&output.stdout);
        let (table, why) = printed.split_once("\nWhy\n").unwrap_or_else(|| panic!("{kind}: {printed}"));
        assert!(table.starts_with("INVALID"), "{kind}: {printed}");
        let lines = why.lines().take_while(|line| !line.is_empty()).count();
        assert!(lines <= 30, "{kind}: {lines} lines: {why}");
    }
}

#[test]
fn an_explanation_that_is_out_of_time_is_shown_as_far_as_it_came() {
    let text = wrong::history("multi-register", 400, 1);
    let (code, verdict) = check(&text, &["--model", "multi-register", "--explain", "1ms"]);
    assert_eq!((code, &verdict["verdict"]), (1, &"invalid".into()), "{verdict}");
    let explanation = &verdict["checks"]["linearizability"]["explanation"];
    assert!(explanation["stopped"].as_str().is_some_and(|why| why.contains("time limit")), "{explanation}");
    assert!(explanation["text"].as_str().is_some_and(|text| text.contains("cannot be placed")));
    assert!(explanation["op"].is_u64(), "{explanation}");

    let (code, verdict) = check(&text, &["--model", "multi-register"]);
    let explanation = &verdict["checks"]["linearizability"]["explanation"];
    assert_eq!((code, &explanation["stopped"]), (1, &Value::Null), "{explanation}");
}

#[test]
fn the_verdict_stands_when_its_explanation_is_interrupted() {
    let text = wrong::history("queue-of-few-values", 300, 1);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("history.edn");
    fs::write(&path, text).expect("it is written");
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["check", &path.display().to_string(), "--model", "fifo-queue", "--explain", "1h"])
        .env("NO_COLOR", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut first = String::new();
    stdout.read_line(&mut first).expect("a line");
    assert!(first.starts_with("INVALID"), "{first}");
    // Whoever is done by then is interrupted too late, which does no harm.
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(1), "{rest}");
    assert!(rest.contains("\nWhy\n") && rest.contains("cannot be placed"), "{rest}");
}
