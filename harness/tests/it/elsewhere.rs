//! Histories as other tools spell them, each with the answer that was thought out first: one set of events has one verdict
//! in every form, a name is what it usually means, and what was assumed is told.

use std::{fs, path::Path, process::Output};

use crate::support::{fencepost, text};

/// Process, type, operation, value as EDN.
type Event<'a> = (&'a str, &'a str, &'a str, &'a str);

/// One event a line: `0 invoke read nil`.
fn events(lines: &str) -> Vec<Event<'_>> {
    let written = lines.split(';').map(str::trim).filter(|line| !line.is_empty());
    written
        .map(|line| match line.splitn(4, ' ').collect::<Vec<_>>()[..] {
            [process, kind, f, value] => (process, kind, f, value),
            _ => panic!("{line}"),
        })
        .collect()
}

/// The same events in every form that has their values.
fn forms(lines: &str) -> Vec<(&'static str, String)> {
    let events = events(lines);
    let each = |write: &dyn Fn(&Event<'_>) -> String| events.iter().map(write).collect::<Vec<_>>().join("\n");
    let process = |process: &str| if process == "nemesis" { ":nemesis".into() } else { process.to_owned() };
    let map = |(p, kind, f, value): &Event<'_>| {
        format!("{{:process {} :type :{kind} :f :{f} :value {value}}}", process(p))
    };
    let commas = |(p, kind, f, value): &Event<'_>| {
        format!("{{:type :{kind}, :f :{f}, :value {value}, :process {}, :time 7}}", process(p))
    };
    let json = |(p, kind, f, value): &Event<'_>| {
        let p = if *p == "nemesis" { "\"nemesis\"" } else { p };
        format!("{{\"process\":{p},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{}}}", as_json(value))
    };
    vec![
        ("maps", each(&map)),
        ("commas", each(&commas)),
        ("vector", format!("[{}]", each(&map))),
        ("records", each(&|event| format!("#jepsen.history.Op{}", map(event)))),
        ("text", each(&|(p, kind, f, value)| format!("{}\t:{kind}\t:{f}\t{value}", process(p)))),
        (
            "log",
            each(&|(p, kind, f, value)| format!("INFO jepsen.util - {}\t:{kind}\t:{f}\t{value}", process(p))),
        ),
        ("JSON", each(&json)),
    ]
}

/// Of the values used here.
fn as_json(edn: &str) -> String {
    let json = edn.replace("nil", "null").replace("#uuid ", "").replace("#{", "[").replace('}', "]");
    let mut words = json.split(':');
    let first = words.next().unwrap_or_default().to_owned();
    let keyword = |all: String, word: &str| {
        let end = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
        format!("{all}\"{}\"{}", &word[..end], &word[end..])
    };
    words.fold(first, keyword).replace(' ', ",")
}

fn checked(name: &str, content: &str, args: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join(name), content).expect("the file is written");
    fencepost().current_dir(folder.path()).arg("check").arg(name).args(args).output().expect("it runs")
}

fn code(output: &Output) -> i32 {
    let text = text(output);
    assert!(!text.contains("panicked"), "{text}");
    output.status.code().expect("no signal")
}

/// In every form: this exit code, and these words.
fn all_say(lines: &str, args: &[&str], wanted: i32, words: &[&str]) {
    for (form, history) in forms(lines) {
        says(&format!("{form}: {history}"), &history, args, wanted, words);
    }
}

fn says(what: &str, history: &str, args: &[&str], wanted: i32, words: &[&str]) {
    let output = checked("h", history, &[&["--timeout", "20s"], args].concat());
    let text = text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code(&output), wanted, "{what}\n{text}");
    for word in words {
        assert!(text.contains(word), "{word}: {what}\n{text}");
    }
}

const VALID: i32 = 0;
const INVALID: i32 = 1;
const UNKNOWN: i32 = 2;
const REFUSED: i32 = 65;

#[test]
fn one_set_of_events_has_one_verdict_and_one_assumption() {
    // The register started with 5: nobody wrote it. After 1 was written 5 is gone.
    let stale =
        "0 invoke read nil; 0 ok read 5; 0 invoke write 1; 0 ok write 1; 0 invoke read nil; 0 ok read 5";
    all_say(stale, &[], INVALID, &["starts with 5"]);
    // What failed did not happen: 2 stays.
    let failed = "0 invoke write 2; 0 ok write 2; 1 invoke cas [2 3]; 1 fail cas [2 3]; 0 invoke read nil; 0 ok read 2";
    all_say(failed, &[], VALID, &["what failed did not happen", "--failed-cas observation it is invalid"]);
    all_say(failed, &["--failed-cas", "observation"], INVALID, &[]);
    // A read of nil after a write says nothing, unless it is said to.
    let nil = "0 invoke write 1; 0 ok write 1; 1 invoke read nil; 1 ok read nil";
    all_say(nil, &[], VALID, &["a read of nil says nothing", "--nil-read value it is invalid"]);
    all_say(nil, &["--nil-read", "value"], INVALID, &[]);
    // 4 came from a failed write alone; had a lost one written it too, it could be there.
    let aborted = "0 invoke write 4; 0 fail write 4; 1 invoke read nil; 1 ok read 4";
    all_say(aborted, &[], INVALID, &["line 4: 4 was seen", "aborted read", "--initial 4"]);
    all_say(aborted, &["--initial", "4"], VALID, &[]);
    let lost = format!("2 invoke write 4; 2 info write 4; {aborted}");
    all_say(&lost, &[], VALID, &[]);
    // Each key started with something of its own.
    let keys = "0 invoke read [1 nil]; 0 ok read [1 7]; 0 invoke read [2 nil]; 0 ok read [2 8]";
    all_say(keys, &[], VALID, &["what was seen first under each key"]);
    let swapped = format!("{keys}; 0 invoke read [1 nil]; 0 ok read [1 8]");
    all_say(&swapped, &[], INVALID, &[]);
}

#[test]
fn other_models_find_one_wrong_answer() {
    for (right, wrong) in [
        // A counter of 5 + 2 reads 7.
        (
            "0 invoke add 5; 0 ok add 5; 1 invoke add 2; 1 ok add 2; 0 invoke read nil; 0 ok read 7",
            "read 7|read 6",
        ),
        // First in is first out.
        (
            "0 invoke enqueue 1; 0 ok enqueue 1; 0 invoke enqueue 2; 0 ok enqueue 2; 1 invoke dequeue nil; 1 ok dequeue 1",
            "dequeue 1|dequeue 2",
        ),
        // What was added is there.
        ("0 invoke add 1; 0 ok add 1; 1 invoke read nil; 1 ok read #{1}", "#{1}|#{}"),
        // What was removed is not.
        (
            "0 invoke add 1; 0 ok add 1; 0 invoke remove 1; 0 ok remove 1; 1 invoke contains 1; 1 ok contains false",
            "contains false|contains true",
        ),
        // Both writes of a transaction or none.
        (
            "0 invoke txn [[:w :x 1] [:w :y 2]]; 0 ok txn [[:w :x 1] [:w :y 2]]; 1 invoke txn [[:r :x nil] [:r :y nil]]; 1 ok txn [[:r :x 1] [:r :y 2]]",
            "[:r :y 2]|[:r :y 3]",
        ),
    ] {
        let (from, to) = wrong.split_once('|').expect("two texts");
        let edn = |lines: &str| forms(lines).swap_remove(0).1;
        says(right, &edn(right), &[], VALID, &[]);
        says(wrong, &edn(&right.replace(from, to)), &[], INVALID, &[]);
    }
}

/// Two processes hold two locks at once; with one name in both places it is one lock, held twice.
fn two_holds(value: impl Fn(&str) -> String) -> [String; 2] {
    ["b", "a"].map(|second| {
        let (a, b) = (value("a"), value(second));
        format!(
            "0 invoke acquire {a}; 0 ok acquire {a}; 1 invoke acquire {b}; 1 ok acquire {b}; 1 invoke release {b}; \
             1 ok release {b}; 0 invoke release {a}; 0 ok release {a}"
        )
    })
}

#[test]
fn locks_are_told_apart_by_whatever_names_them() {
    let uuid = |name: &str| if name == "a" { "0a" } else { "0b" };
    for [two, one] in [
        two_holds(|name| format!("[\"{name}\" nil]")),
        two_holds(|name| format!("#uuid \"00000000-0000-0000-0000-0000000000{}\"", uuid(name))),
    ] {
        all_say(&two, &[], VALID, &[]);
        all_say(&one, &[], INVALID, &[]);
    }
    // With fields, also of the event, and in records.
    let plain = |value: &str| forms(&two_holds(|name| value.replace('@', name))[0]).swap_remove(0).1;
    let same = |value: &str| forms(&two_holds(|name| value.replace('@', name))[1]).swap_remove(0).1;
    for value in [
        "nil :name \"@\"",
        "nil :lock :@",
        "nil :key [1 :@]",
        "{:name \"@\"}",
        "#jepsen.independent.Tuple{:key :@, :value nil}",
        "#clojure.lang.MapEntry [:@ nil]",
    ] {
        says(value, &plain(value), &[], VALID, &["mutex"]);
        says(value, &same(value), &[], INVALID, &["mutex"]);
    }
    let json = |value: &str| value.replace("#", "\"").replace('\'', "\"");
    for [a, b] in [
        ["\"key\":\"a\"", "\"key\":\"b\""],
        ["\"name\":\"a\"", "\"name\":\"b\""],
        ["\"value\":[\"a\",null]", "\"value\":[\"b\",null]"],
    ] {
        let line = |process: u32, kind: &str, which: &str| {
            format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"acquire\",{}}}\n", json(which))
        };
        let two = [line(0, "invoke", a), line(0, "ok", a), line(1, "invoke", b), line(1, "ok", b)].concat();
        says(&two, &two, &[], VALID, &[]);
        says(&two, &two.replace(b, a), &[], INVALID, &[]);
    }
}

#[test]
fn what_may_name_a_lock_or_an_owner_accuses_nobody() {
    let [two, _] = two_holds(|name| format!("\"{name}\""));
    all_say(&two, &[], UNKNOWN, &["as names it is valid, as owners invalid", "--lock-value"]);
    all_say(&two, &["--lock-value", "name"], VALID, &[]);
    all_say(&two, &["--lock-value", "owner"], INVALID, &[]);
    // One after the other: right whatever the values are.
    let turns = "0 invoke acquire \"a\"; 0 ok acquire \"a\"; 0 invoke release \"a\"; 0 ok release \"a\"; 1 invoke acquire \"b\"; 1 ok acquire \"b\"";
    all_say(turns, &[], VALID, &["as owners the verdict is the same"]);
    // A lock that is held twice by one name, and so by one owner: wrong either way.
    let twice = format!("{turns}; 2 invoke acquire \"b\"; 2 ok acquire \"b\"");
    all_say(&twice, &[], INVALID, &[]);
    // A vector may be two names or a name and an owner.
    let pairs = "0 invoke acquire [\"l\" \"a\"]; 0 ok acquire [\"l\" \"a\"]; 1 invoke acquire [\"m\" \"a\"]; 1 ok acquire [\"m\" \"a\"]";
    all_say(pairs, &[], UNKNOWN, &["--lock-value"]);
    // Fresh for every grant: then they tell grants apart.
    let fresh = |process: &str, n: &str| {
        let value = format!("#uuid \"00000000-0000-0000-0000-0000000000{n}\"");
        format!("{process} invoke acquire {value}; {process} ok acquire {value};")
    };
    let fresh = fresh("0", "01") + &fresh("1", "02") + &fresh("1", "03");
    all_say(&fresh, &[], UNKNOWN, &["--lock-value"]);
}

#[test]
fn a_grant_of_several_locks_is_one_of_each() {
    let apart =
        "0 invoke acquire #{:a :b}; 0 ok acquire #{:a :b}; 1 invoke acquire #{:c}; 1 ok acquire #{:c}";
    says(apart, &forms(apart)[0].1, &[], VALID, &["judged on each of them"]);
    let shared = apart.replace("#{:c}", "#{:b :c}");
    says(&shared, &forms(&shared)[0].1, &[], INVALID, &[]);
    // A release that names none is of the one that its process holds.
    let bare = "0 invoke acquire [7 nil]; 0 ok acquire [7 nil]; 0 invoke release nil; 0 ok release nil; 1 invoke acquire [7 nil]; 1 ok acquire [7 nil]";
    all_say(bare, &[], VALID, &[]);
    let nobody = "0 invoke acquire [:a nil]; 0 ok acquire [:a nil]; 1 invoke acquire nil; 1 ok acquire nil";
    says(nobody, &forms(nobody)[0].1, &[], REFUSED, &["h:3: acquire names no lock, as others do"]);
}

#[test]
fn json_lines_are_read_as_tolerantly_as_edn() {
    let write = r#"{"process":"0","type":":invoke","f":"w","value":1,"index":5,"extra":{"a":[1]}}
{"process":0,"type":"ok","f":"w","value":1,"index":9,"error":null}
"#;
    let read = |value: u32| {
        format!(
            r#"{{"process":1,"type":"invoke","f":"R","error":["x",{{"y":1}}],"time":null}}
{{"process":1,"type":"ok","f":"R","value":{value},"time":4}}
"#
        )
    };
    let nemesis = r#"{"process":"nemesis","type":"invoke","f":"kill","value":["n1"]}
{"process":"nemesis","type":"fail","f":"kill","value":{"n1":"gone"}}
"#;
    for (value, wanted) in [(1, VALID), (2, INVALID)] {
        let history = format!("{nemesis}{write}{}", read(value));
        says("tolerant", &history, &[], wanted, &["cas-register"]);
    }
    let backwards = write.replace("\"index\":9", "\"index\":4");
    says("backwards", &backwards, &[], REFUSED, &["h:2: index 4"]);
    says("a name", &write.replace("\"0\"", "\"c1\""), &[], REFUSED, &["h:1:", "a process is a number"]);
}

#[test]
fn usual_names_are_known() {
    for (names, wanted) in [
        ("tryLock unlock", "mutex"),
        (":redis/acquire-lock :redis/release-lock", "mutex"),
        ("ENTER EXIT", "mutex"),
        ("obtain give_back", "mutex"),
    ] {
        let (acquire, release) = names.split_once(' ').expect("two names");
        let [acquire, release] = [acquire, release].map(|name| name.trim_start_matches(':'));
        let once = |p: u32, f: &str| format!("{p} invoke {f} nil; {p} ok {f} nil;");
        let right = once(0, acquire) + &once(0, release) + &once(1, acquire);
        all_say(&right, &[], VALID, &[wanted]);
        all_say(&(once(0, acquire) + &once(1, acquire)), &[], INVALID, &[wanted]);
    }
    let op = |f: &str, asked: &str, got: &str| format!("0 invoke {f} {asked}; 0 ok {f} {got};");
    let queue = op("enq", "1", "1") + &op("enq", "2", "2");
    all_say(&(queue.clone() + &op("deq", "nil", "1")), &[], VALID, &["fifo-queue"]);
    all_say(&(queue + &op("deq", "nil", "2")), &[], INVALID, &["fifo-queue"]);
    let stack = op("push", "1", "1") + &op("push", "2", "2") + &op("pop", "nil", "2");
    all_say(&stack, &[], UNKNOWN, &["stack"]);
    let counter = op("incr", "nil", "nil") + &op("decrement", "3", "3");
    all_say(&(counter.clone() + &op("read", "nil", "-2")), &[], VALID, &["counter", "starts at 0"]);
    all_say(&(counter + &op("read", "nil", "2")), &[], INVALID, &["counter"]);
    // A try that was answered with false did nothing.
    let tried = "0 invoke try-lock nil; 0 ok try-lock true; 1 invoke try-lock nil; 1 ok try-lock false";
    all_say(tried, &[], VALID, &[]);
    // What was never put is nil; what was deleted is so again.
    let store = op("put", "[4 1]", "[4 1]") + &op("delete", "[4 nil]", "[4 nil]");
    all_say(&(store.clone() + &op("get", "[4 nil]", "[4 nil]")), &[], VALID, &["key-value"]);
    all_say(&(store + &op("get", "[4 nil]", "[4 1]")), &[], INVALID, &["key-value"]);
}

#[test]
fn tuples_of_key_and_value_are_known_around_every_model() {
    let op = |f: &str, asked: &str, got: &str| format!("0 invoke {f} {asked}; 0 ok {f} {got};");
    for (right, wrong, args) in [
        (
            op("add", "[0 5]", "[0 5]") + &op("add", "[1 6]", "[1 6]") + &op("read", "[0 nil]", "[0 #{5}]"),
            "[0 #{5}]|[0 #{5 6}]",
            &[][..],
        ),
        (
            op("add", "[0 5]", "[0 5]") + &op("add", "[1 6]", "[1 6]") + &op("read", "[1 nil]", "[1 6]"),
            "read [1 6]|read [1 11]",
            &[],
        ),
        (
            op("enqueue", "[0 1]", "[0 1]")
                + &op("enqueue", "[1 2]", "[1 2]")
                + &op("dequeue", "[1 nil]", "[1 2]"),
            "dequeue [1 2]|dequeue [1 1]",
            &[],
        ),
        (
            op("write", "[0 1]", "[0 1]")
                + &op("cas", "[0 [1 2]]", "[0 [1 2]]")
                + &op("write", "[1 3]", "[1 3]"),
            "[0 [1 2]]|[0 [3 2]]",
            &[],
        ),
        (
            op("acquire", "[0 1]", "[0 1]") + &op("acquire", "[1 2]", "[1 2]"),
            "[1 2]|[0 2]",
            &["--model", "semaphore:2"],
        ),
        (
            op("put", "[0 1]", "[0 1]") + &op("put", "[1 2]", "[1 2]") + &op("get", "[0 nil]", "[0 1]"),
            "get [0 1]|get [0 2]",
            &[],
        ),
    ] {
        let (from, to) = wrong.split_once('|').expect("two texts");
        let broken = right.replace(from, to);
        assert_ne!(broken, right);
        all_say(&right, args, VALID, &[]);
        all_say(&broken, args, INVALID, &[]);
    }
    // Pairs as elements are no tuples: a read is asked for nothing.
    let pairs = op("add", "[1 2]", "[1 2]") + &op("read", "nil", "#{[1 2]}");
    says(&pairs, &forms(&pairs)[0].1, &[], VALID, &["as a set"]);
    let stray = op("write", "[0 1]", "[0 1]") + &op("read", "[0 nil]", "[1 1]");
    all_say(&stray, &[], REFUSED, &["h:4: this answers for 1, but what was asked is of 0"]);
}

#[test]
fn transactions_on_lists_are_for_another_tool() {
    let append = "0 invoke txn [[:append 1 2] [:r 1 nil]]; 0 ok txn [[:append 1 2] [:r 1 [2]]]";
    let read = "0 invoke txn [[:r 1 nil]]; 0 ok txn [[:r 1 [1 2 3]]]";
    for history in [append, read] {
        says(history, &forms(history)[0].1, &[], REFUSED, &["h:", "Elle"]);
    }
    // Read and written registers are judged; what only a failed transaction wrote was never there.
    let dirty =
        "0 invoke txn [[:w :x 1]]; 0 fail txn [[:w :x 1]]; 1 invoke txn [[:r :x nil]]; 1 ok txn [[:r :x 1]]";
    says(dirty, &forms(dirty)[0].1, &[], INVALID, &["multi-register"]);
}

#[test]
fn transactions_have_keys_and_each_register_its_own_first_value() {
    let txn = |asked: &str, got: &str| format!("0 invoke txn {asked}; 0 ok txn {got};");
    // Under a key a register is another one.
    let apart = txn("[7 [[:w :x 1]]]", "[7 [[:w :x 1]]]") + &txn("[7 [[:r :x nil]]]", "[7 [[:r :x 1]]]");
    all_say(&apart, &[], VALID, &["multi-register"]);
    all_say(&apart.replace(":r :x 1", ":r :x 2"), &[], INVALID, &["multi-register"]);
    all_say(&apart.replace("[7 [[:r", "[8 [[:r"), &[], VALID, &["starts with"]);
    for form in ["{:key :k :value STEPS}", "#jepsen.independent.Tuple{:key :k :value STEPS}"] {
        let wrong = txn("[[:w :x 1]]", "[[:w :x 1]]") + &txn("[[:r :x nil]]", "[[:r :x 2]]");
        let keyed = wrong.replace("[[", "\u{1}[[").replace("]]", "]]\u{2}");
        let (before, after) = form.split_once("STEPS").expect("steps");
        let keyed = keyed.replace('\u{1}', before).replace('\u{2}', after);
        says(form, &forms(&keyed)[0].1, &[], INVALID, &["[:k :x]"]);
    }
    // One starts with 1, the other with 2.
    let firsts = txn("[[:r :x nil] [:r :y nil]]", "[[:r :x 1] [:r :y 2]]");
    let written = firsts.clone() + &txn("[[:w :x 2] [:w :y 1]]", "[[:w :x 2] [:w :y 1]]");
    all_say(&firsts, &[], VALID, &[]);
    all_say(&written, &[], VALID, &["what was seen first in each register"]);
    all_say(&(written + &txn("[[:r :x nil]]", "[[:r :x 1]]")), &[], INVALID, &[]);
    all_say(&firsts, &["--initial", "1"], INVALID, &[]);
    // Another register's write of the same value gives this one nothing.
    let dirty = txn("[[:w :w :a]]", "[[:w :w :a]]")
        + "1 invoke txn [[:r :u nil] [:w :v :a]]; 1 fail txn [[:r :u nil] [:w :v :a]];"
        + &txn("[[:r :v nil] [:r :w nil]]", "[[:r :v :a] [:r :w :a]]");
    says("dirty", &forms(&dirty)[0].1, &[], INVALID, &[]);
    let nil = txn("[[:w :u 0]]", "[[:w :u 0]]") + &txn("[[:r :u nil]]", "[[:r :u nil]]");
    all_say(&nil, &[], VALID, &["a read of nil says nothing", "--nil-read value it is invalid"]);
    all_say(&nil, &["--nil-read", "value"], INVALID, &[]);
}

#[test]
fn what_is_no_transaction_is_refused_with_its_line() {
    for (history, word) in [
        ("0 invoke txn \"x\"", "h:1: expected a transaction"),
        ("0 invoke txn {:a 1}", "h:1: expected a transaction"),
        ("0 invoke txn [[:r]]", "h:1: expected [:r key nil]"),
        ("0 invoke txn [1 [[:w :x 1]]]; 1 invoke txn [[:w :x 1]]", "h:2: expected a tuple"),
        ("0 invoke txn [[:r :x nil]]; 0 ok txn [[:r :y 1]]", "h:2: [:r :y 1] is not the step"),
        ("0 invoke txn [1 [[:append :x 1]]]", "Elle"),
    ] {
        says(history, &forms(history)[0].1, &[], REFUSED, &[word]);
    }
}

#[test]
fn what_a_failed_write_wrote_was_there_if_it_was_seen_before() {
    let read = "0 invoke read nil; 0 ok read 0;";
    let failed = "1 invoke write 0; 1 fail write 0;";
    all_say(&[read, failed, read].concat(), &[], VALID, &["starts with 0"]);
    all_say(&[failed, read].concat(), &[], INVALID, &["aborted read"]);
    let cas = "0 invoke cas [4 5]; 0 ok cas [4 5]; 0 invoke cas [4 4]; 0 fail cas [4 4]";
    all_say(cas, &[], VALID, &["starts with 4"]);
    // Who was refused wrote nothing, and makes nobody else's failed write good.
    let refused = "0 invoke write 1; 1 invoke read nil; 1 ok read 1; 0 fail write 1; 1 invoke cas [2 1]; 1 fail cas [2 1]";
    all_say(refused, &["--failed-cas", "observation"], INVALID, &["aborted read"]);
}

#[test]
fn elements_are_no_tuples_and_lists_are_vectors() {
    let op = |f: &str, asked: &str, got: &str| format!("0 invoke {f} {asked}; 0 ok {f} {got};");
    let two = op("add", "0", "0") + &op("add", "2", "2") + &op("read", "nil", "[0 2]");
    all_say(&two, &[], VALID, &["judged as a set"]);
    all_say(&two.replace("[0 2]", "[0 3]"), &[], INVALID, &["judged as a set"]);
    let silent = "0 invoke add 2; 1 invoke add-and-get 2; 0 ok add 2; 1 info add-and-get 2";
    all_say(silent, &[], VALID, &["judged as a counter"]);
    let reads = |answers: [&str; 2]| answers.map(|got| op("read", "nil", got)).concat();
    for (answers, wanted) in [
        (["[]", "()"], VALID),
        (["[1 (2)]", "(1 [2])"], VALID),
        (["#{1 2}", "#{2 1}"], VALID),
        (["[1 2]", "[2 1]"], INVALID),
        (["[]", "#{}"], UNKNOWN),
    ] {
        says(answers[0], &forms(&reads(answers))[0].1, &[], wanted, &[]);
    }
}

#[test]
fn what_no_model_has_is_refused_with_a_word_on_what_it_is() {
    for (history, word) in [
        ("0 invoke transfer {:from 0 :to 1 :amount 5}", "bank"),
        ("0 invoke drain nil", "total-queue"),
        ("0 invoke generate nil", "unique-ids"),
        ("0 invoke poll [[:poll]]", "kafka"),
        ("0 invoke release nil", "nothing is ever acquired"),
    ] {
        says(history, &forms(history)[0].1, &[], REFUSED, &[word]);
    }
    // A fence is a token; steps are a transaction, whatever they are called.
    let fenced = |token: &str| format!("{{:client 1 :fence {token}}}");
    let hold = |p: u32, token: &str| {
        format!(
            "{p} invoke acquire nil; {p} ok acquire {}; {p} invoke release nil; {p} ok release nil;",
            fenced(token)
        )
    };
    for (tokens, wanted) in [(["4", "5"], VALID), (["5", "4"], INVALID)] {
        let history = hold(0, tokens[0]) + &hold(1, tokens[1]);
        says(&history, &forms(&history)[0].1, &[], wanted, &["fenced-mutex"]);
    }
    let fork =
        "0 invoke write [[:w 3 1]]; 0 ok write [[:w 3 1]]; 1 invoke read [[:r 3 nil]]; 1 ok read [[:r 3 1]]";
    all_say(fork, &[], VALID, &["multi-register"]);
    all_say(&fork.replace("[[:r 3 1]]", "[[:r 3 2]]"), &[], INVALID, &["multi-register"]);
}

#[test]
fn without_times_their_order_is_taken_and_deadlines_are_refused() {
    let line = |process: u32, kind: &str, f: &str, more: &str| {
        format!(
            "{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{{\"lock\":\"a\"{more}}}}}\n"
        )
    };
    let grant =
        |process, more: &str| line(process, "invoke", "acquire", "") + &line(process, "ok", "acquire", more);
    let end = line(2, "invoke", "acquire", "");
    let shared = grant(0, "") + &grant(1, "") + &end;
    says("shared", &shared, &[], INVALID, &["their order is taken for it", "exclusion"]);
    let release = line(0, "invoke", "release", "") + &line(0, "ok", "release", "");
    let turns = grant(0, "") + &line(1, "invoke", "acquire", "") + &release + &line(1, "ok", "acquire", "");
    let output = checked("h", &turns, &["--json"]);
    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(verdict["checks"]["exclusion"]["verdict"], "valid", "{verdict}");
    let timed = grant(0, ",\"ttl_ms\":2000") + &grant(1, "");
    says("timed", &timed, &[], REFUSED, &["h:2: acquire states ttl_ms"]);
}

#[test]
fn a_file_is_what_is_judged_and_a_folder_a_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = |args: &str| {
        let args = args.split_whitespace();
        fencepost().current_dir(folder.path()).args(args).output().expect("it runs")
    };
    let ran = run("run redis/set-nx --on sim --time 2s --clients 2 --seed 1 --store store");
    assert_eq!(code(&ran), VALID, "{}", text(&ran));
    let of_run = text(&run("check store/latest"));
    assert!(of_run.contains("redis/set-nx") && !of_run.contains("judged as a history"), "{of_run}");
    let of_file = text(&run("check store/latest/history.jsonl"));
    assert!(
        of_file.contains("judged as a history") && of_file.contains("with the resource's log"),
        "{of_file}"
    );
    // Another history beside it is judged, and not the run.
    let latest = folder.path().join("store/latest");
    fs::write(latest.join("other.txt"), "0 invoke acquire\n0 ok acquire\n1 invoke acquire\n1 ok acquire\n")
        .expect("written");
    assert_eq!(code(&run("check store/latest/other.txt")), INVALID);
    assert_eq!(code(&run("check store/latest/verdict.json")), REFUSED);
    in_a_run_the_form_is_strict(&latest, &run);
}

/// Of what our recorder wrote nothing may be missing.
fn in_a_run_the_form_is_strict(latest: &Path, run: &dyn Fn(&str) -> Output) {
    let history = fs::read_to_string(latest.join("history.jsonl")).expect("the history");
    let lines: Vec<&str> = history.lines().collect();
    // Faults and phases may come in any number: without one of them the rest is still a history.
    let phase = lines.iter().position(|line| line.contains("\"phase\"")).expect("a phase");
    let without: Vec<&str> =
        lines.iter().enumerate().filter(|(at, _)| *at != phase).map(|(_, line)| *line).collect();
    let untimed = history.replacen("\"time\":", "\"was\":", 1);
    for (broken, said) in [(without.join("\n") + "\n", "was expected"), (untimed, "the event has no time")] {
        fs::write(latest.join("history.jsonl"), broken).expect("written");
        for what in ["store/latest", "store/latest/history.jsonl"] {
            let output = run(&format!("check {what}"));
            assert!(code(&output) == REFUSED && text(&output).contains(said), "{}", text(&output));
        }
    }
}
