//! JSON Lines.

use super::{
    history::{Event, Kind, Value},
    random::Random,
    spelling::{Format, Keying, Spelling},
    write::{Place, keyed},
};

/// An event.
pub fn json(event: &Event, place: Place, spelling: &Spelling, random: &mut Random) -> String {
    let mut fields = vec![
        format!("\"process\":{}", event.process),
        format!("\"type\":\"{}\"", event.kind.word()),
        format!("\"f\":\"{}\"", spelling.name(event.f)),
    ];
    let (key, plain) = keyed(event, spelling.keying);
    let text = value(&plain);
    match key {
        Some(key) if spelling.keying == Keying::Map => {
            let mut parts = [format!("\"key\":{}", value(key)), format!("\"value\":{text}")];
            random.shuffle(&mut parts);
            fields.push(format!("\"value\":{{{}}}", parts.join(",")));
        }
        key => {
            let name = spelling.keying.field();
            fields.extend(key.map(|key| format!("\"{name}\":{}", value(key))));
            if plain != Value::Nil || random.chance(70) {
                fields.push(format!("\"value\":{text}"));
            }
        }
    }
    if matches!(event.kind, Kind::Fail | Kind::Info) && random.chance(30) {
        fields
            .push(format!("\"error\":{}", random.pick(&["\"no, {not} now\"", "[\"timeout\",null]", "504"])));
    }
    object(fields, place, spelling, random)
}

/// One line of these fields, in any order, and its place as far as the format tells it.
pub fn object(mut fields: Vec<String>, place: Place, spelling: &Spelling, random: &mut Random) -> String {
    if spelling.format == Format::JsonTimed {
        fields.push(format!("\"time\":{}", place.time));
    }
    if spelling.has_index {
        fields.push(format!("\"index\":{}", place.index));
    }
    random.shuffle(&mut fields);
    let line = format!("{{{}}}", fields.join(","));
    // Readers may have a fast way for texts without spaces.
    if spelling.spaced { line.replace("\":", "\": ").replace(",\"", ", \"") } else { line }
}

fn value(plain: &Value) -> String {
    match plain {
        Value::Nil => "null".into(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Text(text) | Value::Word(text) | Value::Uuid(text) => format!("\"{text}\""),
        Value::List(items) | Value::Set(items) => {
            format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(","))
        }
    }
}
