//! Plain words for what a run shows.

use std::cmp::Reverse;

use history::{
    Event, EventKind, Process,
    judgement::{Help, Judgement},
    verdict::{CheckResult, Verdict},
};
use serde_json::Value;

use crate::{run::RunData, violations::rank};

/// The event with this index: at its own position unless the history was cut.
pub fn event_at(run: &RunData, index: u64) -> Option<&Event> {
    let direct =
        usize::try_from(index).ok().and_then(|i| run.events.get(i)).filter(|event| event.index == index);
    direct.or_else(|| run.events.iter().find(|event| event.index == index))
}

/// The result of the check that a model makes, of a history that was judged against one.
pub fn of_model(judgement: &Judgement) -> Option<&CheckResult> {
    judgement.checks.values().find(|check| check.figures.contains_key("model"))
}

/// A figure that one check alone tells.
pub fn figure<'j>(judgement: &'j Judgement, name: &str) -> Option<&'j Value> {
    judgement.checks.values().find_map(|check| check.figures.get(name))
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
pub fn checks_in_order(judgement: &Judgement) -> Vec<(&String, &CheckResult)> {
    let mut checks: Vec<_> = judgement.checks.iter().collect();
    checks.sort_by_key(|(name, result)| (Reverse(result.verdict), rank(result), *name));
    checks
}

/// `redis/set-nx on docker, 7.0.15, seed 1`: what ran where.
pub fn identity(judgement: &Judgement) -> String {
    let mut parts = vec![format!("{} on {}", judgement.experiment, world(judgement))];
    parts.extend(judgement.version.clone().map(|version| format!("version {version}")));
    parts.extend(judgement.seed.map(|seed| format!("seed {seed}")));
    parts.join(", ")
}

/// Where it ran; a reader must not take models for servers.
pub fn world(judgement: &Judgement) -> &str {
    match judgement.world.as_str() {
        "sim" => "sim (simulated: models, no real servers)",
        world => world,
    }
}

/// Of a run that did not come to its end: why, or that it still goes on.
pub fn unfinished(judgement: &Judgement) -> Option<String> {
    let stopped = judgement.stopped.as_ref().map(|why| format!("The run ended early: {why}"));
    stopped.or_else(|| judgement.running.then(|| "The run goes on: judged so far".to_owned()))
}

/// What helps, one line each: `redis/set-nx never promised that … (exclusion, damage). … would have prevented it.`
pub fn help(judgement: &Judgement) -> Vec<String> {
    judgement.help.iter().map(|help| help_line(judgement, help)).collect()
}

/// Of [`help`] the lines about one check.
pub fn help_with(judgement: &Judgement, check: &str) -> Vec<String> {
    let about = judgement.help.iter().filter(|help| help.checks.iter().any(|name| name == check));
    about.map(|help| help_line(judgement, help)).collect()
}

fn help_line(judgement: &Judgement, help: &Help) -> String {
    let recipe = judgement.recipe.as_deref().unwrap_or("The recipe");
    let checks = help.checks.join(", ");
    match &help.never_promised {
        Some(never) => format!("{recipe} never promised that {never} ({checks}). {}", help.prevented_by),
        None => format!("{checks}: {}", help.prevented_by),
    }
}

/// Elections: how long each was without leader, where a check tells (`failovers`, `failover_ms`).
pub fn failovers(judgement: &Judgement) -> Vec<String> {
    let each = figure(judgement, "failovers").and_then(Value::as_array).into_iter().flatten();
    let mut sentences: Vec<String> = each.filter_map(failover).collect();
    if let Some(quantiles) = figure(judgement, "failover_ms").and_then(Value::as_object) {
        let quantile = |name: &str| Some(format!("{name} {}", ms(quantiles.get(name)?.as_f64()?)));
        let quantiles: Vec<String> = ["p50", "p90", "p99", "max"].into_iter().filter_map(quantile).collect();
        sentences.push(format!("All: {}", quantiles.join(", ")));
    }
    sentences
}

fn failover(figure: &Value) -> Option<String> {
    let after = figure.get("fault").and_then(Value::as_u64).map(|fault| format!(" after fault {fault}"));
    Some(format!(
        "\"{}\" without leader for {} from {}{}",
        figure.get("election")?.as_str()?,
        ms(figure.get("ms")?.as_f64()?),
        seconds(figure.get("start_ns")?.as_u64()?),
        after.unwrap_or_default(),
    ))
}

/// Milliseconds from a fault's start and from its heal to the next grant, where a check tells.
pub fn recovery_ms(judgement: &Judgement, fault: u32) -> [Option<f64>; 2] {
    let recoveries = figure(judgement, "recovery").and_then(Value::as_array);
    let of_fault = |figure: &&Value| figure.get("fault").and_then(Value::as_u64) == Some(u64::from(fault));
    let found = recoveries.and_then(|list| list.iter().find(of_fault));
    ["after_start_ms", "after_heal_ms"].map(|key| found?.get(key)?.as_f64())
}

/// `2 violations set aside: what stood still explains them`; none where no violation is, or the reason says so itself.
pub fn set_aside(result: &CheckResult) -> Option<String> {
    let aside = result.figures.get(SET_ASIDE)?.as_u64().filter(|aside| *aside > 0)?;
    let said = result.reason.as_deref().is_some_and(|reason| reason.contains("set aside"));
    let explain = if aside == 1 { "explains it" } else { "explains them" };
    (!said).then(|| format!("{} set aside: what stood still {explain}", count(aside as usize, "violation")))
}

/// Which violations are set aside where something stood still.
pub fn excused(judgement: &Judgement) -> String {
    let mut checks: Vec<_> =
        judgement.checks.iter().filter(|(_, result)| result.about.stalls_excuse).collect();
    checks.sort_by_key(|(name, result)| (rank(result), *name));
    let names: Vec<&str> = checks.into_iter().map(|(name, _)| name.as_str()).collect();
    let of = match names.as_slice() {
        [] => String::new(),
        [one] => format!(" of {one}"),
        [init @ .., last] => format!(" of {} or {last}", init.join(", ")),
    };
    format!("A violation{of} that is no longer than that is set aside.")
}

/// The figure of a check that counts the violations which do not count because something stood still.
pub const SET_ASIDE: &str = "set_aside";

/// A check's reason, with what was set aside.
pub fn reason(result: &CheckResult) -> Option<String> {
    let told: Vec<String> = result.reason.clone().into_iter().chain(set_aside(result)).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// The node that an event happened on, or its process.
pub fn who(event: &Event) -> String {
    event.node.clone().unwrap_or_else(|| match event.process {
        Process::Client(process) => format!("p{process}"),
        Process::Nemesis => "nemesis".to_owned(),
    })
}

/// One event on one line: `12  2.713 s  c3  acquire ok  lock a, token 7`.
pub fn event(event: &Event) -> String {
    let kind = match event.kind {
        EventKind::Invoke => "invoke",
        EventKind::Ok => "ok",
        EventKind::Fail => "fail",
        EventKind::Info => "info",
    };
    let error = event.error.as_ref().map(|error| format!("  {error}")).unwrap_or_default();
    let line = format!(
        "{}  {}  {}  {} {kind}  {}{error}",
        event.index,
        seconds(event.time),
        who(event),
        event.f,
        brief(&event.value)
    );
    line.trim_end().to_owned()
}
