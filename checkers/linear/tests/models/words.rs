//! Operations and states in the words of histories, not of this program.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use linear::{
    convert::Datum,
    model::Model,
    models::{
        Counter, FifoQueue, KeyValue, Keyed, Lease, Lock, MultiRegister, Register, Semaphore, Set,
        counter::{CounterInput, CounterOutput},
        keyed::At,
        lease::{LeaseAction, LeaseInput, LeaseOutput},
        lock::{LockAction, LockInput, LockOutput},
        multi_register::Micro,
        queue::{QueueInput, QueueOutput},
        register::{RegisterInput, RegisterOutput},
        semaphore::{SemaphoreAction, SemaphoreInput, SemaphoreOutput},
        set::{SetInput, SetOutput},
        text::{TextInput, TextOutput},
    },
};

use Datum::{Int, Nil};

fn text(text: &str) -> Datum {
    Datum::Text(text.into())
}

#[test]
fn registers_read_write_and_compare() {
    let model = Register { initial: Nil };
    let cas = RegisterInput::Cas { from: Int(3), to: Int(4) };
    assert_eq!(model.describe(&RegisterInput::Read, Some(&RegisterOutput::Value(Int(5)))), "read → 5");
    assert_eq!(model.describe(&RegisterInput::Read, Some(&RegisterOutput::Value(Nil))), "read → nil");
    assert_eq!(model.describe(&RegisterInput::Read, None), "read → ?");
    assert_eq!(model.describe(&RegisterInput::Write(text(":x")), Some(&RegisterOutput::Done)), "write :x");
    assert_eq!(model.describe(&RegisterInput::Write(Int(5)), None), "write 5: ?");
    assert_eq!(model.describe(&cas, Some(&RegisterOutput::Done)), "cas 3 → 4");
    assert_eq!(model.describe(&cas, Some(&RegisterOutput::Refused)), "cas 3 → 4: refused");
    assert_eq!(model.describe_state(&Some(Int(5))), "5");
    let keyed = Keyed::new(model);
    let at = At { key: text(":x"), input: RegisterInput::Read };
    assert_eq!(keyed.describe(&at, Some(&RegisterOutput::Value(Int(5)))), "key :x: read → 5");
}

#[test]
fn transactions_list_their_steps() {
    let model = MultiRegister::new(BTreeMap::from([(text("x"), Nil), (text("y"), Int(0))]));
    let steps = vec![Micro::Read(text("x")), Micro::Write(text("y"), Int(2))];
    assert_eq!(model.describe(&steps, Some(&vec![Some(Int(1)), None])), "txn [r x → 1, w y 2]");
    assert_eq!(model.describe(&steps, None), "txn [r x → ?, w y 2]: ?");
    assert_eq!(model.describe_state(&model.initial()), "{x nil, y 0}");
}

#[test]
fn locks_and_leases_name_their_owners() {
    let of = |action| LockInput { owner: 3, action };
    let done = |token| LockOutput::Done { token };
    assert_eq!(Lock::OWNED.describe(&of(LockAction::Acquire), Some(&done(None))), "acquire by 3");
    assert_eq!(
        Lock::FENCED.describe(&of(LockAction::Acquire), Some(&done(Some(7)))),
        "acquire by 3 → token 7"
    );
    assert_eq!(Lock::OWNED.describe(&of(LockAction::Release), None), "release by 3: ?");
    assert_eq!(
        Lock::OWNED.describe(&of(LockAction::Acquire), Some(&LockOutput::Refused)),
        "acquire by 3: refused"
    );
    let held = Lock::OWNED.step(&Lock::OWNED.initial(), &of(LockAction::Acquire), None).expect("it is free");
    assert_eq!(Lock::OWNED.describe_state(&held), "held by 3");
    assert_eq!(Lock::OWNED.describe_state(&Lock::OWNED.initial()), "free");
    let lease = |action| LeaseInput { owner: 3, action, call: 0, until: 5 };
    let acquire = lease(LeaseAction::Acquire { ttl: 100 });
    assert_eq!(Lease.describe(&acquire, Some(&LeaseOutput::Done)), "acquire by 3 for 100");
    assert_eq!(
        Lease.describe(&lease(LeaseAction::Release), Some(&LeaseOutput::Refused)),
        "release by 3: refused"
    );
    let granted = Lease.step(&Lease.initial(), &acquire, Some(&LeaseOutput::Done)).expect("it is free");
    assert_eq!(Lease.describe_state(&granted), "granted to 3 between 0 and 5 for 100, now 0 or later");
}

#[test]
fn semaphores_and_counters_count() {
    let model = Semaphore { permits: 3 };
    let acquire = SemaphoreInput { owner: 1, action: SemaphoreAction::Acquire(2) };
    let release = SemaphoreInput { owner: 1, action: SemaphoreAction::Release(2) };
    assert_eq!(model.describe(&acquire, Some(&SemaphoreOutput::Done)), "acquire 2 by 1");
    assert_eq!(model.describe(&release, Some(&SemaphoreOutput::Refused)), "release 2 by 1: refused");
    assert_eq!(model.describe(&release, None), "release 2 by 1: ?");
    let taken = model.step(&model.initial(), &acquire, None).expect("three are free");
    assert_eq!(model.describe_state(&taken), "2 of 3 permits taken: 2 by 1");
    assert_eq!(model.describe_state(&model.initial()), "all 3 permits free");
    assert_eq!(Counter.describe(&CounterInput::Read, Some(&CounterOutput::Value(5))), "read → 5");
    assert_eq!(Counter.describe(&CounterInput::Add(5), Some(&CounterOutput::Done)), "add 5");
    assert_eq!(Counter.describe(&CounterInput::Add(5), Some(&CounterOutput::Value(7))), "add 5 → 7");
    assert_eq!(Counter.describe(&CounterInput::Add(5), None), "add 5: ?");
    assert_eq!(Counter.describe_state(&-3), "-3");
}

#[test]
fn queues_and_sets_show_their_elements() {
    let queue = FifoQueue::empty();
    let dequeue = QueueInput::Dequeue;
    assert_eq!(queue.describe(&QueueInput::Enqueue(Int(5)), Some(&QueueOutput::Done)), "enqueue 5");
    assert_eq!(queue.describe(&dequeue, Some(&QueueOutput::Value(Int(5)))), "dequeue → 5");
    assert_eq!(queue.describe(&dequeue, Some(&QueueOutput::Empty)), "dequeue → nothing");
    assert_eq!(queue.describe(&dequeue, None), "dequeue → ?");
    assert_eq!(queue.describe_state(&VecDeque::from([Int(2), Nil])), "[2 nil]");
    let set = Set::empty();
    let elements = |count: i64| (0..count).map(Int).collect::<BTreeSet<_>>();
    let read = |count| set.describe(&SetInput::Read, Some(&SetOutput::Elements(elements(count))));
    assert_eq!(set.describe(&SetInput::Add(Int(5)), Some(&SetOutput::Done)), "add 5");
    assert_eq!(set.describe(&SetInput::Add(Int(5)), Some(&SetOutput::Is(false))), "add 5 → already there");
    assert_eq!(set.describe(&SetInput::Remove(Int(5)), None), "remove 5: ?");
    assert_eq!(set.describe(&SetInput::Contains(Int(5)), Some(&SetOutput::Is(true))), "contains 5 → yes");
    assert_eq!(read(3), "read → #{0 1 2}");
    assert!(read(1000).ends_with(" 19 and 980 more}"), "{}", read(1000));
    assert_eq!(set.describe_state(&elements(2)), "#{0 1}");
}

#[test]
fn stores_show_texts_between_quotes() {
    let store = KeyValue::empty();
    let at = |input| At { key: "k".to_string(), input };
    let get = |text: String| store.describe(&at(TextInput::Get), Some(&TextOutput::Text(text)));
    assert_eq!(
        store.describe(&at(TextInput::Put("a".into())), Some(&TextOutput::Done)),
        "key \"k\": put \"a\""
    );
    assert_eq!(store.describe(&at(TextInput::Append("b".into())), None), "key \"k\": append \"b\": ?");
    assert_eq!(get("ab".into()), "key \"k\": get → \"ab\"");
    assert!(get("x".repeat(9000)).len() < 200, "{}", get("x".repeat(9000)));
    assert_eq!(store.describe_state(&"ab".to_string()), "\"ab\"");
}
