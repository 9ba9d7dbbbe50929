//! Every vector is judged as its index says, by the engine and by whatever is fastest.

use crate::histories::{Vector, index, key_values, locks, multi_registers, mutexes, registers};
use history::verdict::Verdict;
use linear::{
    engine,
    judge::judge,
    limits::Limits,
    model::{Model, OpOf},
    models::{KeyValue, lock::Lock},
};

fn verdicts<M: Model>(model: &M, ops: &[OpOf<M>]) -> [Verdict; 2] {
    [engine::check(model, ops, &Limits::default()).verdict(), judge(model, ops, &Limits::default()).verdict()]
}

fn judged(vector: &Vector) -> [Verdict; 2] {
    match vector.model.as_str() {
        "mutex" => verdicts(&Lock::ANONYMOUS, &mutexes(vector)),
        "multi-register" => {
            let (model, ops) = multi_registers(vector);
            verdicts(&model, &ops)
        }
        model if model.starts_with("kv") => verdicts(&KeyValue::empty(), &key_values(vector)),
        model if model.starts_with("cas-register") => {
            let (model, ops) = registers(vector);
            verdicts(&model, &ops)
        }
        model => panic!("{}: what is the model {model}?", vector.path),
    }
}

#[test]
fn vectors_are_judged_as_their_index_says() {
    let wrong: Vec<String> = index()
        .iter()
        .map(|vector| (vector, judged(vector)))
        .filter(|(vector, verdicts)| *verdicts != [vector.expected; 2])
        .map(|(vector, verdicts)| format!("{}: {verdicts:?} instead of {:?}", vector.path, vector.expected))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn made_locks_are_judged_as_they_were_made() {
    let locks = locks();
    if locks.is_empty() {
        eprintln!("NOTHING WAS TESTED: there is no ../shared/vectors/synthetic/lock");
    }
    for (name, ops) in locks {
        let expected = if name.ends_with("ok") { Verdict::Valid } else { Verdict::Invalid };
        assert_eq!(verdicts(&Lock::FENCED, &ops), [expected; 2], "{name}");
        assert!(Lock::FENCED.shortcut(&ops).is_some(), "{name}: no search is needed");
    }
}
