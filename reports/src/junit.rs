//! JUnit XML: one test case a check.
//!
//! `invalid` is a failure with all listed violations as its text. `unknown` is an error with the reason: a run that
//! proves nothing must not look green, and is not a broken promise either. A check that does not apply is skipped.

use std::time::Duration;

use checkers::verdict::{CheckResult, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::{run::RunData, words};

/// One suite, named after the experiment.
///
/// # Errors
/// The XML could not be written.
pub fn render(run: &RunData) -> Result<String, quick_junit::SerializeError> {
    let judgement = &run.judgement;
    let mut suite = TestSuite::new(judgement.experiment.as_str());
    suite.set_time(Duration::from_secs_f64(
        judgement.phases_ms.get("run").map_or(0.0, |ms| ms.max(0.0) / 1000.0),
    ));
    suite.add_property(("world", judgement.world.as_str()));
    for (name, value) in [
        ("version", judgement.version.clone()),
        ("seed", judgement.seed.map(|seed| seed.to_string())),
        ("repeat", (!run.repeat.is_empty()).then(|| run.repeat.clone())),
    ] {
        if let Some(value) = value {
            suite.add_property((name, value.as_str()));
        }
    }
    for (name, result) in &judgement.checks {
        suite.add_test_case(case(&judgement.experiment, name, status(result)));
    }
    for (name, reason) in &judgement.not_applicable {
        let mut skipped = TestCaseStatus::skipped();
        skipped.set_message(reason.as_str());
        suite.add_test_case(case(&judgement.experiment, name, skipped));
    }
    if let Some(stopped) = &judgement.stopped {
        let mut error = TestCaseStatus::non_success(NonSuccessKind::Error);
        error.set_message(format!("the run ended early: {stopped}"));
        suite.add_test_case(case(&judgement.experiment, "run", error));
    }
    let mut report = Report::new("fencepost");
    report.add_test_suite(suite);
    report.to_string()
}

fn case(experiment: &str, check: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(check, status);
    case.set_classname(experiment);
    case
}

fn status(result: &CheckResult) -> TestCaseStatus {
    let kind = match result.verdict {
        Verdict::Valid => return TestCaseStatus::success(),
        Verdict::Unknown => NonSuccessKind::Error,
        Verdict::Invalid => NonSuccessKind::Failure,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(words::verdict(result.verdict));
    let reason = result.reason.clone().unwrap_or_else(|| words::verdict(result.verdict).to_owned());
    status.set_message(match (result.verdict, result.count) {
        (Verdict::Invalid, count) => format!("{reason} ({count}×)"),
        _ => reason,
    });
    let mut lines: Vec<&str> = result.violations.iter().map(|violation| violation.text.as_str()).collect();
    let left_off = (result.count as usize).saturating_sub(lines.len());
    let rest = format!("and {left_off} more");
    if left_off > 0 && !lines.is_empty() {
        lines.push(&rest);
    }
    if !lines.is_empty() {
        status.set_description(lines.join("\n"));
    }
    status
}
