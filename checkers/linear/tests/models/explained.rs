//! What explanations say, and what they cost, of histories with one wrong answer.

use history::{History, edn, verdict::Verdict};
use linear::{
    convert::{self, Reading, without_keys},
    engine::Answer,
    explain::{Explanation, explain},
    judge::judge,
    limits::Limits,
    model::{Model, OpOf},
    models::{Counter, FifoQueue, KeyValue, Keyed, Lock, MultiRegister, Register, Semaphore, Set},
};

use crate::{
    all::{self, Visit},
    random::{Random, Subject, brute, history},
    wrong,
};

/// What an explanation may count: a few seconds' worth where nothing is optimized.
const WORK_MAX: u64 = 1 << 24;
/// Lines that are still read.
const LINES_MAX: usize = 30;

fn limits() -> Limits {
    Limits { memory_bytes: Some(256 << 20), ..Limits::default() }
}

/// Explains if it is wrong; whether what is shown is wrong by itself comes along.
fn explained<M: Model>(model: &M, ops: &[OpOf<M>], limits: &Limits) -> Option<(Explanation, bool)> {
    // Some searches do not end in a test's time; what cannot be judged is not explained.
    let answer = judge(model, ops, &Limits { memory_bytes: Some(32 << 20), ..Limits::default() });
    matches!(answer, Answer::Invalid(_)).then(|| {
        let explanation = explain(model, ops, &answer, limits);
        let shown: Vec<OpOf<M>> =
            explanation.operations.iter().map(|op| ops[op.op as usize].clone()).collect();
        let is_wrong = judge(model, &shown, limits).verdict() == Verdict::Invalid;
        (explanation, is_wrong)
    })
}

fn of_kind(kind: &str, text: &str, limits: &Limits) -> Option<(Explanation, bool)> {
    let history: History = edn::read(text.as_bytes(), &Default::default()).expect("a history");
    let reading = Reading::default();
    let model = wrong::KINDS.iter().find(|(known, _)| *known == kind).expect("a known kind").1;
    let (wanted, single) = ("the model has these operations", "there are no keys");
    match model {
        "register" | "cas-register" => {
            let model = Keyed::new(Register { initial: linear::convert::Datum::Int(0) });
            explained(&model, &convert::registers(&history, &reading).expect(wanted), limits)
        }
        "multi-register" => {
            let initial = (0..10).map(|key| (convert::Datum::Int(key), convert::Datum::Int(0))).collect();
            explained(
                &MultiRegister::new(initial),
                &convert::transactions(&history, &Reading::default()).expect(wanted),
                limits,
            )
        }
        "mutex" | "owned-mutex" => {
            let lock = if model == "mutex" { Lock::ANONYMOUS } else { Lock::OWNED };
            explained(&lock, &convert::locks(&history, &reading).expect(wanted).parts[0].ops, limits)
        }
        "semaphore:3" => {
            let ops = convert::semaphore(&history, &reading).expect(wanted);
            let ops = without_keys(ops).expect(single);
            explained(&Semaphore { permits: 3 }, &ops, limits)
        }
        "counter" => {
            let ops = without_keys(convert::counter(&history).expect(wanted)).expect(single);
            explained(&Counter, &ops, limits)
        }
        "fifo-queue" => {
            let ops = without_keys(convert::queue(&history, &reading).expect(wanted)).expect(single);
            explained(&FifoQueue::empty(), &ops, limits)
        }
        "set" => {
            let ops = without_keys(convert::set(&history).expect(wanted)).expect(single);
            explained(&Set::empty(), &ops, limits)
        }
        _ => explained(&KeyValue::empty(), &convert::texts(&history).expect(wanted), limits),
    }
}

/// The first seed of which the wrong answer has no excuse.
fn wrong(kind: &str, operations: usize, limits: &Limits) -> (Explanation, bool) {
    let mut found =
        (1..100).filter_map(|seed| of_kind(kind, &wrong::history(kind, operations, seed), limits));
    found.next().unwrap_or_else(|| panic!("no history of {operations} operations on a {kind} is wrong"))
}

/// Neither names of types nor of fields.
fn speaks_the_historys_words(text: &str) -> bool {
    ["Some(", "None", "Text(", "Value(", "Is(", "Elements(", "Done", "{:", "Acquire", "Read"]
        .iter()
        .all(|rust| !text.contains(rust))
}

#[test]
fn one_wrong_answer_is_explained_in_few_lines_and_with_little_work() {
    for (kind, _) in wrong::KINDS {
        for operations in [20, 60, 200] {
            let (explanation, is_wrong) = wrong(kind, operations, &limits());
            let text = &explanation.text;
            assert!(explanation.work <= WORK_MAX, "{kind} {operations}: {}", explanation.work);
            assert!(text.lines().count() <= LINES_MAX, "{kind} {operations}: {text}");
            assert!(speaks_the_historys_words(text), "{kind} {operations}: {text}");
            assert!(explanation.op.is_some() && !explanation.operations.is_empty(), "{kind}: {text}");
            // A sum or a count is told in words; nobody lists all that it is made of.
            let is_told = text.contains("To be seen at:");
            assert!(is_wrong || is_told, "{kind} {operations}: {text}");
            let is_small = explanation.operations.len() < 20 || kind == "queue-of-few-values";
            assert!(is_small, "{kind} {operations}: {text}");
        }
    }
}

#[test]
fn a_key_value_store_of_which_every_key_is_wrong_is_explained_by_one() {
    let (explanation, is_wrong) = wrong("key-value", 2000, &limits());
    assert!(is_wrong && explanation.operations.len() < 10, "{}", explanation.text);
    assert!(explanation.stopped.is_none() && explanation.work <= WORK_MAX, "{}", explanation.work);
}

#[test]
fn an_explanation_without_time_says_that_it_stopped_and_shows_what_it_has() {
    for limits in [
        Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() },
        Limits { memory_bytes: Some(1 << 10), ..Limits::default() },
        Limits { stop: Some(std::sync::Arc::new(true.into())), ..Limits::default() },
    ] {
        let (explanation, _) = wrong("multi-register", 200, &limits);
        let stopped = explanation.stopped.as_ref().expect("it stopped");
        assert!(explanation.text.contains(stopped), "{}", explanation.text);
        assert!(explanation.op.is_some() && !explanation.operations.is_empty(), "{}", explanation.text);
        assert!(stopped.contains("smaller part may"), "{stopped}");
    }
}

/// Looks at valid histories as to some of their topics.
struct Narrowed {
    seed: u64,
    left_out: u32,
}

impl Visit for Narrowed {
    fn visit<S: Subject>(&mut self, name: &str, subject: &S) {
        let model = subject.model();
        let mut random = Random(self.seed);
        let ops = history(subject, 7, &mut random);
        if brute::<S>(subject, &model, &ops) != Verdict::Valid {
            return;
        }
        let kept = |topic: u64| (topic ^ self.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 1;
        let topics = ops.iter().flat_map(|op| model.topics(&op.input, op.output()));
        if topics.into_iter().all(kept) {
            return;
        }
        let narrowed: Vec<_> = ops.iter().filter_map(|op| model.about(op, &kept)).collect();
        self.left_out += u32::from(narrowed.len() < ops.len());
        let texts = |ops: &[OpOf<S::M>]| -> Vec<String> {
            ops.iter()
                .map(|op| {
                    format!("{}..{} {}", op.call, op.deadline(), model.describe(&op.input, op.output()))
                })
                .collect()
        };
        assert_eq!(
            brute::<S>(subject, &model, &narrowed),
            Verdict::Valid,
            "{name}: {:?} of {:?}",
            texts(&narrowed),
            texts(&ops)
        );
    }
}

#[test]
fn a_valid_history_stays_valid_as_to_some_topics() {
    let mut narrowed = Narrowed { seed: 0, left_out: 0 };
    for seed in 0..3000 {
        narrowed.seed = seed;
        all::for_each(&mut narrowed);
    }
    assert!(narrowed.left_out > 3000, "{}", narrowed.left_out);
}

/// Explains whatever is wrong.
struct Explains(u64, u32);

impl Visit for Explains {
    fn visit<S: Subject>(&mut self, name: &str, subject: &S) {
        let model = subject.model();
        let ops = history(subject, 9, &mut Random(self.0));
        let Some((explanation, is_wrong)) = explained(&model, &ops, &limits()) else { return };
        self.1 += 1;
        let is_told = explanation.text.contains("To be seen at:");
        assert!(is_wrong || is_told || model.partition(&ops).len() > 1, "{name}: {}", explanation.text);
        assert!(
            explanation.stopped.is_none() && !explanation.operations.is_empty(),
            "{name}: {explanation:?}"
        );
    }
}

#[test]
fn what_is_shown_of_random_histories_is_wrong_by_itself() {
    let mut explains = Explains(0, 0);
    for seed in 0..300 {
        explains.0 = seed;
        all::for_each(&mut explains);
    }
    assert!(explains.1 > 500, "{}", explains.1);
}
