//! Every invalid verdict ends with a line that helps, whatever shows it.

use std::{fs, path::Path};

use crate::support::{fencepost, text};
use serde_json::Value;

/// Exit code and stdout.
fn said(folder: &Path, args: &str) -> (i32, String) {
    let output = fencepost().current_dir(folder).args(args.split_whitespace()).output().expect("it runs");
    let code = output.status.code().expect("no signal ended it");
    assert!(code < 3, "{args}: {}", text(&output));
    (code, String::from_utf8_lossy(&output.stdout).into_owned())
}

/// On one line, as if the terminal had no edge.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn verdict(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("store/latest/verdict.json")).expect("a verdict");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_broken_run_tells_what_its_recipe_never_promised() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (code, table) =
        said(folder.path(), "run redis/set-nx --on sim --faults pause:holder --time 10s --seed 1");
    assert_eq!(code, 1, "{table}");
    let help = &verdict(folder.path())["help"];
    assert_eq!(help.as_array().map(Vec::len), Some(1), "one fault, one thing to know: {help:#}");
    let broken: Vec<&str> =
        help[0]["checks"].as_array().expect("checks").iter().filter_map(Value::as_str).collect();
    assert_eq!(broken, ["exclusion", "deadline", "damage"]);
    let [never, prevented] =
        ["never_promised", "prevented_by"].map(|field| help[0][field].as_str().expect("words"));
    assert!(never.contains("stood still") && prevented.contains("redis/set-nx-aware"), "{help:#}");
    let line = format!("redis/set-nx never promised that {never} (exclusion, deadline, damage). {prevented}");
    assert!(unwrapped(&table).ends_with(&line), "{table}");
    for format in ["table", "md"] {
        let (_, shown) = said(folder.path(), &format!("report store/latest --format {format}"));
        assert!(unwrapped(&shown).ends_with(&line), "{format}: {shown}");
    }
    let (_, page) = said(folder.path(), "report store/latest --format html");
    assert!(page.contains(&line), "the page has it");
    let (_, again) = said(folder.path(), "check store/latest");
    assert!(unwrapped(&again).ends_with(&line), "{again}");
}

/// Which of the things that were never promised is told by the faults of the run.
#[test]
fn the_faults_choose_what_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (faults, word) in
        [("clock:server", "wall clock"), ("clock:s1", "wall clock"), ("pause:c1", "stood still")]
    {
        let run = format!("explore redis/set-nx --faults {faults} --time 10s --seeds 200");
        let (code, table) = said(folder.path(), &run);
        assert_eq!(code, 1, "{faults}: {table}");
        let told = verdict(folder.path())["help"].clone();
        assert_eq!(told.as_array().map(Vec::len), Some(1), "{faults}: {told:#}");
        assert!(told[0]["never_promised"].as_str().is_some_and(|never| never.contains(word)), "{told:#}");
    }
}

#[test]
fn a_sound_run_is_told_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (code, table) = said(folder.path(), "run redis/set-nx --on sim --faults none --time 3s --seed 1");
    assert!(code == 0 && !table.contains("Help"), "{table}");
    assert_eq!(verdict(folder.path())["help"], Value::Array(Vec::new()));
}

#[test]
fn a_history_from_elsewhere_is_told_what_is_true_of_every_lock() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let event = |time: u64, process: u32, kind: &str, f: &str, value: &str| {
        format!(
            r#"{{"index":0,"time":{time}000000,"process":{process},"type":"{kind}","f":"{f}","value":{value}}}"#
        )
    };
    let lock = r#"{"lock":"a"}"#;
    let locks = [
        event(1, 0, "invoke", "acquire", lock),
        event(2, 0, "ok", "acquire", lock),
        event(3, 1, "invoke", "acquire", lock),
        event(4, 1, "ok", "acquire", lock),
        event(5, 0, "invoke", "release", lock),
        event(6, 0, "ok", "release", lock),
    ];
    let register = [
        event(1, 0, "invoke", "write", "1"),
        event(2, 0, "ok", "write", "1"),
        event(3, 1, "invoke", "read", "null"),
        event(4, 1, "ok", "read", "2"),
    ];
    for (events, check, end) in [
        (&locks[..], "exclusion", "keep this from doing harm."),
        (&register[..], "linearizability", "--failed-cas, --nil-read and --model say so."),
    ] {
        let lines: Vec<String> = events
            .iter()
            .enumerate()
            .map(|(i, line)| line.replacen("\"index\":0", &format!("\"index\":{i}"), 1))
            .collect();
        fs::write(folder.path().join("h.jsonl"), lines.join("\n") + "\n").expect("it is written");
        let (code, table) = said(folder.path(), "check h.jsonl");
        assert!(code == 1 && unwrapped(&table).ends_with(end), "{check}: {table}");
        let (_, json) = said(folder.path(), "check h.jsonl --json");
        let verdict: Value = serde_json::from_str(&json).expect("JSON");
        let told = &verdict["help"][0];
        assert!(told["checks"][0] == check && told["never_promised"].is_null(), "{told:#}");
    }
}
