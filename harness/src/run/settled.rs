//! How far the history of a run is certain that has not come to its end.
//!
//! What nodes tell comes on ways of their own, so a history that is cut off lacks the last of some: of a client that
//! released its lock, perhaps, before the next one got it. Up to the moment to which every client was heard nothing is
//! missing, and only that is judged.

use checkers::Check;
use history::{Event, History, Process, verdict::Verdict};

use super::{Judged, Outcome, expectations, judge::as_expected, judge_history};
use crate::experiment::Experiment;

/// What stood still is told only once it is over, and excuses what was before.
const TOLD_LATE_NS: u64 = 1_000_000_000;

/// Judges the run as far as it is certain. What only the end can show is unknown.
pub fn judge_unfinished(
    history: History,
    experiment: &Experiment,
    outcome: &Outcome,
    world: &str,
    version: Option<String>,
) -> Judged {
    let until = settled_ns(&history, experiment.clients);
    let certain: Vec<Event> =
        history.rows().take_while(|row| row.time() <= until).map(|row| row.to_event()).collect();
    let mut certain = History::from_events(&certain);
    certain.resource = history.resource.clone();
    let mut judgement = judge_history(certain, experiment, outcome, world, version).judgement;
    let needs_end = |name: &str| Check::named(name).is_some_and(|check| check.kept_only_at_end);
    for (_, result) in judgement.checks.iter_mut().filter(|(name, _)| needs_end(name)) {
        if result.verdict != Verdict::Invalid {
            let until = until as f64 / 1e9;
            result.verdict = Verdict::Unknown;
            result.reason = Some(format!("the run has not come to its end; it is judged up to {until:.3} s"));
        }
    }
    judgement.verdict = Verdict::all(judgement.checks.values().map(|check| check.verdict));
    judgement.expectations = expectations(experiment, judgement.verdict, &judgement.checks);
    judgement.as_expected = as_expected(&judgement.expectations);
    Judged { judgement, history }
}

/// Until when every client was heard, in nanoseconds of the run.
fn settled_ns(history: &History, clients: u32) -> u64 {
    let mut heard = vec![0; clients.max(1) as usize];
    for row in history.rows() {
        if let Process::Client(process) = row.process() {
            let last: &mut u64 = &mut heard[(process % clients.max(1)) as usize];
            *last = row.time().max(*last);
        }
    }
    heard.into_iter().min().unwrap_or_default().saturating_sub(TOLD_LATE_NS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Flags;

    /// c1 released at 2.1 s before c2 was granted, but the release is still on its way.
    const CUT: &str = r#"{"time":0,"process":"nemesis","type":"info","f":"phase","value":{"phase":"faults"}}
{"time":1000000000,"process":0,"node":"c1","type":"invoke","f":"acquire","value":{"lock":"a"}}
{"time":2000000000,"process":0,"node":"c1","type":"ok","f":"acquire","value":{"lock":"a","ttl_ms":2000,"asked_ns":1000000000}}
{"time":2050000000,"process":1,"node":"c2","type":"invoke","f":"acquire","value":{"lock":"a"}}
{"time":2200000000,"process":1,"node":"c2","type":"ok","f":"acquire","value":{"lock":"a","ttl_ms":2000,"asked_ns":2150000000}}
"#;
    /// What arrives next.
    const REST: &str = r#"{"time":2100000000,"process":0,"node":"c1","type":"invoke","f":"release","value":{"lock":"a"}}
{"time":2140000000,"process":0,"node":"c1","type":"ok","f":"release","value":{"lock":"a"}}
{"time":9000000000,"process":0,"node":"c1","type":"invoke","f":"acquire","value":{"lock":"a"}}
{"time":9000000000,"process":1,"node":"c2","type":"invoke","f":"release","value":{"lock":"a"}}
"#;

    fn judged(text: &str) -> Judged {
        let flags = Flags { clients: Some(2), faults: Some("none".into()), ..Flags::default() };
        let experiment = Experiment::resolve("redis/set-nx", &flags).expect("an experiment");
        let mut history = history::jsonl::read(text.as_bytes(), &Default::default()).expect("a history");
        history.sort();
        judge_unfinished(history, &experiment, &Outcome::default(), "docker", None)
    }

    #[test]
    fn nobody_is_accused_for_what_is_still_on_its_way() {
        let cut = judged(CUT);
        assert_eq!((cut.judgement.verdict, cut.history.len()), (Verdict::Unknown, 5));
        let more = judged(&format!("{CUT}{REST}")).judgement;
        assert_eq!(more.checks["exclusion"].verdict, Verdict::Valid, "{more:#?}");
        assert_eq!(more.verdict, Verdict::Unknown, "it has no end yet");
        let liveness = more.checks["liveness"].reason.as_deref();
        assert_eq!(liveness, Some("the run has not come to its end; it is judged up to 8.000 s"));
    }

    #[test]
    fn what_is_certain_is_said_at_once() {
        let late = REST.replace("\"time\":21", "\"time\":31");
        let seen = judged(&format!("{CUT}{late}")).judgement;
        assert_eq!(seen.checks["exclusion"].verdict, Verdict::Invalid, "{seen:#?}");
    }
}
