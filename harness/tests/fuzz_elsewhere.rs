//! A short form of `examples/fuzz_elsewhere`.

#[path = "../examples/fuzz_elsewhere/brute.rs"]
mod brute;
#[path = "../examples/fuzz_elsewhere/case.rs"]
mod case;
#[path = "../examples/fuzz_elsewhere/compare.rs"]
mod compare;
#[path = "../examples/fuzz_elsewhere/domain.rs"]
mod domain;
#[path = "../examples/fuzz_elsewhere/expected.rs"]
mod expected;
#[path = "../examples/fuzz_elsewhere/generate.rs"]
mod generate;
#[path = "../examples/fuzz_elsewhere/history.rs"]
mod history;
#[path = "../examples/fuzz_elsewhere/judge.rs"]
mod judge;
#[path = "../examples/fuzz_elsewhere/names.rs"]
mod names;
#[path = "../examples/fuzz_elsewhere/objects.rs"]
mod objects;
#[path = "../examples/fuzz_elsewhere/random.rs"]
mod random;
#[path = "../examples/fuzz_elsewhere/spelling.rs"]
mod spelling;
#[path = "../examples/fuzz_elsewhere/steps.rs"]
mod steps;
#[path = "../examples/fuzz_elsewhere/write.rs"]
mod write;
#[path = "../examples/fuzz_elsewhere/write_edn.rs"]
mod write_edn;
#[path = "../examples/fuzz_elsewhere/write_json.rs"]
mod write_json;

use brute::Twist;
use clap::ValueEnum;
use compare::{Counts, Plan, compare};

fn disagreements(plan: &Plan) -> (Vec<Counts>, Vec<String>) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (table, examples) = compare(plan, &folder.path().join("history"));
    (table.into_values().collect(), examples.into_values().collect())
}

#[test]
fn every_format_and_model_is_judged_as_brute_force_judges_it() {
    let (counts, wrong) = disagreements(&Plan { histories: 1430, ..Plan::default() });
    let wrong = wrong.join("\n");
    assert!(wrong.is_empty(), "{wrong}");
    // Thirteen models with keys or none, in eight formats, and five of them without keys in lock lines.
    assert_eq!(counts.len(), 13 * 2 * 8 + 5);
    for Counts { valid, invalid, histories, .. } in counts {
        assert!(valid > 0 && invalid > 0, "{valid} and {invalid} of {histories}: one cannot be missed");
    }
}

/// The comparison notices when either side is wrong.
#[test]
fn a_judge_that_errs_is_noticed() {
    for twist in Twist::value_variants() {
        let only = vec!["register".into(), "cas-".into(), "fifo-".into()];
        let plan = Plan { histories: 240, twist: Some(*twist), only, ..Plan::default() };
        assert!(!disagreements(&plan).1.is_empty(), "{twist:?}");
    }
}
