use super::*;
use crate::{
    engine::check,
    judge::judge,
    limits::Limits,
    models::{
        lock::{Lock, LockAction, LockInput, LockOutput},
        register::{Register, RegisterInput, RegisterOutput},
    },
    op::Op,
};

type Registers = Register<u32>;

fn write(process: u32, call: u64, at: u64, value: u32) -> OpOf<Registers> {
    Op::ok(process, call, at, RegisterInput::Write(value), RegisterOutput::Done)
}

fn read(process: u32, call: u64, at: u64, value: u32) -> OpOf<Registers> {
    Op::ok(process, call, at, RegisterInput::Read, RegisterOutput::Value(value))
}

/// A stale read among a hundred sound operations.
fn stale() -> Vec<OpOf<Registers>> {
    let mut ops: Vec<OpOf<Registers>> = (0..50)
        .flat_map(|n| {
            [
                write(0, n * 10, n * 10 + 4, n as u32 % 5 + 1),
                read(1, n * 10 + 5, n * 10 + 8, n as u32 % 5 + 1),
            ]
        })
        .collect();
    ops.push(read(2, 326, 327, 1));
    ops.sort_by_key(|op| op.call);
    ops
}

#[test]
fn a_stale_read_is_shown_with_what_it_missed_and_what_it_saw() {
    let (model, ops) = (Register { initial: 0 }, stale());
    let explanation = explain(&model, &ops, &check(&model, &ops, &Limits::default()), &Limits::default());
    let texts: Vec<&str> = explanation.operations.iter().map(|op| op.text.as_str()).collect();
    assert!(texts.len() <= 4, "{texts:?}");
    assert!(texts.contains(&"read → 1") && texts.contains(&"write 1"), "{texts:?}");
    let own: Vec<_> = explanation.operations.iter().map(|op| ops[op.op as usize].clone()).collect();
    assert_eq!(check(&model, &own, &Limits::default()).verdict(), Verdict::Invalid);
    assert!(explanation.text.contains("cannot be placed"), "{}", explanation.text);
    assert!(
        !explanation.attempts.is_empty() && !explanation.longest.is_empty() && !explanation.states.is_empty()
    );
}

#[test]
fn a_special_checkers_refutation_is_explained_by_its_evidence() {
    let acquire = |owner, call| {
        let input = LockInput { owner, action: LockAction::Acquire };
        Op::ok(owner, call, call + 1, input, LockOutput::Done { token: None })
    };
    let ops = [acquire(0, 0), acquire(1, 5), acquire(2, 9)];
    let explanation =
        explain(&Lock::OWNED, &ops, &judge(&Lock::OWNED, &ops, &Limits::default()), &Limits::default());
    assert_eq!(explanation.operations.iter().map(|op| op.op).collect::<Vec<_>>(), [0, 1]);
    assert!(explanation.text.contains("while another certainly held the lock"), "{}", explanation.text);
}

/// Sixty clients queue for a lock that is one bit; one of them never gives it back.
#[test]
fn a_lock_without_owners_is_refuted_by_a_count() {
    let input = |owner, action| LockInput { owner, action };
    let done = LockOutput::Done { token: None };
    let mut ops = Vec::new();
    for turn in 0..60u32 {
        let granted = 1000 + u64::from(turn) * 10;
        ops.push(Op::ok(turn, u64::from(turn), granted, input(turn, LockAction::Acquire), done));
        if turn != 50 {
            ops.push(Op::ok(turn, granted + 3, granted + 12, input(turn, LockAction::Release), done));
        }
    }
    let explanation = explain(
        &Lock::ANONYMOUS,
        &ops,
        &judge(&Lock::ANONYMOUS, &ops, &Limits::default()),
        &Limits::default(),
    );
    let counts =
        "52 acquires act between 0 and 1510, and they must take turns with releases, of which only 50 can";
    assert!(explanation.text.contains(counts), "{}", explanation.text);
    // A hundred operations are what the count is made of; two show what is wrong with them.
    assert!(explanation.text.contains("two clients held it at once"), "{}", explanation.text);
    let shown: Vec<&str> = explanation.operations.iter().map(|op| op.text.as_str()).collect();
    assert_eq!(shown, ["acquire by 50", "acquire by 51"]);
}

#[test]
fn pages_stand_alone_and_escape_what_they_show() {
    let (model, ops) = (Register { initial: 0 }, stale());
    let mut explanation = explain(&model, &ops, &check(&model, &ops, &Limits::default()), &Limits::default());
    explanation.text = "<script>".into();
    let page = html(&explanation);
    assert!(page.contains("&lt;script&gt;") && page.contains("<svg") && page.contains("class=\"op stuck\""));
    assert!(!page.contains("http"), "nothing is loaded from elsewhere");
}

#[test]
fn an_undecided_history_says_how_far_it_got_and_what_to_raise() {
    let (model, ops) = (Register { initial: 0 }, stale());
    let limits = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    let explanation = explain(&model, &ops, &check(&model, &ops, &limits), &Limits::default());
    assert_eq!(explanation.verdict, Verdict::Unknown);
    assert!(
        explanation.text.contains("time limit") && explanation.text.contains("more time"),
        "{}",
        explanation.text
    );
}

#[test]
fn explanations_are_json() {
    let (model, ops) = (Register { initial: 0 }, stale());
    let explanation = explain(&model, &ops, &check(&model, &ops, &Limits::default()), &Limits::default());
    let json = serde_json::to_value(&explanation).expect("an explanation serializes");
    assert_eq!(json["verdict"], "invalid");
    assert!(json["operations"][0]["text"].is_string() && json["attempts"][0]["order"].is_array());
}
