//! Plain words for what a run shows.

use std::collections::BTreeMap;

use checkers::{history::Process, verdict::Verdict};
use serde_json::Value;

use crate::{
    judgement::{FaultRecord, Judgement},
    run::RunData,
    violations::{Numbered, numbered},
};

/// One sentence that says what the run showed.
pub fn headline(run: &RunData) -> String {
    let judgement = &run.judgement;
    let violations = numbered(judgement);
    let first = violations.first().filter(|v| judgement.checks[v.check].verdict == Verdict::Invalid);
    match (judgement.verdict, first) {
        (Verdict::Invalid, Some(violation)) => broken(run, violation),
        (Verdict::Invalid, None) => {
            reason(judgement, Verdict::Invalid).unwrap_or("A promise was broken.").to_owned()
        }
        (Verdict::Unknown, _) => match reason(judgement, Verdict::Unknown) {
            Some(reason) => format!("Nothing certain can be said: {}", sentence(reason)),
            None => "Nothing certain can be said.".to_owned(),
        },
        (Verdict::Valid, _) => {
            let grants = judgement.grants;
            let faults = judgement.faults.iter().filter(|fault| fault.result == "installed").count();
            let under = if faults == 0 {
                "without faults".to_owned()
            } else {
                format!("under {}", count(faults, "fault"))
            };
            let granted = count(grants.total as usize, "grant");
            format!("Every promise held: {granted}, {} of them contended, {under}.", grants.contended)
        }
    }
}

fn broken(run: &RunData, first: &Numbered) -> String {
    let circumstances = circumstances(&run.judgement, &first.violation.faults);
    let Some(overlap_ms) = first.overlap_ms() else {
        let text = first.violation.text.trim_end_matches('.');
        return format!("{}: {text}{circumstances}.", capital(first.check));
    };
    let events = first.violation.operations.iter().filter_map(|index| event_at(run, *index));
    let (mut lock, mut election, mut nodes) = (None, false, Vec::new());
    for event in events {
        lock = lock.or_else(|| event.value.get("lock").and_then(Value::as_str));
        election |= matches!(event.f.as_str(), "campaign" | "resign");
        nodes.extend(event.node.clone().or(match event.process {
            Process::Client(process) => Some(format!("p{process}")),
            Process::Nemesis => None,
        }));
    }
    nodes.dedup();
    let who = match nodes.as_slice() {
        [a, b] if a != b => format!("Two clients ({a}, {b})"),
        _ => "Two clients".to_owned(),
    };
    let lock = lock.map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let what = if election { format!("that they led{lock}") } else { format!("they held lock{lock}") };
    format!("{who} believed {what} at once for {}{circumstances}.", ms(overlap_ms))
}

/// The event with this index: at its own position unless the history was cut.
pub fn event_at(run: &RunData, index: u64) -> Option<&checkers::history::Event> {
    let direct =
        usize::try_from(index).ok().and_then(|i| run.events.get(i)).filter(|event| event.index == index);
    direct.or_else(|| run.events.iter().find(|event| event.index == index))
}

/// ` while c3 was paused and n1 was cut off`; empty without faults.
fn circumstances(judgement: &Judgement, ids: &[u32]) -> String {
    let faults = ids.iter().filter_map(|id| judgement.faults.iter().find(|fault| fault.id == *id));
    let mut phrases: Vec<String> = faults.map(phrase).collect();
    phrases.dedup();
    match phrases.as_slice() {
        [] => String::new(),
        [one] => format!(" while {one}"),
        [first, .., last] if phrases.len() <= 3 => {
            let middle =
                phrases[1..phrases.len() - 1].iter().map(|phrase| format!(", {phrase}")).collect::<String>();
            format!(" while {first}{middle} and {last}")
        }
        [first, ..] => format!(" while {first} and {} more faults were under way", phrases.len() - 1),
    }
}

/// A fault as a clause: `c3 was paused`.
pub fn phrase(fault: &FaultRecord) -> String {
    let (targets, were) = match fault.targets.as_slice() {
        [] => ("a node".to_owned(), "was"),
        [one] => (one.clone(), "was"),
        several => (several.join(", "), "were"),
    };
    match fault.kind.as_str() {
        "pause" => format!("{targets} {were} paused"),
        "kill" | "crash" => format!("{targets} {were} killed"),
        "partition" => format!("{targets} {were} cut off"),
        "clock" => {
            let whose = if were == "was" { "clock of" } else { "clocks of" };
            format!("the {whose} {targets} {were} wrong")
        }
        kind => format!("{targets} {were} under \"{kind}\""),
    }
}

/// What a check looks at, in one sentence; none for a check these pages do not know.
pub fn promise_of(check: &str) -> Option<&'static str> {
    Some(match check {
        "exclusion" => "Never do two clients believe at once that they hold the same lock.",
        "leader" => "Never do two clients believe at once that they lead.",
        "promise" => "The service grants a lock to no one else before the time it promised has passed.",
        "deadline" => "A client stops writing when its own lease has run out.",
        "token" => "Each grant carries a greater token than the one before.",
        "fencing" => "The fenced resource refuses a stale holder and takes the current one.",
        "damage" => "No update made under the lock is lost.",
        "deposed" => "Work of a deposed leader is refused.",
        "liveness" => "After the last fault has healed the lock can be had again, and nobody waits for ever.",
        "availability" => "How long nothing succeeded, and how long operations took. Informs, never fails.",
        _ => return None,
    })
}

fn reason(judgement: &Judgement, verdict: Verdict) -> Option<&str> {
    judgement
        .checks
        .values()
        .filter(|check| check.verdict == verdict)
        .find_map(|check| check.reason.as_deref())
}

/// Milliseconds as a person reads them: three digits, and seconds from ten thousand on.
pub fn ms(ms: f64) -> String {
    match ms {
        _ if ms >= 10_000.0 => format!("{:.1} s", ms / 1000.0),
        _ if ms >= 100.0 => format!("{ms:.0} ms"),
        _ if ms >= 10.0 => format!("{ms:.1} ms"),
        _ => format!("{ms:.2} ms"),
    }
}

/// A moment or span in seconds with milliseconds: `2.200 s`.
pub fn seconds(ns: u64) -> String {
    format!("{:.3} s", ns as f64 / 1e9)
}

/// `1 fault`, `2 faults`.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Evidence or figures in short: `state T, packets 14`.
pub fn brief(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| format!("{key} {}", brief(value))).collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) => items.iter().map(brief).collect::<Vec<_>>().join(" "),
        Value::String(text) => text.clone(),
        Value::Number(n) if n.is_f64() => {
            n.as_f64().map(|n| format!("{}", (n * 1000.0).round() / 1000.0)).unwrap_or_default()
        }
        other => other.to_string(),
    }
}

/// `valid`, `unknown` or `invalid`.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "valid",
        Verdict::Unknown => "unknown",
        Verdict::Invalid => "invalid",
    }
}

/// Checks in the order of every report: the broken ones first.
pub fn checks_in_order(judgement: &Judgement) -> Vec<(&String, &checkers::verdict::CheckResult)> {
    let mut checks: Vec<_> = judgement.checks.iter().collect();
    checks.sort_by_key(|(name, result)| {
        (std::cmp::Reverse(result.verdict), crate::violations::rank(name), *name)
    });
    checks
}

/// `redis/set-nx on docker, 7.0.15, seed 1`: what ran where.
pub fn identity(judgement: &Judgement) -> String {
    let mut parts = vec![format!("{} on {}", judgement.experiment, judgement.world)];
    parts.extend(judgement.version.clone().map(|version| format!("version {version}")));
    parts.extend(judgement.seed.map(|seed| format!("seed {seed}")));
    parts.join(", ")
}

/// A sentence's end: one full stop.
fn sentence(text: &str) -> String {
    format!("{}.", text.trim_end().trim_end_matches('.'))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Milliseconds by name out of a figure such as `{"1":420.0}` or a bare number or list.
pub fn figures_ms(value: &Value) -> BTreeMap<String, f64> {
    match value {
        Value::Object(fields) => {
            fields.iter().filter_map(|(key, v)| Some((key.clone(), v.as_f64()?))).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().filter_map(|(i, v)| Some(((i + 1).to_string(), v.as_f64()?))).collect()
        }
        other => other.as_f64().map(|v| (String::new(), v)).into_iter().collect(),
    }
}

/// One sentence for each kind of failover or recovery time that a check states (`failover_ms`, `recovery_ms`).
pub fn failovers(judgement: &Judgement) -> Vec<String> {
    let mut sentences = Vec::new();
    for (key, what) in [("failover_ms", "A new leader after"), ("recovery_ms", "Working again after")] {
        for figure in judgement.checks.values().filter_map(|check| check.figures.get(key)) {
            let times: Vec<String> = figures_ms(figure)
                .into_iter()
                .map(|(fault, time)| match fault.parse::<u32>() {
                    Ok(id) if judgement.faults.iter().any(|f| f.id == id) => {
                        format!("{} (fault {id})", ms(time))
                    }
                    _ if fault.is_empty() => ms(time),
                    _ => format!("{} ({fault})", ms(time)),
                })
                .collect();
            if !times.is_empty() {
                sentences.push(format!("{what} {}", times.join(", ")));
            }
        }
    }
    sentences
}

/// One event on one line: `12  2.713 s  c3  acquire ok  lock a, token 7`.
pub fn event(event: &checkers::history::Event) -> String {
    let kind = match event.kind {
        checkers::history::EventKind::Invoke => "invoke",
        checkers::history::EventKind::Ok => "ok",
        checkers::history::EventKind::Fail => "fail",
        checkers::history::EventKind::Info => "info",
    };
    let who = event.node.clone().unwrap_or_else(|| match event.process {
        Process::Client(process) => format!("p{process}"),
        Process::Nemesis => "nemesis".to_owned(),
    });
    let error = event.error.as_ref().map(|error| format!("  {error}")).unwrap_or_default();
    let line = format!(
        "{}  {}  {who}  {} {kind}  {}{error}",
        event.index,
        seconds(event.time),
        event.f,
        brief(&event.value)
    );
    line.trim_end().to_owned()
}

/// Text of strangers, fit for a terminal: control characters are shown, not obeyed.
pub fn printable(text: &str) -> String {
    let safe = |c: char| {
        !c.is_control() && !('\u{202a}'..='\u{202e}').contains(&c) && !('\u{2066}'..='\u{2069}').contains(&c)
    };
    text.chars().map(|c| if safe(c) { c.to_string() } else { c.escape_default().to_string() }).collect()
}
