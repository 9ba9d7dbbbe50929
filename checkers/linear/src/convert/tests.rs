use super::*;
use history::{ReadOptions, edn, read};

use crate::models::{
    keyed::At,
    lock::{LockAction, LockInput, LockOutput},
    multi_register::Micro,
    register::{RegisterInput, RegisterOutput},
    set::{SetInput, SetOutput},
    text::{TextInput, TextOutput},
};

/// EDN events of process, kind, operation and value: `0 invoke read nil`.
fn history(lines: &[&str]) -> History {
    let event = |line: &&str| {
        let parts: Vec<&str> = line.splitn(4, ' ').collect();
        format!("{{:process {} :type :{} :f :{} :value {}}}\n", parts[0], parts[1], parts[2], parts[3])
    };
    let text: String = lines.iter().map(event).collect();
    edn::read(text.as_bytes(), &ReadOptions::default()).unwrap()
}

fn knossos() -> Reading {
    Reading::default()
}

fn etcd() -> Reading {
    Reading::ETCD_LOG
}

fn at(key: Datum, input: RegisterInput<Datum>) -> At<Datum, RegisterInput<Datum>> {
    At { key, input }
}

#[test]
fn a_register_reads_what_its_source_means() {
    let history = history(&[
        "0 invoke read nil",
        "1 invoke cas [1 2]",
        "2 invoke write 3",
        "0 ok read nil",
        "1 fail cas [1 2]",
        "2 info write :timed-out",
        "0 invoke read nil",
        "0 ok read 7",
        "0 invoke write 9",
    ]);
    let read = |value| (at(Datum::Nil, RegisterInput::Read), RegisterOutput::Value(value));
    let cas = at(Datum::Nil, RegisterInput::Cas { from: Datum::Int(1), to: Datum::Int(2) });
    let lost = Op::info(2, 2, at(Datum::Nil, RegisterInput::Write(Datum::Int(3))));
    let (input, output) = read(Datum::Int(7));
    let seven = Op::ok(0, 6, 7, input, output);
    let pending = Op::info(0, 8, at(Datum::Nil, RegisterInput::Write(Datum::Int(9))));
    assert_eq!(registers(&history, &knossos()), Ok(vec![lost.clone(), seven.clone(), pending.clone()]));
    let (input, output) = read(Datum::Nil);
    let nil = Op::ok(0, 0, 3, input, output);
    let refused = Op::ok(1, 1, 4, cas, RegisterOutput::Refused);
    assert_eq!(registers(&history, &etcd()), Ok(vec![nil, refused, lost, seven, pending]));
}

#[test]
fn keys_come_in_tuples_or_beside_the_value() {
    let expected = [
        Op::ok(0, 0, 1, at(Datum::Int(5), RegisterInput::Write(Datum::Int(1))), RegisterOutput::Done),
        Op::ok(0, 2, 3, at(Datum::Int(5), RegisterInput::Read), RegisterOutput::Value(Datum::Int(1))),
    ];
    for lines in [
        ["0 invoke write [5 1]", "0 ok write [5 1]", "0 invoke read [5 nil]", "0 ok read [5 1]"],
        [
            "0 invoke write {:key 5 :value 1}",
            "0 ok write {:key 5 :value 1}",
            "0 invoke read {:key 5 :value nil}",
            "0 ok read {:key 5 :value 1}",
        ],
    ] {
        assert_eq!(registers(&history(&lines), &knossos()).unwrap(), expected);
    }
}

#[test]
fn locks_are_apart_and_lapses_end_holds() {
    let history = history(&[
        "0 invoke acquire {:lock \"a\"}",
        "1 invoke acquire {:lock \"b\"}",
        "0 ok acquire {:lock \"a\" :token 7}",
        "1 fail acquire {:lock \"b\"}",
        "0 invoke write {:lock \"a\" :token 7 :id \"0-0\"}",
        "0 ok write {:lock \"a\" :token 7 :id \"0-0\"}",
        "0 invoke lapse {:lock \"a\" :token 7}",
        "0 ok lapse {:lock \"a\" :token 7}",
        "0 invoke acquire {:lock \"a\"}",
        "0 info acquire nil",
    ]);
    let input = |owner, action| LockInput { owner, action };
    let (acquire, release) = (LockAction::Acquire, LockAction::Release);
    let parts = locks(&history, &knossos()).unwrap().parts;
    let [a] = &parts[..] else { panic!("{parts:?}") };
    assert_eq!(a.lock.to_string(), "\"a\"");
    let expected = [
        Op::ok(0, 0, 2, input(0, acquire), LockOutput::Done { token: Some(7) }),
        Op::ok(0, 6, 7, input(0, release), LockOutput::Done { token: None }),
        Op::info(0, 8, input(0, acquire)),
    ];
    assert_eq!(a.ops, expected);
    let parts = locks(&history, &etcd()).unwrap().parts;
    assert_eq!(parts[1].ops, [Op::ok(1, 1, 3, input(1, acquire), LockOutput::Refused)]);
}

#[test]
fn the_other_models() {
    let reads = |lines: &[&str]| history(lines);
    let texts_read =
        texts(&reads(&["0 invoke get {:key \"k\"}", "0 ok get {:key \"k\" :value \"v\"}"])).unwrap();
    let get = At { key: "k".to_owned(), input: TextInput::Get };
    assert_eq!(texts_read, [Op::ok(0, 0, 1, get, TextOutput::Text("v".to_owned()))]);
    let txn = transactions(
        &reads(&[
            "0 invoke txn [[:r :x nil] [:w :y 2] [:read :z nil]]",
            "0 ok txn [[:r :x 1] [:w :y 2] [:read :z nil]]",
        ]),
        &knossos(),
    );
    let key = |name: &str| Datum::Text(name.into());
    let steps = vec![Micro::Read(key(":x")), Micro::Write(key(":y"), Datum::Int(2)), Micro::Read(key(":z"))];
    assert_eq!(txn.unwrap(), [Op::ok(0, 0, 1, steps, vec![Some(Datum::Int(1)), None, None])]);
    let elements = set(&reads(&["0 invoke read nil", "0 ok read #{3 1}"])).unwrap();
    let both = [1, 3].map(Datum::Int).into_iter().collect();
    assert_eq!(without_keys(elements).unwrap(), [Op::ok(0, 0, 1, SetInput::Read, SetOutput::Elements(both))]);
    assert_eq!(counter(&reads(&["0 invoke add 2", "0 ok add 2"])).unwrap().len(), 1);
    assert_eq!(queue(&reads(&["0 invoke dequeue nil", "0 fail dequeue nil"]), &etcd()).unwrap().len(), 1);
    assert_eq!(queue(&reads(&["0 invoke dequeue nil", "0 fail dequeue nil"]), &knossos()).unwrap().len(), 0);
    assert_eq!(semaphore(&reads(&["0 invoke acquire 2", "0 info acquire 2"]), &knossos()).unwrap().len(), 1);
}

#[test]
fn what_a_model_does_not_know_is_an_error_with_its_line() {
    for (lines, message) in [
        (["0 invoke pop nil"], "line 1: pop is no operation of a register, which are: read, write, cas"),
        (["0 invoke cas 3"], "line 1: expected a cas' two values, [from to], found 3"),
    ] {
        assert_eq!(registers(&history(&lines), &knossos()).unwrap_err().to_string(), message);
    }
    let lines = ["0 invoke acquire nil", "0 ok acquire {:token \"x\"}"];
    let error = locks(&history(&lines), &knossos()).unwrap_err();
    assert_eq!(error.to_string(), "line 2: expected a token: a whole number from 0, found \"x\"");
    let lines = ["0 invoke read nil", "0 ok read 1.5"];
    let error = counter(&history(&lines)).unwrap_err();
    assert_eq!(error.to_string(), "line 2: expected the counter's value: a whole number, found 1.5");
}

#[test]
fn the_nemesis_is_left_out() {
    let text = "{\"time\":0,\"process\":\"nemesis\",\"type\":\"info\",\"f\":\"start-pause\"}\n\
                {\"time\":1,\"process\":0,\"type\":\"invoke\",\"f\":\"acquire\",\"value\":{\"lock\":\"a\"}}\n";
    let (_, history) = read(text.as_bytes(), &ReadOptions::default()).unwrap();
    let parts = locks(&history, &Reading::default()).unwrap().parts;
    assert_eq!(parts.iter().map(|part| part.ops.len()).collect::<Vec<_>>(), [1]);
}
