use super::*;
use crate::{EventKind, Process};

fn history(text: &str) -> History {
    read(text.as_bytes(), &ReadOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error(text: &str) -> String {
    match read(text.as_bytes(), &ReadOptions::default()) {
        Ok(_) => panic!("{text} was read"),
        Err(error) => error.to_string(),
    }
}

fn value(text: &str) -> String {
    let history = history(&format!("{{:process 0, :type :invoke, :f :x, :value {text}}}"));
    history.row(0).value().to_string()
}

#[test]
fn maps_and_records_bare_or_in_a_vector() {
    for text in [
        "{:process 3, :type :ok, :f :read, :value [1 2], :time 5}\n{:process :nemesis :type :info :f :stop}",
        "; a comment\n[{:process 3, :type :ok, :f :read, :value [1 2], :time 5}\n{:process :nemesis :type :info :f :stop :value nil}]",
        "(#jepsen.history.Op{:index 7, :time 5, :type :ok, :process 3, :f :read, :value [1 2]}\n #_ 1 #jepsen.history.Op {:type :info, :process :nemesis, :f :stop, :value nil, :time nil})\n",
    ] {
        let history = history(text);
        assert_eq!(history.len(), 2, "{text}");
        let (read, stop) = (history.row(0), history.row(1));
        assert_eq!((read.process(), read.kind(), read.f()), (Process::Client(3), EventKind::Ok, "read"));
        assert_eq!((read.time(), read.value().at(1).as_i64(), read.error()), (5, Some(2), None));
        assert_eq!((stop.process(), stop.kind(), stop.f()), (Process::Nemesis, EventKind::Info, "stop"));
        assert!(stop.value().is_null() && !history.is_timed());
    }
}

#[test]
fn lines_are_counted() {
    let history =
        history("[{:process 0 :type :invoke\n :f :a :value \"x\ny\"}\n\n{:process 1\n :type :invoke :f :a}]");
    assert_eq!(history.rows().map(|row| row.line()).collect::<Vec<_>>(), [1, 5]);
}

#[test]
fn every_kind_of_value_is_kept() {
    for text in [
        "nil",
        "true",
        "false",
        "0",
        "127",
        "128",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615N",
        "123456789012345678901N",
        "-123456789012345678901N",
        "1/3",
        "-2/7",
        "1.5M",
        "0.25",
        "-1e300",
        "##NaN",
        "##Inf",
        "##-Inf",
        ":a/b",
        "sym",
        "\\a",
        "\\newline",
        "\\space",
        "\\(",
        "\\ä",
        r#""a\"b\\c\n""#,
        "[1 [2 :x] nil]",
        "(1 2)",
        "#{1 :b}",
        "{:a 1, \"b\" 2, [1 2] {:c nil}, 3 4}",
        "#inst \"2020-01-01\"",
        "#object[a.B \"x\"]",
        "[]",
        "{}",
        "#{}",
        "()",
    ] {
        assert_eq!(value(text).replace("#object [", "#object["), text);
    }
}

#[test]
fn other_spellings_of_the_same_value() {
    for (text, same) in [
        ("5N", "5"),
        ("+5", "5"),
        ("-0", "0"),
        ("4/2", "2"),
        ("2/4", "1/2"),
        ("0x1f", "31"),
        ("1e2", "100.0"),
        ("123456789012345678901", "123456789012345678901N"),
        (r#""\u00e4\ud83d\ude00""#, "\"ä😀\""),
        ("\\u0041", "\\A"),
        ("[1,2 ;three\n #_ 3 #_ #_ 4 5]", "[1 2]"),
        ("{:a #_ 7 1 #_ 8}", "{:a 1}"),
    ] {
        assert_eq!(value(text), same, "{text}");
    }
}

#[test]
fn other_parts_of_an_event() {
    let history = history(
        "{:process 0, :type :fail, :f :read, :error [:timeout {:a 1}], :node \"n1\", :clock-offsets {\"n1\" 1.5}}
         {:process 0, :type :fail, :f txn, :error :not-held, :extra 1, :extra 2}
         {:key \"7\", :process 0, :type :ok, :f \"get\", :value \"\", :error nil}",
    );
    let [first, second, third] = [0, 1, 2].map(|index| history.row(index));
    assert_eq!((first.error(), first.node()), (Some("[:timeout {:a 1}]"), Some("n1")));
    assert_eq!((second.error(), second.f()), (Some("not-held"), "txn"));
    assert_eq!((third.error(), third.f()), (None, "get"));
    assert_eq!(third.value().to_string(), "{:key \"7\", :value \"\"}");
}

#[test]
fn errors_point_at_the_place() {
    let prefix = "[{:process 0, :type :invoke, :f :x}\n";
    for (text, message) in [
        ("{:process 0}]", "column 1: the event has no :type"),
        ("{:type :ok :f :x}]", "column 1: the event has no :process"),
        ("{:process -1}]", "column 11: a process is a number from 0 to 4294967295 or :nemesis"),
        ("{:type :begin}]", "column 8: expected :invoke, :ok, :fail or :info"),
        ("{:f :x :f :y}]", "column 8: the event has :f twice"),
        ("{:time \"x\"}]", "column 8: expected a number of nanoseconds from 0"),
        ("{:value [1 }]", "column 12: expected a value, found }"),
        ("{:value {:a}}]", "column 12: expected the value of the map's last key"),
        ("{:value 1/0}]", "column 9: 1/0 is no number that EDN knows"),
        ("{:value 012}]", "column 9: 012 has a leading zero; octal numbers are not read"),
        ("{:value \"a\\q\"}]", "column 11: \\q is no escape that EDN knows"),
        ("{:value \"\\ud800\"}]", "column 10: half of a surrogate pair is no character"),
        ("{:value @x}]", "column 9: no EDN value begins like @x"),
        ("{:value : }]", "column 9: a keyword has a name after its colon"),
        ("{:value \\xyz}]", "column 9: \\xyz is no character that EDN knows"),
        ("{:value #<x>}]", "column 9: expected a set, a tag, ##NaN, ##Inf or #_ after #"),
        ("{:value \"abc", "column 10: the text ends within a string"),
        ("{:value [1", "column 11: the text ends within a collection"),
        ("{:process 0", "column 12: the text ends within an event"),
        ("", "column 1: the history ends without its closing ]"),
        ("] {}", "column 3: nothing may follow the history's closing bracket"),
        ("7]", "column 1: expected an event: a map such as {:process 0, :type :invoke, :f :read}"),
    ] {
        assert_eq!(error(&format!("{prefix}{text}")), format!("line 2, {message}"), "{text}");
    }
}

#[test]
fn text_that_is_not_utf8_is_an_error() {
    let text = b"{:process 0, :type :invoke, :f :x, :value \"a\n\xff\"}";
    let Err(error) = read(&text[..], &ReadOptions::default()) else { panic!("it was read") };
    assert_eq!(error.to_string(), "line 2, column 1: this is not UTF-8");
}

#[test]
fn deep_nesting_is_an_error() {
    for piece in ["[", "(", "{:a ", "#{", "#a ", "#_ ", "{[", "#_ [#a "] {
        let message = error(&format!("{{:value {}", piece.repeat(200_000)));
        assert!(message.contains("nested more than 128 levels"), "{message}");
    }
}

#[test]
fn events_may_cross_the_borders_of_blocks() {
    let long = "x".repeat(3 * BLOCK);
    let lines: String = (0..40_000)
        .map(|index| {
            format!("{{:process {index}, :type :invoke,\n :f :write, :value [{index} \\a \"s\\n\"]}}\n")
        })
        .collect();
    let text = format!("[{lines}{{:process 1 :type :ok :f :write :value \"{long}\"}}\n{lines}]");
    let history = history(&text);
    assert_eq!(history.len(), 80_001);
    let last = history.row(80_000);
    assert_eq!((last.process(), last.value().at(0).as_i64()), (Process::Client(39_999), Some(39_999)));
    assert_eq!(last.line(), 2 * 80_000);
    assert_eq!(history.row(40_000).value().as_str().map(str::len), Some(long.len()));
}

#[test]
fn the_memory_limit_holds() {
    let options = ReadOptions { memory_max: Some(2_000_000), threads: 1 };
    let text = "{:process 0, :type :info, :f :x}\n".repeat(200_000);
    assert!(matches!(read(text.as_bytes(), &options), Err(ReadError::TooLarge { .. })));
    let text = format!("{{:process 0, :type :info, :f \"{}", "x".repeat(9_000_000));
    assert!(matches!(read(text.as_bytes(), &options), Err(ReadError::TooLarge { .. })));
}

#[test]
fn what_was_written_is_read() {
    let text = "{:index 0, :time 5, :type :invoke, :process 0, :f :cas, :value [1 1/2 {:a :b, \"c d\" \\x}], :node \"c1\"}\n\
                {:index 1, :time 6, :type :info, :process :nemesis, :f \"start pause\", :value #{##NaN}, :error \"a\\\"b\"}\n";
    let mut written = Vec::new();
    write(&mut written, &history(text)).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), text);
}
