//! A history as a text of any format.

use super::{
    history::{Event, Kind, Value},
    random::Random,
    spelling::{Format, Keying, Spelling},
    write_edn, write_json,
};

/// Events as a text.
pub struct Written {
    pub text: String,
    /// The position of each event among all that the text tells, those of nobody we know included.
    pub positions: Vec<usize>,
}

/// Where an event stands.
#[derive(Clone, Copy)]
pub struct Place {
    /// Among all that the text tells.
    pub index: usize,
    /// In nanoseconds.
    pub time: usize,
}

/// Writes the events.
pub fn write(events: &[Event], spelling: &Spelling, random: &mut Random) -> Written {
    let format = spelling.format;
    let (mut lines, mut positions) = (Vec::new(), Vec::new());
    let mut place = Place { index: spelling.index_from, time: random.below(1000) };
    for (at, event) in events.iter().enumerate() {
        let last = at.checked_sub(1).map(|last| &events[last]);
        let shares = !spelling.shuffled && may_share(last, event) && random.chance(10);
        place.time += if shares { 0 } else { 1 + random.below(500) };
        positions.push(place.index - spelling.index_from);
        lines.push((Some(event.process), line(event, place, spelling, random)));
        place.index += 1;
        if random.chance(4) {
            // A time of its own, so that no invocation goes before it.
            place.time += 1;
            let line = aside(spelling, place, random);
            place.index += usize::from(line.as_ref().is_some_and(|line| line != COMMENT));
            place.time += 1;
            lines.extend(line.map(|line| (None, line)));
        }
    }
    if spelling.shuffled {
        shuffle(&mut lines, random);
    }
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    let end = *random.pick(&["\n", "\n", "\r\n"]);
    let text = lines.join(end);
    let text = match format {
        // A comment may be the last line.
        Format::EdnVector => format!("[{text}{end}]{end}"),
        Format::EdnList => format!("({text}\n)"),
        _ => text + *random.pick(&["", end]),
    };
    let text = if random.chance(3) { format!("\u{feff}{text}") } else { text };
    Written { text, positions }
}

/// Any order in which each process keeps its own.
fn shuffle(lines: &mut [(Option<u32>, String)], random: &mut Random) {
    for _ in 0..4 * lines.len() {
        let at = random.below(lines.len());
        if at > 0 && lines[at - 1].0 != lines[at].0 {
            lines.swap(at - 1, at);
        }
    }
}

/// Whether an event may bear the same time as the one before: an invocation goes first then, whichever line is.
fn may_share(last: Option<&Event>, event: &Event) -> bool {
    let of_another = last.filter(|last| last.process != event.process);
    of_another.is_some_and(|last| last.kind == Kind::Invoke || event.kind != Kind::Invoke)
}

fn line(event: &Event, place: Place, spelling: &Spelling, random: &mut Random) -> String {
    match spelling.format {
        Format::TextTabs | Format::TextLog => write_edn::text(event, spelling, random),
        Format::JsonTimed | Format::JsonBare => write_json::json(event, place, spelling, random),
        Format::LockLines => lock_line(event, spelling),
        _ => write_edn::edn(event, place, spelling, random),
    }
}

fn lock_line(event: &Event, spelling: &Spelling) -> String {
    let token = if let Value::Int(token) = event.value { format!(" {token}") } else { String::new() };
    format!("{} {} {}{token}", event.process, event.kind.word(), spelling.name(event.f))
}

const COMMENT: &str = "; a comment";

/// A line that is of no client.
fn aside(spelling: &Spelling, place: Place, random: &mut Random) -> Option<String> {
    let kind = *random.pick(&["info", "info", "invoke", "ok", "fail"]);
    Some(match spelling.format {
        Format::LockLines => return None,
        Format::TextTabs | Format::TextLog => {
            format!("INFO  jepsen.core - :nemesis\t:{kind}\t:start\t\"cut off #{{:n1}}\"")
        }
        Format::JsonTimed | Format::JsonBare => {
            let fields = vec![
                "\"process\":\"nemesis\"".to_owned(),
                format!("\"type\":\"{kind}\""),
                "\"f\":\"start\"".to_owned(),
            ];
            write_json::object(fields, place, spelling, random)
        }
        _ if random.chance(50) => COMMENT.into(),
        _ => format!("{{:process :nemesis, :type :{kind}, :f :start, :value {{:a #{{1}}}}}}"),
    })
}

/// The value as the event bears it, and the object's key where that stands beside it.
pub fn keyed(event: &Event, keying: Keying) -> (Option<&Value>, Value) {
    match (&event.key, keying) {
        (Some(key), Keying::Tuple) => (None, Value::List(vec![key.clone(), event.value.clone()])),
        (Some(key), Keying::Alone) => (None, key.clone()),
        (key, _) => (key.as_ref(), event.value.clone()),
    }
}
