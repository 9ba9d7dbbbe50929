use reports::junit;

use crate::sample;

#[test]
fn junit_of_a_broken_run() {
    insta::assert_snapshot!(junit::render(&sample::broken()).unwrap());
}

#[test]
fn junit_of_a_crashed_server() {
    let xml = junit::render(&sample::crashed()).unwrap();
    let failure = xml.lines().find(|line| line.contains("<failure"));
    assert!(failure.is_some_and(|line| line.contains("a server ended by itself")), "{xml}");
    assert!(xml.contains("signal: 11 (SIGSEGV)"), "{xml}");
}

#[test]
fn junit_of_an_interrupted_run() {
    insta::assert_snapshot!(junit::render(&sample::empty()).unwrap());
}

#[test]
fn junit_counts_as_the_judgement_does() {
    let run = sample::broken();
    let xml = junit::render(&run).unwrap();
    let of = |verdict| run.judgement.checks.values().filter(|check| check.verdict == verdict).count();
    use history::verdict::Verdict;
    assert_eq!(xml.matches("<failure").count(), of(Verdict::Invalid));
    assert_eq!(xml.matches("<error").count(), of(Verdict::Unknown));
    assert_eq!(xml.matches("<skipped").count(), run.judgement.not_applicable.len());
    assert_eq!(
        xml.matches("<testcase").count(),
        run.judgement.checks.len() + run.judgement.not_applicable.len()
    );
}

#[test]
fn junit_of_hostile_strings_is_well_formed() {
    let xml = junit::render(&sample::hostile()).unwrap();
    assert!(!xml.contains("<img") && !xml.contains('\u{1b}'));
    let passed = |line: &&str| line.trim_start().starts_with("<testcase") && line.ends_with("/>");
    let closed = xml.matches("</testcase>").count() + xml.lines().filter(passed).count();
    assert_eq!(xml.matches("<testcase").count(), closed);
}

/// The harness' tests have the rest of it, with the exit codes.
#[test]
fn junit_of_an_expected_crash_that_never_came() {
    let mut run = sample::valid();
    let unmet = history::judgement::Expected { expected: "invalid".into(), met: false };
    run.judgement.as_expected = Some(false);
    run.judgement.expectations.insert("crash".into(), unmet);
    let xml = junit::render(&run).unwrap();
    assert!(!run.judgement.checks.contains_key("crash") && xml.matches("<failure").count() == 1, "{xml}");
    assert!(xml.contains("<testcase name=\"crash\""), "{xml}");
}
