//! A short report for a pull request's comment.

use history::verdict::Verdict;

use crate::{exits, headline, plain, run::RunData, stalls, violations::numbered, words};

/// Violations shown before the rest is only counted.
const VIOLATIONS: usize = 5;

/// Verdict, headline, the checks that did not hold, the first violations, how to repeat the run, and what helps.
pub fn render(run: &RunData) -> String {
    let judgement = &run.judgement;
    let mark = mark(judgement.verdict);
    let mut text = format!(
        "### {mark} {}: {}\n\n{}\n\n",
        words::verdict(judgement.verdict),
        safe(&words::identity(judgement)),
        safe(&headline::headline(run))
    );
    if let Some(unfinished) = words::unfinished(judgement) {
        text.push_str(&format!("{}\n\n", safe(&unfinished)));
    }
    text.push_str("| check | verdict | count | blame | why |\n|---|---|--:|---|---|\n");
    for (name, result) in words::checks_in_order(judgement) {
        let [blame, reason] =
            [result.blame.clone(), words::reason(result)].map(|text| safe(text.as_deref().unwrap_or("–")));
        let verdict = format!("{} {}", self::mark(result.verdict), words::verdict(result.verdict));
        text.push_str(&format!("| {} | {verdict} | {} | {blame} | {reason} |\n", safe(name), result.count));
    }
    let violations = numbered(judgement);
    if !violations.is_empty() {
        text.push('\n');
    }
    for violation in violations.iter().take(VIOLATIONS) {
        text.push_str(&format!(
            "{}. **{}**: {}\n",
            violation.number,
            safe(violation.check),
            safe(&violation.violation.text)
        ));
    }
    let all: u64 = judgement.checks.values().map(|check| check.count).sum();
    let left_off = (all as usize).saturating_sub(violations.len().min(VIOLATIONS));
    if left_off > 0 {
        text.push_str(&format!("\nand {left_off} more.\n"));
    }
    judgement.exits.iter().for_each(|exit| text.push_str(&format!("\n{}\n", safe(&exits::in_words(exit)))));
    if let Some(stalls) = stalls::in_words(&judgement.stalls) {
        text.push_str(&format!("\n{}\n", safe(&stalls)));
    }
    if !run.repeat.is_empty() {
        text.push_str(&format!("\nRepeat: {}\n", code(&run.repeat)));
    }
    words::help(judgement).iter().for_each(|line| text.push_str(&format!("\n> {}\n", safe(line))));
    text
}

fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "✅",
        Verdict::Unknown => "❔",
        Verdict::Invalid => "❌",
    }
}

/// Text of strangers inside Markdown: no markup, no mentions, no line breaks.
fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain::line(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("@\u{200b}"),
            _ => out.push(c),
        }
    }
    out
}

/// A code span whose fence is longer than any run of backticks inside.
fn code(text: &str) -> String {
    let text = plain::line(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}
