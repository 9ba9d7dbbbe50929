use serde_json::json;

use super::*;
use crate::table::SharedNames;
use crate::{EventKind, Process};

fn options(threads: usize) -> ReadOptions {
    ReadOptions { memory_max: None, threads }
}

fn event(index: u64, process: u32, kind: EventKind, value: serde_json::Value) -> Event {
    let error = (kind == EventKind::Info).then(|| "timed out".to_owned());
    let (process, node) = (Process::Client(process), Some("c1".to_owned()));
    Event { index, time: index * 10, process, node, kind, f: "acquire".to_owned(), value, error }
}

#[test]
fn what_was_written_is_read_whatever_the_threads() {
    let events: Vec<Event> = (0..8_000)
        .map(|index| {
            let kind =
                [EventKind::Invoke, EventKind::Ok, EventKind::Fail, EventKind::Info][index as usize % 4];
            let value =
                json!({"lock": "a", "token": index, "list": [null, true, -7, 1.5, u64::MAX, "ä\n", {}]});
            event(index, index as u32 % 7, kind, value)
        })
        .collect();
    let mut text = Vec::new();
    write(&mut text, events.clone()).unwrap();
    for threads in [1, 2, 5] {
        let history = read(&text[..], &options(threads)).unwrap();
        assert_eq!(history.events().collect::<Vec<_>>(), events);
        assert!(history.rows().all(|row| row.line() == row.index() as u64 + 1));
        assert_eq!(history.row(130).value().get("token").as_u64(), Some(130));
    }
}

#[test]
fn a_torn_last_line_is_dropped_with_a_note() {
    let whole = r#"{"time":1,"process":0,"type":"invoke","f":"read"}"#;
    let history = read(format!("{whole}\n{{\"time\":2,\"pro").as_bytes(), &options(2)).unwrap();
    assert_eq!((history.len(), &history.notes[..]), (1, &["line 2 is torn and was dropped".to_owned()][..]));
    let history = read(format!("{whole}\n{whole}").as_bytes(), &options(2)).unwrap();
    assert_eq!((history.len(), history.notes.len()), (2, 0), "a whole line needs no line end");
}

#[test]
fn errors_point_at_the_place() {
    let whole = r#"{"time":1,"process":0,"type":"invoke","f":"read"}"#;
    for (bad, column, message) in [
        (r#"{"time":1,"process":-4,"type":"invoke","f":"read"}"#, 22, "a process is a number"),
        (r#"{"time":1,"process":0,"type":"begin","f":"read"}"#, 36, "unknown variant `begin`"),
        (r#"{"time":1,"process":0,"type":"invoke"}"#, 38, "missing field `f`"),
        (r#"{"time":1,"time":1}"#, 19, "duplicate field `time`"),
        ("[1]", 1, "expected an event: an object"),
        (r#"{"time":1,}"#, 11, "trailing comma"),
        (r#"{"time""#, 7, "EOF while parsing an object"),
    ] {
        let text = format!("{whole}\n\n{bad}\n{whole}\n");
        let Err(ReadError::Malformed(error)) = read(text.as_bytes(), &options(2)) else {
            panic!("{bad} was read")
        };
        assert!(error.message.contains(message), "{error}");
        assert_eq!((error.line, error.column), (3, column), "{error}");
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let text = format!("{{\"value\":{}", "[".repeat(1_000_000));
    assert!(matches!(read(format!("{text}\n").as_bytes(), &options(1)), Err(ReadError::Malformed(_))));
}

#[test]
fn a_history_beyond_the_memory_permitted_is_not_read() {
    let line = "{\"time\":1,\"process\":0,\"type\":\"info\",\"f\":\"read\"}\n";
    let text = line.repeat(100_000);
    let options = ReadOptions { memory_max: Some(1_000_000), threads: 2 };
    let Err(ReadError::TooLarge { events, .. }) = read(text.as_bytes(), &options) else {
        panic!("it was read")
    };
    assert!(events < 40_000, "{events}");
    assert!(matches!(read(&b"x".repeat(3_000_000)[..], &options), Err(ReadError::TooLarge { .. })));
}

#[test]
fn the_resource_log_round_trips() {
    let line = r#"{"seq":42,"time":1520334,"lock":"a","op":"write","process":3,"id":"3-4","token":7,"unfenced_base":"0-3","unfenced":true,"fenced_base":null,"fenced":true}"#;
    let entries = read_resource(format!("{line}\n{{\"seq\"").as_bytes()).unwrap();
    assert_eq!((entries.len(), entries[0].token, entries[0].fenced_base.as_deref()), (1, Some(7), None));
    let mut text = Vec::new();
    write_resource(&mut text, &entries).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), format!("{line}\n"));
}

#[test]
fn a_position_in_the_serial_order_is_no_other_entrys() {
    let log = |positions: &[u64]| {
        let line =
            |seq: &u64| format!(r#"{{"seq":{seq},"time":1,"lock":"a","op":"read","process":3}}"#) + "\n";
        let text: String = positions.iter().map(line).collect();
        read_resource(text.as_bytes()).map_err(|error| error.to_string())
    };
    assert_eq!(log(&[1, 2, 7, 5]).unwrap().len(), 4, "gaps and disorder are no second entry");
    assert_eq!(log(&[1, 2, 3, 2]).unwrap_err(), "line 4, column 1: seq 2 is that of line 2 too");
    assert_eq!(log(&[0, 0, 0]).unwrap_err(), "line 2, column 1: seq 0 is that of line 1 too");
}

/// Both parsers on one line: what they made of it.
fn both(line: &str) -> [Option<Vec<Event>>; 2] {
    [true, false].map(|fast| {
        let names = SharedNames::default();
        let mut segment = Segment::new(&names);
        let parsed = match fast {
            true => fast::parse(line, 1, &mut segment).inspect(|&end| assert_eq!(end, line.len())).is_some(),
            false => event::parse(line.as_bytes(), 1, &mut segment).is_ok(),
        };
        let mut history = History::default();
        segment.append_to(&mut history);
        history.seal(&names);
        parsed.then(|| history.events().collect())
    })
}

#[test]
fn the_fast_parser_takes_ordinary_lines_and_leaves_odd_ones() {
    let line =
        |value: &str| format!(r#"{{"index":0,"time":1,"process":0,"type":"ok","f":"read","value":{value}}}"#);
    for ordinary in [r#"{"lock":"ä","token":7,"list":[null,true,false,-3,{},[]]}"#, "0", "999999999999999999"]
    {
        let [fast, slow] = both(&line(ordinary));
        assert!(fast.is_some() && fast == slow, "{ordinary}");
    }
    for odd in [
        "-0",
        "1.0",
        "1e3",
        "01",
        "1000000000000000000",
        "\"\\n\"",
        "[1,]",
        "{\"a\":1,}",
        " 1",
        "\"\t\"",
        "nul",
    ] {
        assert_eq!(both(&line(odd))[0], None, "{odd}");
    }
}

#[test]
fn the_fast_parser_goes_no_further_than_its_line() {
    let line = r#"{"time":1,"process":0,"type":"ok","f":"x"}"#;
    let taken = |end: &str| {
        let mut segment = Segment::new(&SharedNames::default());
        let length = fast::parse(&format!("{line}{end}"), 1, &mut segment)?;
        Some((segment.len(), length - line.len()))
    };
    for (end, length) in [("", 0), ("\r", 1), ("\n", 1), ("\r\n", 2), ("\n\n", 1), ("\n{\"time\":", 1)] {
        assert_eq!(taken(end), Some((1, length)), "{end:?}");
    }
    for odd in [" ", "\r\r", "\r{", "}", ",", "{", " \n", "\r\r\n"] {
        assert_eq!(taken(odd), None, "{odd:?}");
    }
    let torn = |end: &str| {
        fast::parse(
            &format!("{}{end}", &line[..line.len() - 1]),
            1,
            &mut Segment::new(&SharedNames::default()),
        )
    };
    assert_eq!((torn("\n}"), torn("\r\n}\n"), torn("")), (None, None, None));
}

proptest::proptest! {
    #[test]
    fn whatever_the_fast_parser_takes_the_general_one_takes_alike(
        pieces in proptest::collection::vec(proptest::sample::select(&[
            "{", "}", "[", "]", ",", ":", "\"value\":", "\"time\":1", "\"process\":0", "\"process\":\"nemesis\"",
            "\"type\":\"ok\"", "\"f\":\"x\"", "\"node\":\"n\"", "\"error\":\"e\"", "\"index\":0", "0", "-1", "-0",
            "01", "1.5", "null", "true", "\"a\"", "\"\\u0041\"", "\"x\":", " ",
        ][..]), 0..12),
        whole in proptest::bool::ANY,
    ) {
        let middle = pieces.concat();
        let line = if whole {
            format!("{{\"time\":1,\"process\":0,\"type\":\"ok\",\"f\":\"x\",\"value\":{middle}}}")
        } else {
            format!("{{{}}}", pieces.join(","))
        };
        let [fast, slow] = both(&line);
        proptest::prop_assert!(fast.is_none() || fast == slow, "{line}: {fast:?} {slow:?}");
    }
}
