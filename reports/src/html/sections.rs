use history::verdict::{CheckResult, Verdict};
use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use crate::{
    exits, headline, latency, run::RunData, stalls, timeline::Timeline, violations::numbered, words,
};

/// Verdict, headline, what ran where. A check that only informs neither held nor broke.
pub(super) fn top(run: &RunData) -> Markup {
    let judgement = &run.judgement;
    html! {
        header {
            div.bar {
                p.identity { b { (judgement.experiment) } " on " (words::world(judgement))
                    @if let Some(version) = &judgement.version { " · version " (version) }
                    @if let Some(seed) = judgement.seed { " · seed " (seed) }
                }
                button #theme title="Light or dark" { "◐ " span.wide { "theme" } }
            }
            h1 { (badge(judgement.verdict)) " " span { (headline::headline(run)) } }
            p.holds {
                @for (verdict, what) in [(Verdict::Invalid, "Broken"), (Verdict::Unknown, "Not shown"), (Verdict::Valid, "Held")] {
                    @let names: Vec<&str> = words::checks_in_order(judgement).into_iter()
                        .filter(|(_, result)| result.verdict == verdict && !result.about.informs).map(|(name, _)| name.as_str()).collect();
                    @if !names.is_empty() { span { (what) ": " b { (names.join(", ")) } } }
                }
                @match judgement.as_expected {
                    Some(true) => span { "As " b { "expected" } },
                    Some(false) => span.warn { b { "Not as expected" } },
                    None => {},
                }
            }
            @if let Some(unfinished) = words::unfinished(judgement) { p.warn { (unfinished) } }
        }
    }
}

/// Every listed violation, with its anchor.
pub(super) fn violations(run: &RunData) -> Markup {
    let violations = numbered(&run.judgement);
    let all: u64 = run.judgement.checks.values().map(|check| check.count).sum();
    html! {
        @if !violations.is_empty() {
            section #violations {
                h2 { "Violations " span.count { (all) } }
                @if all > violations.len() as u64 { p.note { "The first " (violations.len()) " of " (all) " are listed." } }
                ol {
                    @for violation in &violations {
                        li id={ "v" (violation.number) } {
                            a href={ "#v" (violation.number) } data-violation=(violation.number) {
                                span.number { (violation.number) }
                                span.check { (violation.check) }
                                span.span { (words::seconds(violation.violation.start_ns)) }
                                span.text { (violation.violation.text) }
                            }
                        }
                    }
                }
                (help(run))
            }
        } @else if !run.judgement.help.is_empty() {
            section #violations { (help(run)) }
        }
    }
}

/// What the recipe never promised, and what would have prevented it.
fn help(run: &RunData) -> Markup {
    html! { @for line in words::help(&run.judgement) { p.help { (line) } } }
}

/// Each check with what it promises.
pub(super) fn checks(run: &RunData) -> Markup {
    html! {
        section #checks {
            h2 { "Checks" }
            div.scroll { table {
                thead { tr { th { "Check" } th { "Verdict" } th.n { "Count" } th { "Blame" } th { "Why" } th { "Figures" } } }
                tbody {
                    @for (name, result) in words::checks_in_order(&run.judgement) {
                        tr data-check=(name) data-verdict=(words::verdict(result.verdict)) {
                            td { b { (name) } @if let Some(promise) = &result.about.promise { br; small { (promise) } } }
                            td { (badge(result.verdict)) }
                            td.n { (result.count) }
                            td { (result.blame.as_deref().unwrap_or("–")) }
                            td { (words::reason(result).unwrap_or_default()) }
                            td { (figures(result)) }
                        }
                    }
                    @for (name, reason) in &run.judgement.not_applicable {
                        tr { td { b { (name) } } td { "does not apply" } td.n {} td { "–" } td { (reason) } td {} }
                    }
                }
            } }
        }
    }
}

/// Figures that no other section of the page shows.
fn figures(result: &CheckResult) -> Markup {
    let elsewhere = ["latency_ms", "recovery", "failover_ms", "failovers", words::SET_ASIDE];
    // A figure that could not be told is null.
    let shown = |(name, value): &(&String, &Value)| !elsewhere.contains(&name.as_str()) && !value.is_null();
    html! {
        @for (name, value) in result.figures.iter().filter(shown) {
            @match value {
                Value::Object(_) | Value::Array(_) => details { summary { code { (name) } } code { (words::brief(value)) } },
                _ => div { code { (name) } " " (words::brief(value)) },
            }
        }
    }
}

/// Names of operations that are listed; a sound history has few.
const LISTED_MAX: usize = 200;

/// Operations by outcome and how long they took.
pub(super) fn outcomes(run: &RunData, timeline: &Timeline) -> Markup {
    let latencies = latency::of(run, timeline);
    let names: Vec<&str> = latencies
        .first()
        .map(|l| l.quantiles_ms.iter().map(|(name, _)| name.as_str()).collect())
        .unwrap_or_default();
    html! {
        section #outcomes {
            h2 { "Operations by outcome" }
            div.scroll { table {
                thead { tr {
                    th { "Operation" } th.n { "ok" } th.n { "fail" } th.n { "info" }
                    @for name in &names { th.n { (name) " ms" } }
                } }
                tbody {
                    @for (f, outcomes) in run.judgement.operations.iter().take(LISTED_MAX) {
                        @let latency = latencies.iter().find(|latency| latency.f == *f);
                        tr {
                            td { b { (f) } } td.n { (outcomes.ok) } td.n { (outcomes.fail) } td.n { (outcomes.info) }
                            @for name in &names {
                                td.n { @if let Some(ms) = latency.and_then(|latency| latency.get(name)) { (format!("{ms:.2}")) } }
                            }
                        }
                    }
                }
            } }
            @if run.judgement.operations.len() > LISTED_MAX {
                p.note { "and " (run.judgement.operations.len() - LISTED_MAX) " more, which verdict.json has." }
            }
            p.note {
                "ok: it happened. fail: it certainly did not. info: nobody knows, so it counts as possible. "
                (run.judgement.grants.total) " grants, " (run.judgement.grants.contended) " of them contended."
            }
            @for failover in words::failovers(&run.judgement) { p { (failover) } }
        }
    }
}

/// Plots that stand in the page.
pub(super) fn plots(plots: &[(String, String)]) -> Markup {
    html! {
        @if !plots.is_empty() {
            section #plots {
                h2 { "Latency and rate" }
                @for (name, svg) in plots { figure data-plot=(name) { (PreEscaped(svg)) } }
            }
        }
    }
}

/// Each fault with its evidence.
pub(super) fn faults(run: &RunData) -> Markup {
    let recovers =
        run.judgement.faults.iter().any(|fault| words::recovery_ms(&run.judgement, fault.id)[0].is_some());
    html! {
        section #faults {
            h2 { "Faults " span.count { (run.judgement.faults.len()) } }
            @for exit in &run.judgement.exits { p.warn data-exit=(exit.node) { (exits::in_words(exit)) } }
            @if run.judgement.faults.is_empty() { p.note { "None were injected." } } @else {
                div.scroll { table {
                    thead { tr { th.n { "#" } th { "Fault" } th { "Target" } th.n { "From" } th.n { "To" } th { "Result" } th { "Healed" } @if recovers { th.n title="From the fault's start, and from its heal" { "Next grant after" } } th { "Evidence" } } }
                    tbody {
                        @for fault in &run.judgement.faults {
                            tr data-fault=(fault.id) {
                                td.n { (fault.id) }
                                td { button.link data-fault=(fault.id) title="Show in the timeline" { (fault.kind) } }
                                td { (fault.targets.join(", ")) }
                                td.n { (words::seconds(fault.start_ns)) }
                                td.n { (fault.end_ns.map(words::seconds).unwrap_or_else(|| "never".to_owned())) }
                                td.warn[fault.result != "installed"] { (fault.result) }
                                td.warn[!fault.healed] { (if fault.healed { "yes" } else { "no" }) }
                                @if recovers { td.n {
                                    @let [start, heal] = words::recovery_ms(&run.judgement, fault.id);
                                    @if let Some(ms) = start { (words::ms(ms)) }
                                    @if let Some(ms) = heal { br; small { "heal + " (words::ms(ms)) } }
                                } }
                                td { code title=(words::brief(&fault.evidence)) { (crate::evidence::in_words(fault)) } }
                            }
                        }
                    }
                } }
            }
            (stalls(run))
        }
    }
}

/// What stood still, by node.
fn stalls(run: &RunData) -> Markup {
    let stalls = &run.judgement.stalls;
    html! {
        @if let Some(told) = stalls::in_words(stalls) {
            p #stalls { (told) " (" @for (i, (node, of)) in stalls.nodes.iter().enumerate() {
                @if i > 0 { ", " } (node) " " (of.count) ": " (words::ms(of.total_ms))
            } ")" }
            p.note {
                "A node, or the harness, stood still though no fault of this run did that: its machine was busy or frozen. "
                (words::excused(&run.judgement))
            }
        }
    }
}

/// The frame of the table that the script fills.
pub(super) fn operations() -> Markup {
    html! {
        section #operations {
            h2 { "Operations" }
            div.tools {
                label { "Client " select #by-lane {} }
                label { "Operation " select #by-f {} }
                label { "Outcome " select #by-outcome {} }
                label { "Containing " input #by-text type="search" size="14"; }
                output #matching {}
                span.group { button #page-back { "◀" } button #page-on { "▶" } }
            }
            div.scroll { table {
                thead { tr { th.n { "Index" } th { "Client" } th { "Operation" } th.n { "From s" } th.n { "ms" } th { "Outcome" } th { "Value" } } }
                tbody #rows {}
            } }
        }
    }
}

/// How to repeat the run, and what it ran on.
pub(super) fn about(run: &RunData) -> Markup {
    html! {
        section #about {
            h2 { "This run" }
            @if !run.repeat.is_empty() {
                p { "Repeat it with" }
                pre #repeat { code { (run.repeat) } }
            }
            dl {
                @for (key, value) in &run.metadata { dt { (key) } dd { (value) } }
                @for (phase, ms) in &run.judgement.phases_ms { dt { "time to " (phase) } dd { (words::ms(*ms)) } }
                @for (name, path) in &run.paths { dt { (name) } dd { code { (path) } } }
            }
        }
    }
}

fn badge(verdict: Verdict) -> Markup {
    let mark = match verdict {
        Verdict::Valid => "✓",
        Verdict::Unknown => "?",
        Verdict::Invalid => "✕",
    };
    html! { span.badge.(words::verdict(verdict)) { (mark) " " (words::verdict(verdict)) } }
}
