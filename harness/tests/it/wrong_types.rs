//! A field of the wrong type is an error with its line, or read as what it plainly is; never as one that is absent.

use std::{fs, path::Path};

use crate::support::{fencepost, text};

/// Two clients, one after the other, each with these fields beside the lock in its grant; as JSON Lines.
fn grants(first: &str, second: &str) -> String {
    let line = |time: u64, process: u32, kind: &str, f: &str, fields: &str| {
        format!(
            r#"{{"time":{time},"process":{process},"node":"c{}","type":"{kind}","f":"{f}","value":{{"lock":"a"{fields}}}}}"#,
            process + 1
        )
    };
    let lines = [
        line(0, 0, "invoke", "acquire", ""),
        line(1, 0, "ok", "acquire", first),
        line(2, 1, "invoke", "acquire", ""),
        line(3, 0, "invoke", "release", ""),
        line(4, 0, "ok", "release", ""),
        line(5, 1, "ok", "acquire", second),
        line(6, 1, "invoke", "release", ""),
        line(7, 1, "ok", "release", ""),
    ];
    lines.join("\n") + "\n"
}

/// Exit code of `check` on files of these names, and both outputs.
fn checked(files: &[(&str, &str)]) -> (i32, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content) in files {
        fs::write(folder.path().join(name), content).expect("the file is written");
    }
    check(folder.path(), files[0].0)
}

fn check(folder: &Path, what: &str) -> (i32, String) {
    let output = fencepost().current_dir(folder).args(["check", what]).output().expect("the binary runs");
    let text = text(&output);
    assert!(!text.contains("panicked"), "{text}");
    (output.status.code().expect("no signal"), text)
}

#[test]
fn in_a_grant_it_is_refused_with_its_line() {
    let sound = r#","token":1,"ttl_ms":2000"#;
    for (field, said) in [
        (r#","token":"five""#, r#"the token of acquire is "five""#),
        (r#","token":[2]"#, "the token of acquire is [2]"),
        (r#","token":2.5"#, "the token of acquire is 2.5"),
        (r#","token":{"term":2}"#, "the token of acquire is {:term 2}"),
        (r#","token":2,"ttl_ms":"2s""#, r#"the ttl_ms of acquire is "2s""#),
        (r#","token":2,"ttl_ms":2000.25"#, "the ttl_ms of acquire is 2000.25"),
        (r#","token":2,"deadline_ns":-1"#, "the deadline_ns of acquire is -1"),
        (r#","token":2,"asked_ns":false"#, "the asked_ns of acquire is false"),
    ] {
        let (code, text) = checked(&[("h.jsonl", &grants(sound, field))]);
        assert_eq!(code, 65, "{field}: {text}");
        assert!(text.contains("h.jsonl:6: ") && text.contains(said), "{field}: {text}");
        assert!(text.contains("it must be a whole number from "), "{field}: {text}");
    }
}

#[test]
fn whole_floats_and_numerals_are_what_they_are() {
    for (first, second) in [
        (r#","token":"1","ttl_ms":"2000""#, r#","token":"2","ttl_ms":"2000""#),
        (r#","token":1.0,"ttl_ms":2000.0"#, r#","token":2.0,"ttl_ms":2000.0"#),
        (r#","token":-2"#, r#","token":-1"#),
        (r#","token":null,"ttl_ms":null"#, r#","token":null"#),
    ] {
        let (code, text) = checked(&[("h.jsonl", &grants(first, second))]);
        assert!(matches!(code, 0 | 2), "{first}: exit {code}: {text}");
    }
}

#[test]
fn a_lock_has_a_name_of_text() {
    let named = grants("", "");
    for (history, line) in [
        // Every lock, so that nothing else tells what kind of history it is.
        (named.replace(r#""lock":"a""#, r#""lock":7"#), 1),
        (
            named.replacen(r#""lock":"a""#, r#""lock":["a"]"#, 3).replacen(
                r#""lock":["a"]"#,
                r#""lock":"a""#,
                2,
            ),
            3,
        ),
        (
            named.replacen(r#""value":{"lock":"a"}"#, r#""value":{}"#, 3).replacen(
                "{}",
                r#"{"lock":"a"}"#,
                2,
            ),
            3,
        ),
        (
            named.replacen(r#""lock":"a""#, r#""lock":null"#, 4).replacen(
                r#""lock":null"#,
                r#""lock":"a""#,
                3,
            ),
            4,
        ),
    ] {
        let (code, text) = checked(&[("h.jsonl", &history)]);
        assert_eq!(code, 65, "{history}{text}");
        assert!(text.contains(&format!("h.jsonl:{line}: ")), "{history}{text}");
        assert!(text.contains("lock"), "{text}");
    }
}

#[test]
fn edn_is_read_as_strictly() {
    let history = |token: &str| {
        format!(
            "{{:process 0 :type :invoke :f :acquire :value {{:lock \"a\"}}}}\n\
             {{:process 0 :type :ok :f :acquire :value {{:lock \"a\" :token {token}}}}}\n"
        )
    };
    for token in [":five", "5/2", "2.5M", "##NaN", "(1)", "#inst \"2026-01-01\""] {
        let (code, text) = checked(&[("h.edn", &history(token))]);
        assert_eq!(code, 65, "{token}: {text}");
        assert!(text.contains("h.edn:2: the token of acquire is "), "{token}: {text}");
    }
    for token in ["5", "5N", "5.0", "5M", "\"5\"", "nil"] {
        let (code, text) = checked(&[("h.edn", &history(token))]);
        assert!(matches!(code, 0 | 2), "{token}: exit {code}: {text}");
    }
}

#[test]
fn faults_phases_and_accesses_are_read_as_strictly() {
    let nemesis = |f: &str, value: &str| {
        format!(r#"{{"time":0,"process":"nemesis","type":"info","f":"{f}","value":{value}}}"#) + "\n"
    };
    let write = |value: &str| {
        format!(r#"{{"time":8,"process":0,"node":"c1","type":"invoke","f":"write","value":{value}}}"#) + "\n"
    };
    let sound = grants("", "");
    for (history, said) in [
        (nemesis("phase", r#"{"phase":4}"#) + &sound, "h.jsonl:1: the phase of phase is 4"),
        (
            nemesis("phase", r#"{"phase":"liveness","ttl_ms":"2s"}"#) + &sound,
            "h.jsonl:1: the ttl_ms of phase",
        ),
        (
            nemesis("start-kill", r#"{"fault":1,"targets":"c1"}"#) + &sound,
            "h.jsonl:1: the targets of start-kill",
        ),
        (nemesis("stop-kill", r#"{"fault":"first"}"#) + &sound, "h.jsonl:1: the fault of stop-kill"),
        (
            sound.clone() + &write(r#"{"lock":"a","id":7}"#),
            "h.jsonl:9: the id of write is 7: it must be text",
        ),
        (sound.clone() + &write(r#"{"id":"0-1"}"#), "h.jsonl:9: write names no lock"),
    ] {
        let (code, text) = checked(&[("h.jsonl", &history)]);
        assert!(code == 65 && text.contains(said), "exit {code}: {text}");
    }
}

#[test]
fn a_resource_that_served_one_request_twice_is_refused() {
    let entry = |seq: u64| format!(r#"{{"seq":{seq},"time":1,"lock":"a","op":"read","process":0}}"#) + "\n";
    let history = grants("", "");
    let (code, text) =
        checked(&[("history.jsonl", &history), ("resource.jsonl", &[1, 2, 1].map(entry).concat())]);
    assert_eq!(code, 65, "{text}");
    assert!(text.contains("resource.jsonl: line 3, column 1: seq 1 is that of line 1 too"), "{text}");
    let (code, text) =
        checked(&[("history.jsonl", &history), ("resource.jsonl", &[1, 2, 3].map(entry).concat())]);
    assert!(matches!(code, 0 | 2), "exit {code}: {text}");
}

/// The files of a run, as they are judged when it ends and whenever it is judged again.
#[test]
fn a_stored_run_is_read_as_strictly() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let args = "run redis/set-nx-fenced --on sim --time 2s --clients 2 --seed 1 --store store";
    let ran = fencepost().current_dir(folder.path()).args(args.split_whitespace()).output().expect("it runs");
    assert!(ran.status.success(), "{}", text(&ran));
    let run = folder.path().join("store/latest");
    let (code, said) = check(folder.path(), "store/latest");
    assert_eq!(code, 0, "{said}");

    let log = fs::read_to_string(run.join("resource.jsonl")).expect("the log");
    let last = log.lines().last().expect("an entry").to_owned() + "\n";
    fs::write(run.join("resource.jsonl"), log.clone() + &last).expect("written");
    let (code, said) = check(folder.path(), "store/latest");
    let line = log.lines().count() + 1;
    assert!(
        code == 65 && said.contains(&format!("resource.jsonl: line {line}, column 1: seq ")),
        "{code}: {said}"
    );
    fs::write(run.join("resource.jsonl"), log).expect("written");

    let history = fs::read_to_string(run.join("history.jsonl")).expect("the history");
    let (before, after) = history.split_once(r#""token":"#).expect("a token");
    fs::write(run.join("history.jsonl"), format!(r#"{before}"token":"x","was":{after}"#)).expect("written");
    let (code, said) = check(folder.path(), "store/latest");
    let line = before.lines().count();
    let wanted = format!("history.jsonl: line {line}: the token of acquire is \"x\"");
    assert!(code == 65 && said.contains(&wanted), "{code}: {said}");
}
