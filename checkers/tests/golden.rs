//! Golden histories: `golden/<check>.<broken|sound|unknown>.<case>.jsonl`, the resource's log and the plan beside it
//! where there are any, and what the checks say in `.verdict.json`. The name alone says what the check has to find;
//! the file keeps figures and words. `BLESS=1` writes the files anew.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::{Path, PathBuf},
};

use checkers::{CHECKS, CheckContext, PlannedFaults, judge};
use history::{Event, EventKind, History, Reacquire, ReadOptions, jsonl, verdict::Verdict};
use serde_json::{Value, json};

#[test]
fn golden_histories_are_judged_as_their_names_say() {
    let mut failures = Vec::new();
    let mut broken = BTreeSet::new();
    let cases = cases();
    for path in &cases {
        let name = name(path);
        let [check, expected, _] = name.split('.').collect::<Vec<_>>()[..] else {
            panic!("{name}: no case name")
        };
        let (history, context) = load(path);
        let judged = judge(&history, &context);
        let wanted = match expected {
            "broken" => Verdict::Invalid,
            "sound" => Verdict::Valid,
            "unknown" => Verdict::Unknown,
            other => panic!("{name}: {other} is no verdict"),
        };
        let found = judged.checks.get(check).map(|result| result.verdict);
        if found != Some(wanted) {
            failures.push(format!("{name}: {found:?}"));
        }
        if wanted == Verdict::Invalid {
            broken.insert(check.to_owned());
        }
        let verdict = json!({
            "checks": judged.checks, "not_applicable": judged.not_applicable,
            "operations": judged.operations, "grants": judged.grants, "faults": judged.faults,
        });
        failures.extend(compare(&path.with_extension("verdict.json"), &verdict));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let all: BTreeSet<String> =
        CHECKS.iter().filter(|check| !check.informs).map(|check| check.name.to_owned()).collect();
    assert_eq!(broken, all, "every check that can be broken has a broken case");
}

/// It was sent while its client held the lock, so nobody acted wrongly, and what it did is damage all the same.
#[test]
fn a_write_that_arrives_late_is_damage_and_nobody_is_to_blame() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let (history, context) = load(&folder.join("damage.broken.sent-in-time-arrives-late.jsonl"));
    let judged = judge(&history, &context);
    for check in ["exclusion", "deadline", "promise", "token", "fencing"] {
        assert_eq!(judged.checks[check].verdict, Verdict::Valid, "{check}: {:#?}", judged.checks[check]);
    }
    let figures = &judged.checks["damage"].figures;
    assert_eq!((&figures["unfenced_lost"], &figures["fenced_lost"]), (&json!(1), &json!(0)));
}

/// Whoever takes the two lines of an acquire out of a history, and leaves what was done with its token, hides nothing.
#[test]
fn a_grant_that_is_missing_makes_nothing_valid() {
    let mut told = 0;
    for path in cases().iter().filter(|path| name(path).contains(".broken.")) {
        let (history, context) = load(path);
        let events: Vec<Event> = history.events().collect();
        for grant in events.iter().filter(|event| is_used_later(event, &events)) {
            let is_of_it = |event: &&Event| event.process == grant.process && event.f == grant.f;
            let asked = events[..grant.index as usize].iter().rev().find(is_of_it).expect("an invocation");
            let lines = [asked.index, grant.index];
            let rest: Vec<Event> =
                events.iter().filter(|event| !lines.contains(&event.index)).cloned().collect();
            let judged = judge(&History::from_events(&rest), &context);
            assert_ne!(judged.verdict(), Verdict::Valid, "{} without {lines:?}", name(path));
            let says = |reason: &str| reason.contains("does not tell of every grant");
            told += usize::from(judged.checks.values().any(|it| it.reason.as_deref().is_some_and(says)));
        }
    }
    assert!(told > 20, "only {told} histories were found to lack a grant");
}

/// Whether this gives a token that its client uses later, and that no other answer gives.
fn is_used_later(event: &Event, events: &[Event]) -> bool {
    let token = &event.value["token"];
    let gives = |it: &&Event| {
        it.kind == EventKind::Ok && ["acquire", "campaign", "renew", "renewed"].contains(&&*it.f)
    };
    let has = |it: &&Event| it.value["token"] == *token && it.index != event.index;
    let is_grant = event.kind == EventKind::Ok && ["acquire", "campaign"].contains(&&*event.f);
    is_grant
        && token.is_number()
        && events.iter().any(|it| it.process == event.process && has(&it))
        && !events.iter().filter(gives).any(|it| has(&it))
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let files = fs::read_dir(folder).expect("the golden folder").map(|entry| entry.expect("an entry").path());
    let is_case = |path: &PathBuf| {
        path.extension().is_some_and(|it| it == "jsonl") && !name(path).ends_with(".resource")
    };
    let mut cases: Vec<PathBuf> = files.filter(is_case).collect();
    cases.sort();
    cases
}

fn name(path: &Path) -> String {
    path.file_stem().expect("a file name").to_string_lossy().into_owned()
}

fn load(path: &Path) -> (History, CheckContext) {
    let mut history = jsonl::read(File::open(path).expect("the history"), &ReadOptions::default())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    history.check_vocabulary().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(history.is_sorted(), "{}: not in time order", path.display());
    if let Ok(log) = File::open(path.with_extension("resource.jsonl")) {
        history.resource = jsonl::read_resource(log).expect("the resource's log");
    }
    let plan = fs::read(path.with_extension("context.json"));
    let plan: Value = plan.map_or(Value::Null, |text| serde_json::from_slice(&text).expect("the plan"));
    let planned = plan["planned_faults"].as_array().into_iter().flatten();
    let context = CheckContext {
        recipe: None,
        planned_faults: planned.map(planned_faults).collect(),
        reacquire: plan["reacquire"].as_str().map(|meaning| match meaning {
            "refresh" => Reacquire::Refresh,
            "nested" => Reacquire::Nested,
            "defect" => Reacquire::Defect,
            other => panic!("{}: {other} is no meaning", path.display()),
        }),
        drift_ns: plan["drift_ns"].as_u64().unwrap_or(0),
    };
    (history, context)
}

/// `"pause"`, or `{"kind":"pause","target":"holder","ids":[1]}`.
fn planned_faults(planned: &Value) -> PlannedFaults {
    let text = |value: &Value| value.as_str().expect("a word").to_owned();
    let id = |id: &Value| id.as_u64().and_then(|id| id.try_into().ok()).expect("a fault's number");
    match planned.as_object() {
        None => PlannedFaults { kind: text(planned), aim: None },
        Some(fields) => {
            let ids = fields["ids"].as_array().expect("numbers").iter().map(id).collect();
            PlannedFaults { kind: text(&fields["kind"]), aim: Some((text(&fields["target"]), ids)) }
        }
    }
}

fn compare(path: &Path, verdict: &Value) -> Option<String> {
    let text = format!("{}\n", serde_json::to_string_pretty(verdict).expect("JSON"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, &text).expect("the golden folder is writable");
    }
    let golden = fs::read_to_string(path).unwrap_or_default();
    (golden != text).then(|| format!("{}: differs; now:\n{text}", path.display()))
}
