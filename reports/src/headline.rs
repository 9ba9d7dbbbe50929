//! One sentence that says what a run showed, for somebody who has never seen one.

use history::{
    EventKind,
    judgement::{FaultRecord, Judgement},
    verdict::Verdict,
};
use serde_json::Value;

use crate::{
    exits,
    run::RunData,
    violations::{Numbered, numbered},
    words::{checks_in_order, count, event_at, ms, of_model, who},
};

/// The first violation in plain words, or what held, or why nothing can be said; and what ended by itself.
pub fn headline(run: &RunData) -> String {
    let told = of_verdict(run);
    let is_told = run.judgement.exits.iter().any(|exit| told.contains(&format!("{} ended", exit.node)));
    let exits = exits::sentence(&run.judgement).filter(|_| !is_told);
    exits.into_iter().fold(told, |told, exits| format!("{told} {exits}"))
}

fn of_verdict(run: &RunData) -> String {
    let judgement = &run.judgement;
    if let Some(reason) = of_model(judgement).and_then(|check| check.reason.as_deref()) {
        return capital(&sentence(reason));
    }
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
    let Some(overlap_ms) = first.overlap_ms() else {
        let text = first.violation.text.trim_end_matches('.');
        return format!("{}: {text}.", capital(first.check));
    };
    let events = first.violation.operations.iter().filter_map(|index| event_at(run, *index));
    let grants = events.filter(|event| event.kind == EventKind::Ok);
    let (mut lock, mut election, mut nodes) = (None, false, Vec::new());
    for event in grants.filter(|event| matches!(event.f.as_str(), "acquire" | "campaign")) {
        lock = lock.or_else(|| event.value.get("lock").and_then(Value::as_str));
        election |= event.f == "campaign";
        nodes.push(who(event));
    }
    let who = match nodes.as_slice() {
        [a, b] if a != b => format!("Two clients ({a}, {b})"),
        _ => "Two clients".to_owned(),
    };
    let circumstances = circumstances(&run.judgement, &first.violation.faults);
    let lock = lock.map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let what = if election { format!("that they led{lock}") } else { format!("they held lock{lock}") };
    format!("{who} believed {what} at once for {}{circumstances}.", ms(overlap_ms))
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
fn phrase(fault: &FaultRecord) -> String {
    if !fault.phrase.is_empty() {
        return fault.phrase.clone();
    }
    let (targets, were) = match fault.targets.as_slice() {
        [] => ("a node".to_owned(), "was"),
        [one] => (one.clone(), "was"),
        several => (several.join(", "), "were"),
    };
    format!("{targets} {were} under \"{}\"", fault.kind)
}

fn reason(judgement: &Judgement, verdict: Verdict) -> Option<&str> {
    let checks = checks_in_order(judgement).into_iter();
    checks.filter(|(_, check)| check.verdict == verdict).find_map(|(_, check)| check.reason.as_deref())
}

/// A sentence's end: one full stop.
fn sentence(text: &str) -> String {
    format!("{}.", text.trim_end().trim_end_matches('.'))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn fault(kind: &str, targets: &[&str]) -> FaultRecord {
        FaultRecord {
            id: 1,
            kind: kind.into(),
            targets: targets.iter().map(|target| target.to_string()).collect(),
            start_ns: 0,
            end_ns: None,
            result: "installed".into(),
            healed: false,
            evidence: Value::Null,
            phrase: String::new(),
            shown: BTreeMap::new(),
        }
    }

    #[test]
    fn faults_are_told_as_clauses() {
        let known = FaultRecord { phrase: "c3 was paused".into(), ..fault("pause", &["c3"]) };
        let told = [known, fault("flood", &["c1"]), fault("flood", &["s1", "s2"]), fault("flood", &[])];
        let expected = [
            "c3 was paused",
            "c1 was under \"flood\"",
            "s1, s2 were under \"flood\"",
            "a node was under \"flood\"",
        ];
        assert_eq!(told.each_ref().map(phrase), expected);
    }
}
