use history::{
    judgement::FaultRecord,
    verdict::{CheckResult, Verdict},
};
use serde_json::Value;

use super::layout::{Layout, ROWS_MAX};
use crate::{
    exits, headline, latency, plain, run::RunData, stalls, timeline::Timeline, violations::numbered, words,
};

/// `INVALID  redis/set-nx on docker, …` and the headline.
pub(super) fn verdict(run: &RunData, layout: &Layout) -> Option<String> {
    let judgement = &run.judgement;
    let word = layout.verdict(judgement.verdict, &words::verdict(judgement.verdict).to_uppercase());
    let expected = match judgement.as_expected {
        None => String::new(),
        Some(true) => ", as expected".to_owned(),
        Some(false) => layout.verdict(Verdict::Invalid, ", not as expected"),
    };
    let mut text = layout.line(&format!("{word}  {}{expected}", plain::line(&words::identity(judgement))));
    text.push_str(&layout.paragraph(&plain::line(&headline::headline(run))));
    if let Some(unfinished) = words::unfinished(judgement) {
        text.push_str(&layout.paragraph(&layout.warn(&plain::line(&unfinished))));
    }
    Some(text)
}

/// One line a check.
pub(super) fn checks(run: &RunData, layout: &Layout) -> Option<String> {
    let judgement = &run.judgement;
    let mut rows = vec![["check", "verdict", "count", "blame", "why"].map(|head| layout.dim(head)).to_vec()];
    for (name, result) in words::checks_in_order(judgement) {
        rows.push(vec![
            plain::line(name),
            layout.verdict(result.verdict, words::verdict(result.verdict)),
            result.count.to_string(),
            plain::line(result.blame.as_deref().unwrap_or("–")),
            plain::line(&why(result)),
        ]);
    }
    for (name, reason) in &judgement.not_applicable {
        rows.push(vec![
            plain::line(name),
            layout.dim("n/a"),
            String::new(),
            "–".to_owned(),
            plain::line(reason),
        ]);
    }
    (rows.len() > 1).then(|| format!("{}\n{}", layout.heading("Checks"), layout.table(rows, &[2])))
}

/// The reason, and figures that are single numbers.
fn why(result: &CheckResult) -> String {
    let shown = |(name, value): &(&String, &Value)| value.is_number() && *name != words::SET_ASIDE;
    let figures = result.figures.iter().filter(shown);
    let figures = figures.map(|(name, value)| format!("{name} {}", words::brief(value)));
    words::reason(result).into_iter().chain(figures).collect::<Vec<_>>().join("; ")
}

/// The first violating pair, in words.
pub(super) fn first_violation(run: &RunData, layout: &Layout) -> Option<String> {
    let violations = numbered(&run.judgement);
    let first = violations.first()?;
    let of = run.judgement.checks.values().map(|check| check.count).sum::<u64>();
    let heading = format!("First violation of {of}: {}", plain::line(first.check));
    let mut text = layout.line(&layout.heading(&heading));
    text.push_str(&layout.paragraph(&plain::line(&first.violation.text)));
    for index in &first.violation.operations {
        if let Some(event) = words::event_at(run, *index) {
            text.push_str(&layout.paragraph(&layout.dim(&plain::line(&words::event(event)))));
        }
    }
    Some(text)
}

/// Operations by outcome, with latencies of those that succeeded.
pub(super) fn operations(run: &RunData, timeline: &Timeline, layout: &Layout) -> Option<String> {
    let latencies = latency::of(run, timeline);
    let names: Vec<&str> = latencies
        .first()
        .map(|l| l.quantiles_ms.iter().map(|(name, _)| name.as_str()).collect())
        .unwrap_or_default();
    let head = ["operation", "ok", "fail", "info"].into_iter().map(str::to_owned);
    let head = head.chain(names.iter().map(|name| format!("{name} ms"))).map(|head| layout.dim(&head));
    let mut rows = vec![head.collect::<Vec<_>>()];
    for (f, outcomes) in &run.judgement.operations {
        if rows.len() > ROWS_MAX {
            rows.push(Vec::new());
            continue;
        }
        let latency = latencies.iter().find(|latency| latency.f == *f);
        let mut row = vec![
            plain::line(f),
            outcomes.ok.to_string(),
            outcomes.fail.to_string(),
            outcomes.info.to_string(),
        ];
        for name in &names {
            row.push(
                latency
                    .and_then(|latency| latency.get(name))
                    .map(|ms| format!("{ms:.1}"))
                    .unwrap_or_default(),
            );
        }
        rows.push(row);
    }
    let right: Vec<usize> = (1..4 + names.len()).collect();
    let grants = run.judgement.grants;
    let granted = format!("Grants: {}, of them contended: {}", grants.total, grants.contended);
    let granted = match words::of_model(&run.judgement).is_some() {
        true => String::new(),
        false => layout.paragraph(&granted),
    };
    (rows.len() > 1)
        .then(|| format!("{}\n{}{granted}", layout.heading("Operations"), layout.table(rows, &right)))
}

/// What was done to the world, and what shows that it was.
pub(super) fn faults(run: &RunData, layout: &Layout) -> Option<String> {
    let faults = &run.judgement.faults;
    let recovery = |fault: &FaultRecord| words::recovery_ms(&run.judgement, fault.id)[0];
    let recovers = layout.is_wide() && faults.iter().any(|fault| recovery(fault).is_some());
    let mut head = vec!["#", "fault", "target", "from s", "to s", "result", "healed", "evidence"];
    if recovers {
        head.push("regrant");
    }
    let mut rows = vec![head.into_iter().map(|head| layout.dim(head)).collect::<Vec<_>>()];
    for fault in faults {
        rows.push(fault_row(fault, layout));
        if recovers {
            let next = recovery(fault).map(|ms| format!("+{}", words::ms(ms)));
            rows.last_mut()?.push(next.unwrap_or_default());
        }
    }
    (rows.len() > 1).then(|| format!("{}\n{}", layout.heading("Faults"), layout.table(rows, &[0, 3, 4])))
}

fn fault_row(fault: &FaultRecord, layout: &Layout) -> Vec<String> {
    let result = plain::line(&fault.result);
    let seconds = |ns: u64| format!("{:.2}", ns as f64 / 1e9);
    vec![
        fault.id.to_string(),
        plain::line(&fault.kind),
        plain::line(&fault.targets.join(" ")),
        seconds(fault.start_ns),
        fault.end_ns.map_or("–".to_owned(), seconds),
        if fault.result == "installed" { result } else { layout.warn(&result) },
        if fault.healed { "yes".to_owned() } else { layout.warn("no") },
        plain::line(&crate::evidence::in_words(fault)),
    ]
}

/// One line a server that ended by itself.
pub(super) fn exits(run: &RunData, layout: &Layout) -> Option<String> {
    let lines = run.judgement.exits.iter().map(exits::in_words);
    let lines: Vec<String> = lines.map(|line| layout.paragraph(&layout.warn(&plain::line(&line)))).collect();
    (!lines.is_empty())
        .then(|| format!("{}\n{}", layout.heading("Servers that ended by themselves"), lines.concat()))
}

/// One line on what stood still.
pub(super) fn stalls(run: &RunData, layout: &Layout) -> Option<String> {
    let told = plain::line(&stalls::in_words(&run.judgement.stalls)?);
    Some(layout.paragraph(&told).trim_start().to_owned())
}

/// Failover times, where a check states them.
pub(super) fn failovers(run: &RunData, layout: &Layout) -> Option<String> {
    let lines: Vec<String> = words::failovers(&run.judgement)
        .into_iter()
        .map(|failover| layout.paragraph(&plain::line(&failover)))
        .collect();
    (!lines.is_empty()).then(|| format!("{}\n{}", layout.heading("Failover"), lines.concat()))
}

/// How to run it again, and where the rest stands.
pub(super) fn closing(run: &RunData, layout: &Layout) -> Option<String> {
    let mut lines = Vec::new();
    if !run.repeat.is_empty() {
        lines.push(format!("{}  {}\n", layout.heading("Repeat"), plain::line(&run.repeat)));
    }
    if let Some(path) = run.path("report") {
        lines.push(format!("{}  {}\n", layout.heading("Report"), plain::line(path)));
    }
    (!lines.is_empty()).then(|| lines.concat())
}

/// What the recipe never promised, and what would have prevented it.
pub(super) fn help(run: &RunData, layout: &Layout) -> Option<String> {
    let lines: Vec<String> =
        words::help(&run.judgement).iter().map(|line| layout.paragraph(&plain::line(line))).collect();
    (!lines.is_empty()).then(|| format!("{}\n{}", layout.heading("Help"), lines.concat()))
}
