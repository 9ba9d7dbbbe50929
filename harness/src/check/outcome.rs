//! From what was found to `verdict.json` and the tables.

use std::{collections::BTreeMap, time::Instant};

use checkers::Judged;
use history::{
    Event, EventKind, History, Process, ResourceEntry,
    holds::Holds,
    judgement::{Grants, Judgement, Outcomes},
    stalls::Stalls,
    verdict::{About, CheckResult, CheckResults, Verdict, Violation},
};
use linear::{
    convert::{LockValue, NilRead},
    explain::Explanation,
    limits::Limit,
    op::FailMeans,
};
use reports::run::RunData;
use serde_json::{Map, json};

use super::{Checked, Meaning, Request, source};
use crate::{about, help, shell};

/// The name of the check that a model makes.
pub const LINEARIZABILITY: &str = "linearizability";

const PROMISE: &str =
    "Some order of the operations, each within its interval, is one that the model permits.";
/// What helps where it is broken.
const PREVENTED_BY: &str = "`--format html` shows the smallest part of the history that is still wrong; where a \
                                failed operation or a nil means something else in this history, --failed-cas, --nil-read \
                                and --model say so.";

/// A verdict that is not there yet.
#[derive(Clone)]
pub struct Outline {
    name: String,
    workload: Option<String>,
    repeat: String,
    start: Instant,
    read: Option<Instant>,
    operations: BTreeMap<String, Outcomes>,
    notes: Vec<String>,
}

impl Outline {
    /// Of a request.
    pub fn new(request: &Request) -> Outline {
        let name = source::name(&request.path).to_string();
        Outline {
            repeat: repeat(request),
            name,
            workload: request.workload.map(str::to_string),
            start: request.budget.start,
            read: None,
            operations: BTreeMap::new(),
            notes: Vec::new(),
        }
    }

    /// Its history is there.
    pub fn read(mut self, history: &History) -> Outline {
        self.read = Some(Instant::now());
        self.notes = history.notes.iter().map(|note| format!("{}: {note}", self.name)).collect();
        self.operations = count(history);
        self
    }

    /// What a reader should know.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// What a model says.
    pub fn linear(self, explanation: Explanation, subject: &str) -> Checked {
        let result = result(&explanation, subject);
        let checks = CheckResults::from([(LINEARIZABILITY.to_string(), result)]);
        let mut run = self.run(checks, Vec::new());
        run.judgement.help.iter_mut().for_each(|help| help.prevented_by = PREVENTED_BY.to_string());
        Checked { run, explanation: Some(explanation), notes: self.notes }
    }

    /// What the checks of a run say.
    pub fn locks(
        self,
        judged: Judged,
        stalls: Stalls,
        events: Vec<Event>,
        holds: Holds,
        resource: Option<Vec<ResourceEntry>>,
    ) -> Checked {
        let mut run = self.run(judged.checks, events);
        run.judgement.not_applicable = judged.not_applicable;
        run.judgement.grants = judged.grants;
        run.judgement.faults = judged.faults;
        about::of_faults(&mut run.judgement.faults);
        run.judgement.exits = judged.exits;
        run.judgement.stalls = stalls;
        run.holds = holds;
        run.resource = resource;
        Checked { run, explanation: None, notes: self.notes }
    }

    fn run(&self, checks: CheckResults, events: Vec<Event>) -> RunData {
        let ms = |from: Instant, to: Instant| (to - from).as_secs_f64() * 1e3;
        let read = self.read.map(|read| ("read".to_string(), ms(self.start, read)));
        let check = self.read.map(|read| ("check".to_string(), ms(read, Instant::now())));
        RunData {
            judgement: Judgement {
                format: 1,
                verdict: Verdict::all(checks.values().map(|check| check.verdict)),
                as_expected: None,
                expectations: BTreeMap::new(),
                experiment: self.name.clone(),
                recipe: None,
                workload: self.workload.clone(),
                world: "history".into(),
                version: None,
                seed: None,
                running: false,
                stopped: None,
                help: help::of_history(&checks),
                checks,
                not_applicable: BTreeMap::new(),
                operations: self.operations.clone(),
                grants: Grants::default(),
                faults: Vec::new(),
                exits: Vec::new(),
                stalls: Stalls::default(),
                phases_ms: read.into_iter().chain(check).collect(),
            },
            events,
            holds: Holds::default(),
            resource: None,
            messages: Vec::new(),
            servers: Vec::new(),
            metadata: Vec::new(),
            repeat: self.repeat.clone(),
            paths: vec![("history".into(), self.name.clone())],
        }
    }
}

/// The command that judges alike.
fn repeat(request: &Request) -> String {
    let Meaning { failed, nil_read, initial, lock_value } = &request.meaning;
    let failed = failed.map(|failed| if failed == FailMeans::Refused { "observation" } else { "dropped" });
    let nil_read = nil_read.map(|read| if read == NilRead::Nil { "value" } else { "nothing" });
    let lock_value = lock_value.map(|value| if value == LockValue::Name { "name" } else { "owner" });
    let options = [
        ("--model", request.model.map(|model| model.to_string())),
        ("--workload", request.workload.map(str::to_string)),
        ("--initial", initial.as_ref().map(ToString::to_string)),
        ("--failed-cas", failed.map(str::to_string)),
        ("--nil-read", nil_read.map(str::to_string)),
        ("--lock-value", lock_value.map(str::to_string)),
    ];
    let mut words = vec!["fencepost", "check", &request.path];
    for (name, value) in &options {
        words.extend(value.iter().flat_map(|value| [*name, value]));
    }
    shell::line(words)
}

/// A verdict of which nothing more could be told, since a limit was reached.
pub fn ended_early(mut checked: Checked, limit: Limit) -> Checked {
    let why = match limit {
        Limit::Time => "of the time limit",
        Limit::Memory => "of the memory limit",
        Limit::Stopped => "it was told to",
    };
    let stopped = format!("This explanation ended early, because {why}, before it could tell more.");
    let Some(explanation) = &mut checked.explanation else { return checked };
    explanation.text = format!("{}\n{stopped}", explanation.text);
    explanation.stopped = Some(stopped.clone());
    if explanation.verdict != Verdict::Invalid {
        checked.notes.push(stopped);
    }
    if let Some(result) = checked.run.judgement.checks.get_mut(LINEARIZABILITY) {
        result.figures.insert("explanation".to_string(), json!(explanation));
    }
    checked
}

fn result(explanation: &Explanation, subject: &str) -> CheckResult {
    let mut lines = explanation.text.lines();
    let first = lines.next().unwrap_or_default().to_string();
    let reason = match explanation.verdict {
        Verdict::Valid => format!("linearizable as {}", article(subject)),
        Verdict::Invalid => format!("not linearizable as {}", article(subject)),
        Verdict::Unknown => format!("{} {}", explanation.text.replace('\n', " "), raise(&explanation.text)),
    };
    let operations = explanation.operations.iter().flat_map(|op| [Some(op.call), op.at]).flatten().collect();
    let violation = || Violation { text: first, operations, ..Violation::default() };
    let is_invalid = explanation.verdict == Verdict::Invalid;
    CheckResult {
        verdict: explanation.verdict,
        count: u64::from(is_invalid),
        blame: None,
        reason: Some(reason.trim_end().to_string()),
        about: About { rank: Some(0), promise: Some(PROMISE.into()), ..About::default() },
        violations: is_invalid.then(violation).into_iter().collect(),
        figures: Map::from_iter([
            ("model".to_string(), json!(subject)),
            ("explanation".to_string(), json!(explanation)),
        ]),
    }
}

/// With the article that it takes.
pub fn article(subject: &str) -> String {
    let article = if subject.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {subject}")
}

/// The option that a search's own words mean.
fn raise(text: &str) -> &'static str {
    match () {
        () if text.contains("Give it more time") => "(--timeout, --jobs)",
        () if text.contains("Give it more memory") => "(--memory)",
        () if text.contains("bytes permitted") => "Raise --memory.",
        () => "",
    }
}

/// Gives the violations their times, and puts the operations in order.
pub fn locate(judgement: &mut Judgement, history: &History) {
    for violation in judgement.checks.values_mut().flat_map(|check| &mut check.violations) {
        violation.operations.sort_unstable();
        violation.operations.dedup();
        let time = |index: Option<&u64>| index.map_or(0, |index| history.row(*index as usize).time());
        violation.start_ns = time(violation.operations.first());
        violation.end_ns = time(violation.operations.last());
    }
}

/// How often each operation ended how; those that never completed are indeterminate. What one event tells, such as a
/// lapse, was never invoked.
fn count(history: &History) -> BTreeMap<String, Outcomes> {
    // By the number of the name.
    let mut by_f: Vec<Option<(&str, [u64; 4])>> = Vec::new();
    for row in history.rows().filter(|row| row.process() != Process::Nemesis) {
        let id = row.f_id() as usize;
        if by_f.len() <= id {
            by_f.resize(id + 1, None);
        }
        by_f[id].get_or_insert((row.f(), [0; 4])).1[kind(row.kind())] += 1;
    }
    let outcomes =
        |[invoked, ok, fail, _]: [u64; 4]| Outcomes { ok, fail, info: invoked.saturating_sub(ok + fail) };
    by_f.into_iter().flatten().map(|(f, counts)| (f.to_string(), outcomes(counts))).collect()
}

fn kind(kind: EventKind) -> usize {
    match kind {
        EventKind::Invoke => 0,
        EventKind::Ok => 1,
        EventKind::Fail => 2,
        EventKind::Info => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_that_there_was_no_time_to_explain_stays_and_says_so() {
        let request = Request {
            path: "-".into(),
            model: None,
            workload: None,
            meaning: Meaning::default(),
            reacquire: None,
            budget: crate::check::watch::Budget::of(None),
            events: crate::check::Events::Named,
        };
        for (verdict, notes) in [(Verdict::Valid, 1), (Verdict::Invalid, 0)] {
            let certain = Outline::new(&request).linear(Explanation::of(verdict, "So it is.".into()), "set");
            let ended = ended_early(certain, Limit::Time);
            assert_eq!((ended.run.judgement.verdict, ended.notes.len()), (verdict, notes));
            let explanation = ended.explanation.expect("it had one");
            let stopped = explanation.stopped.as_deref().expect("it was stopped");
            assert!(explanation.text.starts_with("So it is.\n") && explanation.text.ends_with(stopped));
            assert!(stopped.contains("time limit"), "{stopped}");
            let told = &ended.run.judgement.checks[LINEARIZABILITY].figures["explanation"]["stopped"];
            assert_eq!(told.as_str(), Some(stopped));
        }
    }

    #[test]
    fn articles_follow_the_sound() {
        assert_eq!((article("owned-mutex"), article("set")), ("an owned-mutex".into(), "a set".into()));
    }

    #[test]
    fn what_one_event_tells_is_counted() {
        let text = r#"{"time":0,"process":0,"type":"invoke","f":"acquire","value":{"lock":"a"}}
{"time":1,"process":0,"type":"ok","f":"lapse","value":{"lock":"a"}}
"#;
        let history = history::jsonl::read(text.as_bytes(), &Default::default()).expect("a history");
        let counted = count(&history);
        assert_eq!(counted["lapse"], Outcomes { ok: 1, fail: 0, info: 0 });
        assert_eq!(counted["acquire"], Outcomes { ok: 0, fail: 0, info: 1 });
    }
}
