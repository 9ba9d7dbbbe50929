//! Engine, referee, special checkers and brute force agree on random small histories. `examples/fuzz_models.rs` does the
//! same for longer.

use crate::{
    all::{self, Visit},
    random::{Random, Subject, brute, history, is_evidence_enough, others},
};
use history::verdict::Verdict;
use linear::{engine, judge::judge, limits::Limits, model::Model};
use proptest::prelude::*;

/// Compares all checkers on one history of each model.
struct Compare(u64);

impl Visit for Compare {
    fn visit<S: Subject>(&mut self, name: &str, subject: &S) {
        let model = subject.model();
        let ops = history(subject, 7, &mut Random(self.0));
        let brute = brute(subject, &model, &ops);
        for (checker, verdict) in
            ["engine", "referee", "special", "judge"].iter().zip(others::<S>(&model, &ops))
        {
            let texts = || ops.iter().map(|op| model.describe(&op.input, op.output())).collect::<Vec<_>>();
            assert!(
                verdict.is_none_or(|verdict| verdict == brute),
                "{name}, {checker}: {verdict:?}, {:?}",
                texts()
            );
        }
        assert!(is_evidence_enough(subject, &model, &ops), "{name}: the evidence is not enough");
    }
}

/// Compares what judges small parts, and special checkers, with the engine's search, on histories too long for brute force.
struct CompareLong {
    seed: u64,
    decided: u32,
}

impl Visit for CompareLong {
    fn visit<S: Subject>(&mut self, name: &str, subject: &S) {
        let model = subject.model();
        let ops = history(subject, 200, &mut Random(self.seed));
        let limits = Limits { memory_bytes: Some(8 << 20), ..Limits::default() };
        let (judged, searched) = (judge(&model, &ops, &limits), engine::check(&model, &ops, &limits));
        let (judged, searched) = (judged.verdict(), searched.verdict());
        if judged != Verdict::Unknown && searched != Verdict::Unknown {
            assert_eq!(judged, searched, "{name}, seed {}", self.seed);
            self.decided += 1;
        }
    }
}

#[test]
fn long_histories_are_judged_as_the_search_does() {
    let seeds = 0..40;
    let mut compare = CompareLong { seed: 0, decided: 0 };
    for seed in seeds {
        compare.seed = seed;
        all::for_each(&mut compare);
    }
    assert!(compare.decided > 400, "{} decided", compare.decided);
}

/// Checks that orders given as proof are permitted.
struct Witnesses(u64);

impl Visit for Witnesses {
    fn visit<S: Subject>(&mut self, name: &str, subject: &S) {
        let model = subject.model();
        let ops = history(subject, 9, &mut Random(self.0));
        let answer = engine::check(&model, &ops, &Limits::default());
        let engine::Answer::Valid(witness) = answer else { return };
        for order in witness.linearizations {
            let mut state = model.initial();
            let mut latest_call = 0;
            for op in order {
                let op = &ops[op as usize];
                latest_call = op.call.max(latest_call);
                assert!(latest_call <= op.deadline(), "{name}: the order goes against time");
                state = model.step(&state, &op.input, op.output()).expect("the model permits the order");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn all_checkers_agree_with_brute_force(seed: u64) {
        all::for_each(&mut Compare(seed));
    }

    #[test]
    fn orders_given_as_proof_are_permitted(seed: u64) {
        all::for_each(&mut Witnesses(seed));
    }
}
