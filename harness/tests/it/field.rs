//! Small inputs from the field in `../shared/field`, beside the workspace: their index says what is right of each, and
//! `fencepost check` must say the same. Without that folder the tests say so; CI has it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

/// The kinds of inputs that are about verdicts on locks, in our vocabulary.
const LOCKS: [char; 5] = ['d', 'e', 'f', 'g', 'k'];
/// Those of other tools, which are judged against models; what is in EDN is so too.
const MODELS: [char; 4] = ['a', 'b', 'c', 'j'];

#[test]
fn what_the_field_reports_of_locks_is_judged_as_its_index_says() {
    let is_of_locks = |file: &str| file.starts_with(LOCKS) && !file.ends_with(".edn");
    all_are_answered(is_of_locks, is_answered);
}

#[test]
fn what_other_tools_recorded_is_judged_as_its_index_says() {
    let is_of_others = |file: &str| file.starts_with(MODELS) || file.ends_with(".edn");
    all_are_answered(is_of_others, is_answered_by_a_model);
}

fn all_are_answered(ours: fn(&str) -> bool, is_answered: fn(&Path, &str) -> Result<(), String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/field");
    let Ok(index) = fs::read_to_string(folder.join("INDEX.md")) else {
        eprintln!("skipped: there are no inputs from the field in {}", folder.display());
        return;
    };
    let is_ours = |file: &str| is_an_input(file) && ours(file);
    let mut rows = rows(&index);
    rows.retain(|(file, _)| is_ours(file));
    let told: BTreeSet<String> = rows.iter().map(|(file, _)| file.clone()).collect();
    let entries = fs::read_dir(&folder).expect("the folder is read").flatten();
    let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let there: BTreeSet<String> = files.filter(|file| is_ours(file)).collect();
    assert_eq!(told, there, "the index, as it was read, and the inputs that are there");
    assert!(!told.is_empty());
    let mut failures = Vec::new();
    for (file, answer) in rows {
        if let Err(why) = is_answered(&folder.join(&file), &answer) {
            failures.push(format!("{file}: not {answer:?}: {why}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A letter for the kind, and a number.
fn is_an_input(file: &str) -> bool {
    let mut name = file.chars();
    name.next().is_some_and(char::is_alphabetic) && name.next().is_some_and(|it| it.is_ascii_digit())
}

/// The inputs, each with its right answer. One cell may name several files, and of a twin only how it ends.
fn rows(index: &str) -> Vec<(String, String)> {
    let cells = index.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let files = |cells: Vec<&str>| {
        let mut stem = "";
        let mut rows = Vec::new();
        for file in cells[1].split(", ").map(|file| file.trim_end_matches('/')) {
            let file = if file.starts_with('.') { format!("{stem}{file}") } else { file.to_owned() };
            rows.push((file, cells[2].to_owned()));
            stem = cells[1].split('.').next().unwrap_or_default();
        }
        rows
    };
    cells.filter(|cells| cells.len() > 3).flat_map(files).collect()
}

fn is_answered_by_a_model(path: &Path, answer: &str) -> Result<(), String> {
    // The verdict is there at once; what explains it may be cut short.
    let output = check(path, &["--timeout", "5s", "--memory", "2GiB"]);
    let verdict = judged(&output)?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let found = verdict["verdict"].as_str().unwrap_or_default();
    let reason = verdict["checks"]["linearizability"]["reason"].to_string();
    let right = match answer {
        _ if answer.contains("the assumed initial value is said") => {
            found == "valid" && said.contains("starts with 0") && said.contains("--initial")
        }
        _ if answer.starts_with("not plainly VALID") => found == "invalid" && said.contains("aborted read"),
        _ if answer.starts_with("not INVALID") => found == "unknown" && reason.contains("--lock-value"),
        _ if answer.starts_with("INVALID") => found == "invalid",
        _ if answer.contains("VALID") || answer.starts_with("read and judged") => found == "valid",
        _ => return Err("what is that?".to_owned()),
    };
    is(right, &verdict).map_err(|why| format!("{said}{why}"))
}

fn is_answered(path: &Path, answer: &str) -> Result<(), String> {
    let path = if path.is_dir() { path.join("history.jsonl") } else { path.to_owned() };
    let output = check(&path, &[]);
    if answer.starts_with("refused") {
        return is_refused(&output);
    }
    if answer.starts_with("an error with its line") {
        // Or read as what it plainly is: then the check that needs the field speaks.
        return is_refused(&output).or_else(|_| {
            let verdict = judged(&output)?;
            let named = if path.to_string_lossy().contains("token") { "token" } else { "promise" };
            is(verdict["checks"][named]["verdict"] == "invalid", &verdict)
        });
    }
    let verdict = judged(&output)?;
    let of = |check: &str| verdict["checks"][check]["verdict"].as_str().unwrap_or("n/a").to_owned();
    if answer.starts_with("valid for a lock that refreshes") {
        let reasons = verdict["checks"].to_string();
        is(verdict["verdict"] != "invalid" && reasons.contains("--reacquire"), &verdict)?;
        let told = judged(&check(&path, &["--reacquire", "refresh"]))?;
        return is(told["verdict"] == "valid", &told);
    }
    if answer.starts_with("valid") {
        let liveness = !answer.contains("liveness n/a") || of("liveness") == "n/a";
        return is(verdict["verdict"] == "valid" && liveness, &verdict);
    }
    if answer.starts_with("invalid (term)") {
        return is(of("token") == "invalid", &verdict);
    }
    let (check, rest) = answer.split_once(' ').ok_or("an answer of one word")?;
    let blame = rest.split_once("blame ").map(|(_, who)| who);
    let who = verdict["checks"][check]["blame"].as_str();
    is(of(check) == rest.split(',').next().unwrap_or(rest) && (blame.is_none() || blame == who), &verdict)
}

fn is(right: bool, verdict: &Value) -> Result<(), String> {
    if right { Ok(()) } else { Err(format!("{verdict:#}")) }
}

/// Exit code 65, and a message that names a line.
fn is_refused(output: &Output) -> Result<(), String> {
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let right = output.status.code() == Some(65) && message.contains("line ");
    if right { Ok(()) } else { Err(format!("{:?}: {message}", output.status)) }
}

fn judged(output: &Output) -> Result<Value, String> {
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {:?}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
}

fn check(path: &Path, more: &[&str]) -> Output {
    let path: PathBuf = path.to_owned();
    Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .arg("check")
        .arg(path)
        .arg("--json")
        .args(more)
        .output()
        .expect("the program starts")
}
