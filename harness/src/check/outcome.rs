//! From what was found to `verdict.json` and the tables.

use std::{collections::BTreeMap, time::Instant};

use checkers::{
    checks::{Grants, Judged, Outcomes},
    convert::NilRead,
    explain::Explanation,
    history::{Event, EventKind, History, Process, ResourceEntry},
    op::FailMeans,
    verdict::{CheckResult, CheckResults, Verdict, Violation},
};
use reports::{judgement::Judgement, run::RunData};
use serde_json::{Map, json};

use super::{Checked, Meaning, Request, source};

/// The name of the check that a model makes.
pub const LINEARIZABILITY: &str = "linearizability";

/// A verdict that is not there yet.
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

    /// What a model says.
    pub fn linear(self, explanation: Explanation, subject: &str) -> Checked {
        let result = result(&explanation, subject);
        let checks = CheckResults::from([(LINEARIZABILITY.to_string(), result)]);
        let run = self.run(checks, Vec::new());
        Checked { run, explanation: Some(explanation), notes: self.notes }
    }

    /// What the checks of a run say.
    pub fn locks(self, judged: Judged, events: Vec<Event>, resource: Option<Vec<ResourceEntry>>) -> Checked {
        let mut run = self.run(judged.checks, events);
        run.judgement.not_applicable = judged.not_applicable;
        run.judgement.grants = judged.grants;
        run.judgement.faults = judged.faults;
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
                experiment: self.name.clone(),
                recipe: None,
                workload: self.workload.clone(),
                world: "history".into(),
                version: None,
                seed: None,
                stopped: None,
                checks,
                not_applicable: BTreeMap::new(),
                operations: self.operations.clone(),
                grants: Grants::default(),
                faults: Vec::new(),
                phases_ms: read.into_iter().chain(check).collect(),
            },
            events,
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
    let Meaning { failed, nil_read, initial } = &request.meaning;
    let failed = failed.map(|failed| if failed == FailMeans::Refused { "observation" } else { "dropped" });
    let nil_read = nil_read.map(|read| if read == NilRead::Nil { "value" } else { "nothing" });
    let options = [
        ("--model", request.model.map(|model| model.to_string())),
        ("--workload", request.workload.map(str::to_string)),
        ("--initial", initial.as_ref().map(|value| format!("'{value}'"))),
        ("--failed-cas", failed.map(str::to_string)),
        ("--nil-read", nil_read.map(str::to_string)),
    ];
    let options = options.into_iter().filter_map(|(name, value)| Some(format!(" {name} {}", value?)));
    format!("fencepost check {}{}", request.path, options.collect::<String>())
}

fn result(explanation: &Explanation, subject: &str) -> CheckResult {
    let mut lines = explanation.text.lines();
    let first = lines.next().unwrap_or_default().to_string();
    let reason = match explanation.verdict {
        Verdict::Valid => format!("linearizable as a {subject}"),
        Verdict::Invalid => format!("not linearizable as a {subject}"),
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
        violations: is_invalid.then(violation).into_iter().collect(),
        figures: Map::from_iter([
            ("model".to_string(), json!(subject)),
            ("explanation".to_string(), json!(explanation)),
        ]),
    }
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

/// How often each operation ended how; those that never completed are indeterminate.
fn count(history: &History) -> BTreeMap<String, Outcomes> {
    let mut by_f: Vec<(u32, &str, [u64; 4])> = Vec::new();
    for row in history.rows().filter(|row| row.process() != Process::Nemesis) {
        let place = by_f.iter().position(|(f, ..)| *f == row.f_id()).unwrap_or_else(|| {
            by_f.push((row.f_id(), row.f(), [0; 4]));
            by_f.len() - 1
        });
        by_f[place].2[kind(row.kind())] += 1;
    }
    let outcomes = |[invoked, ok, fail, _]: [u64; 4]| Outcomes { ok, fail, info: invoked - ok - fail };
    by_f.into_iter().map(|(_, f, counts)| (f.to_string(), outcomes(counts))).collect()
}

fn kind(kind: EventKind) -> usize {
    match kind {
        EventKind::Invoke => 0,
        EventKind::Ok => 1,
        EventKind::Fail => 2,
        EventKind::Info => 3,
    }
}
