use std::collections::BTreeMap;
use std::fs::File;

use history::{Format, History, ReadOptions, read, verdict::Verdict};
use linear::{
    convert::{Datum, Reading, locks, registers, texts, transactions},
    judge::judge,
    limits::Limits,
    models::{KeyValue, Keyed, Lock, MultiRegister, Register},
};

use crate::index::{Vector, lock_lines, vectors};

#[test]
fn every_vector_is_judged_as_the_index_says() {
    for vector in vectors() {
        let file = File::open(&vector.path).unwrap();
        let (format, history) = read(file, &ReadOptions::default()).unwrap();
        let verdict = verdict(&vector, format, &history);
        let expected = if vector.is_linearizable { Verdict::Valid } else { Verdict::Invalid };
        assert_eq!(verdict, expected, "{}", vector.path.display());
    }
}

#[test]
fn lock_lines_are_judged_as_their_names_say() {
    for path in lock_lines() {
        let (_, history) = read(File::open(&path).unwrap(), &ReadOptions::default()).unwrap();
        let parts = locks(&history, &Reading::default()).unwrap().parts;
        let verdicts = parts.iter().map(|part| judge(&Lock::FENCED, &part.ops, &Limits::default()).verdict());
        let is_bad = path.to_string_lossy().ends_with("_bad.txt");
        let expected = if is_bad { Verdict::Invalid } else { Verdict::Valid };
        assert_eq!(Verdict::all(verdicts), expected, "{}", path.display());
    }
}

fn verdict(vector: &Vector, format: Format, history: &History) -> Verdict {
    // What a failed compare-and-set and a read of nil say, the index tells by the format.
    let reading = if format == Format::JepsenLog { Reading::ETCD_LOG } else { Reading::default() };
    let limits = Limits::default();
    match &*vector.model {
        "mutex" => {
            let parts = locks(history, &reading).unwrap().parts;
            Verdict::all(parts.iter().map(|part| judge(&Lock::ANONYMOUS, &part.ops, &limits).verdict()))
        }
        "multi-register" => {
            let zero = |name: &str| (Datum::Text(name.into()), Datum::Int(0));
            let model = MultiRegister::new(BTreeMap::from([zero(":x"), zero(":y")]));
            judge(&model, &transactions(history, &Reading::default()).unwrap(), &limits).verdict()
        }
        model if model.starts_with("kv") => {
            judge(&KeyValue::empty(), &texts(history).unwrap(), &limits).verdict()
        }
        model if model.starts_with("cas-register") => {
            let initial = vector.initial.parse().map_or(Datum::Nil, Datum::Int);
            let model = Keyed::new(Register { initial });
            judge(&model, &registers(history, &reading).unwrap(), &limits).verdict()
        }
        other => panic!("no model {other}"),
    }
}
