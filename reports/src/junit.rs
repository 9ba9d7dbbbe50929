//! JUnit XML: one test case a check. It says what the exit code says.
//!
//! `invalid` is a failure with all listed violations as its text. `unknown` is an error with the reason: a run that
//! proves nothing must not look green, and is not a broken promise either. A check that does not apply is skipped.
//!
//! Where the experiment expects something, what counts is whether it came. A check that says what it was expected to
//! passes, with what it found as its output; one that says anything else is a failure that names both.

use std::time::Duration;

use history::{
    judgement::{Expected, Judgement},
    verdict::{CheckResult, Verdict},
};
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::{exits, plain, run::RunData, stalls, words};

/// The expectation of the whole verdict, and its test case.
const VERDICT: &str = "verdict";

/// One suite, named after the experiment.
///
/// # Errors
/// The XML could not be written.
pub fn render(run: &RunData) -> Result<String, SerializeError> {
    render_with(run, &[])
}

/// As [`render`], with the harness' own failures, each of which is an error.
///
/// # Errors
/// The XML could not be written.
pub fn render_with(run: &RunData, failures: &[String]) -> Result<String, SerializeError> {
    let judgement = &run.judgement;
    let mut suite = TestSuite::new(plain::line(&judgement.experiment));
    suite.set_time(Duration::from_secs_f64(
        judgement.phases_ms.get("run").map_or(0.0, |ms| ms.max(0.0) / 1000.0),
    ));
    suite.add_property(("world", plain::line(&judgement.world).as_str()));
    for (name, value) in [
        ("version", judgement.version.clone()),
        ("seed", judgement.seed.map(|seed| seed.to_string())),
        ("stalls", stalls::in_words(&judgement.stalls)),
        ("exits", exits::sentence(judgement)),
        ("repeat", (!run.repeat.is_empty()).then(|| run.repeat.clone())),
    ] {
        if let Some(value) = value {
            suite.add_property((name, plain::line(&value).as_str()));
        }
    }
    for (name, result) in &judgement.checks {
        suite.add_test_case(of_check(judgement, name, result));
    }
    for (name, reason) in &judgement.not_applicable {
        suite.add_test_case(case(&judgement.experiment, name, not_applicable(judgement, name, reason)));
    }
    if let Some(expected) = judgement.expectations.get(VERDICT) {
        suite.add_test_case(case(&judgement.experiment, VERDICT, of_verdict(judgement, expected)));
    }
    suite.add_test_cases(of_nothing(judgement));
    let unfinished =
        words::unfinished(judgement).map(|why| format!("the {}", why.trim_start_matches("The ")));
    for why in unfinished.iter().chain(failures) {
        suite.add_test_case(case(&judgement.experiment, "run", non_success(NonSuccessKind::Error, why)));
    }
    report(suite)
}

/// Of a run of which nothing can be told but why: one error.
///
/// # Errors
/// The XML could not be written.
pub fn failed(experiment: &str, why: &str) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(plain::line(experiment));
    suite.add_test_case(case(experiment, "run", non_success(NonSuccessKind::Error, why)));
    report(suite)
}

fn report(suite: TestSuite) -> Result<String, SerializeError> {
    let mut report = Report::new("fencepost");
    report.add_test_suite(suite);
    // What XML forbids and what would move a terminal, wherever it stands.
    report.to_string().map(|xml| plain::document(&xml).into_owned())
}

fn case(experiment: &str, check: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(plain::line(check), status);
    case.set_classname(plain::line(experiment));
    case
}

fn of_check(judgement: &Judgement, name: &str, result: &CheckResult) -> TestCase {
    let found = found(result);
    let text = text(judgement, name, result);
    let expected = judgement.expectations.get(name);
    let unmet = expected.filter(|expected| !expected.met);
    let is_open = expected.is_none() && counts(judgement, result.verdict);
    if result.verdict == Verdict::Valid && unmet.is_none() {
        return case(&judgement.experiment, name, TestCaseStatus::success());
    }
    if unmet.is_some() || is_open {
        let kind =
            if result.verdict == Verdict::Unknown { NonSuccessKind::Error } else { NonSuccessKind::Failure };
        let why = match unmet {
            Some(expected) if result.verdict == Verdict::Valid => was(expected, result.verdict),
            Some(expected) => format!("{}: {found}", was(expected, result.verdict)),
            None => found,
        };
        let mut status = non_success(kind, &why);
        status.set_type(words::verdict(result.verdict));
        if !text.is_empty() {
            status.set_description(text);
        }
        return case(&judgement.experiment, name, status);
    }
    // As expected, or not asked for; what proves nothing is not green for all that.
    let status = match result.verdict {
        Verdict::Unknown => skipped(&format!("unknown: {found}")),
        _ => TestCaseStatus::success(),
    };
    let mut case = case(&judgement.experiment, name, status);
    let verdict = words::verdict(result.verdict);
    let as_expected = if expected.is_some() { ", as expected" } else { "" };
    case.set_system_out(format!("{verdict}{as_expected}: {}\n{text}", plain::line(&found)).trim_end());
    case
}

/// Whether a check that is not named among the expectations decides with its own word: where there are none, and where
/// it is why the whole verdict is not the expected one.
fn counts(judgement: &Judgement, verdict: Verdict) -> bool {
    let of_all = judgement.expectations.get(VERDICT);
    match (judgement.as_expected, verdict) {
        (None, _) => true,
        (Some(false), Verdict::Unknown) => true,
        _ => of_all
            .is_some_and(|expected| !expected.met && expected.expected == words::verdict(Verdict::Valid)),
    }
}

fn of_verdict(judgement: &Judgement, expected: &Expected) -> TestCaseStatus {
    if expected.met {
        return TestCaseStatus::success();
    }
    let kind = match judgement.verdict {
        Verdict::Unknown => NonSuccessKind::Error,
        _ => NonSuccessKind::Failure,
    };
    non_success(kind, &was(expected, judgement.verdict))
}

fn not_applicable(judgement: &Judgement, name: &str, reason: &str) -> TestCaseStatus {
    match judgement.expectations.get(name) {
        Some(Expected { met: false, expected }) => {
            let why = format!("expected to be {expected}, does not apply: {reason}");
            non_success(NonSuccessKind::Failure, &why)
        }
        _ => skipped(reason),
    }
}

/// Expectations of checks that this run gave nothing to judge, such as of crashes where no server crashed.
fn of_nothing(judgement: &Judgement) -> impl Iterator<Item = TestCase> {
    let is_shown = |name: &str| {
        name == VERDICT || judgement.checks.contains_key(name) || judgement.not_applicable.contains_key(name)
    };
    let unmet =
        judgement.expectations.iter().filter(move |(name, expected)| !expected.met && !is_shown(name));
    unmet.map(|(name, Expected { expected, .. })| {
        let why = format!("expected to be {expected}, and there was none");
        case(&judgement.experiment, name, non_success(NonSuccessKind::Failure, &why))
    })
}

fn non_success(kind: NonSuccessKind, why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(plain::line(why));
    status
}

fn skipped(why: &str) -> TestCaseStatus {
    let mut skipped = TestCaseStatus::skipped();
    skipped.set_message(plain::line(why));
    skipped
}

fn was(expected: &Expected, verdict: Verdict) -> String {
    format!("expected to be {}, was {}", expected.expected, words::verdict(verdict))
}

/// The reason, and how often.
fn found(result: &CheckResult) -> String {
    let reason = words::reason(result).unwrap_or_else(|| words::verdict(result.verdict).to_owned());
    match (result.verdict, result.count) {
        (Verdict::Invalid, count) => format!("{reason} ({count}×)"),
        _ => reason,
    }
}

/// All listed violations, and what helps.
fn text(judgement: &Judgement, name: &str, result: &CheckResult) -> String {
    let mut lines: Vec<String> =
        result.violations.iter().map(|violation| plain::line(&violation.text)).collect();
    let left_off = (result.count as usize).saturating_sub(lines.len());
    if left_off > 0 && !lines.is_empty() {
        lines.push(format!("and {left_off} more"));
    }
    if result.verdict == Verdict::Invalid {
        lines.extend(words::help_with(judgement, name).iter().map(|line| plain::line(line)));
    }
    lines.join("\n")
}
