//! Engine, referee, special checkers and brute force agree on random small histories. `examples/fuzz_models.rs` does the
//! same for longer.

use crate::{
    all::{self, Visit},
    random::{Random, Subject, brute, history, others},
};
use checkers::model::Model;
use proptest::prelude::*;

/// Compares all checkers on one history of each model.
struct Compare(u64);

impl Visit for Compare {
    fn visit<S: Subject>(&mut self, name: &str, subject: &S) {
        let model = subject.model();
        let ops = history(subject, 7, &mut Random(self.0));
        let brute = brute::<S>(&model, &ops);
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
    }
}

/// Checks that orders given as proof are permitted.
struct Witnesses(u64);

impl Visit for Witnesses {
    fn visit<S: Subject>(&mut self, name: &str, subject: &S) {
        let model = subject.model();
        let ops = history(subject, 9, &mut Random(self.0));
        let answer = checkers::engine::check(&model, &ops, &checkers::limits::Limits::default());
        let checkers::engine::Answer::Valid(witness) = answer else { return };
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
