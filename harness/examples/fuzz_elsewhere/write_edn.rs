//! EDN, and the two text forms of Jepsen, whose values are EDN.

use super::{
    history::{Event, Kind, Value},
    random::Random,
    spelling::{Format, Keying, Spelling},
    write::{Place, keyed},
};

/// A map or record.
pub fn edn(event: &Event, place: Place, spelling: &Spelling, random: &mut Random) -> String {
    let f = spelling.name(event.f);
    let mut fields = vec![
        format!(":process {}", event.process),
        format!(":type :{}", event.kind.word()),
        format!(":f {}", if random.chance(90) { format!(":{f}") } else { format!("\"{f}\"") }),
    ];
    let (key, plain) = keyed(event, spelling.keying);
    let text = value(&plain, random);
    match key {
        Some(key) if matches!(spelling.keying, Keying::Map | Keying::Record) => {
            fields.push(format!(":value {}", object(spelling.keying, key, &text, random)));
        }
        key => {
            let name = spelling.keying.field();
            fields.extend(key.map(|key| format!(":{name} {}", value(key, random))));
            if plain != Value::Nil || random.chance(80) {
                fields.push(format!(":value {text}"));
            }
        }
    }
    if random.chance(30) {
        fields.push(format!(":index {}", place.index));
    }
    if random.chance(30) {
        fields.push(format!(":time {}", place.time));
    }
    if matches!(event.kind, Kind::Fail | Kind::Info) && random.chance(30) {
        fields.push(format!(":error {}", random.pick(&[":timeout", "[:refused nil]", "\"no, {not} now\""])));
    }
    random.shuffle(&mut fields);
    let tag = if spelling.format == Format::EdnRecords { "#jepsen.history.Op" } else { "" };
    format!("{tag}{{{}}}", fields.join(*random.pick(&[" ", ", ", ",  "])))
}

/// A line of a log.
pub fn text(event: &Event, spelling: &Spelling, random: &mut Random) -> String {
    let (prefix, between) = match spelling.format {
        Format::TextTabs => ("", "\t"),
        _ => (
            *random.pick(&["INFO  jepsen.util - ", "2015-03-01 12:00:00,031 INFO  jepsen.util - "]),
            *random.pick(&["\t", " "]),
        ),
    };
    let (key, plain) = keyed(event, spelling.keying);
    let value_text = value(&plain, random);
    let mut parts = vec![
        event.process.to_string(),
        format!(":{}", event.kind.word()),
        format!(":{}", spelling.name(event.f)),
        key.map_or(value_text.clone(), |key| object(spelling.keying, key, &value_text, random)),
    ];
    if matches!(event.kind, Kind::Fail | Kind::Info) && random.chance(30) {
        parts.push(random.pick(&[":timed-out", "\"connection refused\""]).to_string());
    }
    format!("{prefix}{}", parts.join(between))
}

/// Key and value together.
fn object(keying: Keying, key: &Value, text: &str, random: &mut Random) -> String {
    if keying == Keying::Map {
        return map(key, text, random);
    }
    match random.below(3) {
        0 => format!("#jepsen.independent.Tuple{}", map(key, text, random)),
        1 => format!("#jepsen.independent.Tuple [{} {text}]", value(key, random)),
        _ => format!("#clojure.lang.MapEntry[{} {text}]", value(key, random)),
    }
}

fn map(key: &Value, text: &str, random: &mut Random) -> String {
    let mut parts = [format!(":key {}", value(key, random)), format!(":value {text}")];
    random.shuffle(&mut parts);
    format!("{{{}}}", parts.join(*random.pick(&[" ", ", "])))
}

fn value(plain: &Value, random: &mut Random) -> String {
    let mut all = |items: &[Value]| {
        let items: Vec<String> = items.iter().map(|item| value(item, random)).collect();
        items.join(*random.pick(&[" ", ", "]))
    };
    match plain {
        Value::Nil => "nil".into(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Text(text) => format!("\"{text}\""),
        Value::Word(word) => format!(":{word}"),
        Value::Uuid(uuid) => format!("#uuid \"{uuid}\""),
        Value::List(items) => format!("[{}]", all(items)),
        Value::Set(items) => {
            let items = all(items);
            let (open, close) = *random.pick(&[("#{", "}"), ("#{", "}"), ("[", "]"), ("(", ")")]);
            format!("{open}{items}{close}")
        }
    }
}
