use super::number::small;
use super::scanner::{Scanner, Stop};
use super::value::{keyword, skip, string, value};
use crate::table::{Head, Segment};
use crate::{EventKind, Process};

/// What a map of one event has told so far.
#[derive(Default)]
struct Fields {
    index: Option<u64>,
    time: Option<u64>,
    process: Option<Process>,
    kind: Option<EventKind>,
    f: Option<u32>,
    node: Option<u32>,
    error: Option<String>,
    /// Where the packed value of `:value` begins and ends.
    value: Option<(usize, usize)>,
    /// What names the object, if the value does not, and the same of its value.
    key: Option<(&'static str, (usize, usize))>,
    seen: u32,
}

/// Adds the event whose map begins here; the scanner stands on its brace.
pub(super) fn event(scanner: &mut Scanner<'_>, segment: &mut Segment) -> Result<(), Stop> {
    let (start, mark) = (*scanner, segment.mark());
    let outcome = fields(scanner, segment);
    if outcome.is_err() {
        segment.rewind(mark);
    }
    let fields = outcome?;
    let Some(kind) = fields.kind else { return start.bad("the event has no :type") };
    let Some(process) = fields.process else { return start.bad("the event has no :process") };
    let Some(f) = fields.f else { return start.bad("the event has no :f") };
    segment.join(mark, f, fields.key, fields.value);
    let (index, time, node) = (fields.index, fields.time, fields.node);
    let head = Head { line: start.line, index, time, process, kind, f, node, error: fields.error.as_deref() };
    segment.push(mark, &head);
    Ok(())
}

fn fields(scanner: &mut Scanner<'_>, segment: &mut Segment) -> Result<Fields, Stop> {
    let mut fields = Fields::default();
    scanner.at += 1;
    loop {
        skip(scanner, &mut segment.encoder(), 1)?;
        match scanner.need("an event")? {
            b'}' => break,
            b':' => {
                let start = *scanner;
                let key = keyword(scanner)?;
                let before = fields.seen;
                field(scanner, segment, &mut fields, key)?;
                if fields.seen == before {
                    return start.bad(format!("the event has :{key} twice"));
                }
                fields.seen &= !OTHER;
            }
            _ => return scanner.bad("expected a keyword that names a part of the event"),
        }
    }
    scanner.at += 1;
    Ok(fields)
}

/// Set by keys that mean nothing here and may recur.
const OTHER: u32 = 1 << 31;

fn field(
    scanner: &mut Scanner<'_>,
    segment: &mut Segment,
    fields: &mut Fields,
    key: &str,
) -> Result<(), Stop> {
    skip(scanner, &mut segment.encoder(), 1)?;
    fields.seen |= match key {
        "type" => {
            fields.kind = Some(kind(scanner)?);
            1
        }
        "f" => {
            fields.f = Some(name(scanner, segment)?);
            2
        }
        "process" => {
            fields.process = Some(process(scanner)?);
            4
        }
        "value" => {
            fields.value = Some(packed(scanner, segment)?);
            8
        }
        "time" => {
            fields.time = number(scanner, "a number of nanoseconds from 0")?;
            16
        }
        "index" => {
            fields.index = number(scanner, "an index")?;
            32
        }
        "error" => {
            fields.error = text(scanner, segment)?;
            64
        }
        "node" => {
            fields.node = text(scanner, segment)?.map(|node| segment.name(&node));
            128
        }
        "key" => named(scanner, segment, fields, "key", 256)?,
        "lock" => named(scanner, segment, fields, "lock", 512)?,
        "name" => named(scanner, segment, fields, "name", 1024)?,
        _ => {
            let mark = segment.mark();
            packed(scanner, segment)?;
            segment.rewind(mark);
            OTHER
        }
    };
    Ok(())
}

/// Of several names for the object, the first counts.
fn named(
    scanner: &mut Scanner<'_>,
    segment: &mut Segment,
    fields: &mut Fields,
    name: &'static str,
    seen: u32,
) -> Result<u32, Stop> {
    let span = packed(scanner, segment)?;
    fields.key.get_or_insert((name, span));
    Ok(seen)
}

fn kind(scanner: &mut Scanner<'_>) -> Result<EventKind, Stop> {
    let start = *scanner;
    Ok(match scanner.token()? {
        b":invoke" => EventKind::Invoke,
        b":ok" => EventKind::Ok,
        b":fail" => EventKind::Fail,
        b":info" => EventKind::Info,
        _ => return start.bad("expected :invoke, :ok, :fail or :info"),
    })
}

fn process(scanner: &mut Scanner<'_>) -> Result<Process, Stop> {
    let start = *scanner;
    let token = scanner.token()?;
    if token == b":nemesis" {
        return Ok(Process::Nemesis);
    }
    if token.is_empty() && scanner.need("a process")? == b'"' {
        let text = string(scanner)?;
        return match number_of(&text) {
            Some(number) => Ok(Process::Client(number)),
            None if text == "nemesis" => Ok(Process::Nemesis),
            None => start.bad(PROCESS),
        };
    }
    match small(token).map(u32::try_from) {
        Some(Ok(number)) => Ok(Process::Client(number)),
        _ => start.bad(PROCESS),
    }
}

const PROCESS: &str = "a process is a number from 0 to 4294967295 or :nemesis";

fn number_of(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// A number of 0 or more; `nil` and -1, with which Jepsen marks a missing index, are none.
fn number(scanner: &mut Scanner<'_>, expected: &str) -> Result<Option<u64>, Stop> {
    let start = *scanner;
    let token = scanner.token()?;
    match small(token) {
        Some(-1) => Ok(None),
        _ if token == b"nil" => Ok(None),
        Some(value) if value >= 0 => Ok(Some(value as u64)),
        _ => start.bad(format!("expected {expected}")),
    }
}

/// The operation's name: a keyword's, or the text of anything else.
fn name(scanner: &mut Scanner<'_>, segment: &mut Segment) -> Result<u32, Stop> {
    if scanner.need("an event")? == b':' {
        let name = keyword(scanner)?;
        return Ok(segment.name(name));
    }
    let name = text(scanner, segment)?;
    Ok(segment.name(name.as_deref().unwrap_or("nil")))
}

/// A string, keyword or symbol as it is, anything else as EDN writes it; `nil` is none.
fn text(scanner: &mut Scanner<'_>, segment: &mut Segment) -> Result<Option<String>, Stop> {
    match scanner.need("an event")? {
        b'"' => return Ok(Some(string(scanner)?.into_owned())),
        b':' => return Ok(Some(keyword(scanner)?.to_owned())),
        _ => (),
    }
    let (start, _) = packed(scanner, segment)?;
    let text = segment.text(start);
    segment.rewind(start);
    Ok(text)
}

fn packed(scanner: &mut Scanner<'_>, segment: &mut Segment) -> Result<(usize, usize), Stop> {
    let start = segment.mark();
    value(scanner, &mut segment.encoder(), 1)?;
    Ok((start, segment.mark()))
}
