use std::borrow::Cow;

use super::number;
use super::scanner::{Scanner, Stop};
use crate::table::Encoder;

/// Values nested deeper than this are an error, so that no input exhausts the stack.
pub(super) const DEPTH_MAX: u32 = 128;

/// Packs the next value; there must be one.
pub(super) fn value(scanner: &mut Scanner<'_>, out: &mut Encoder<'_>, depth: u32) -> Result<(), Stop> {
    if depth > DEPTH_MAX {
        return scanner.bad(format!("values are nested more than {DEPTH_MAX} levels deep"));
    }
    skip(scanner, out, depth)?;
    match scanner.need("a value")? {
        b'"' => out.string(&string(scanner)?),
        b':' => {
            let name = keyword(scanner)?;
            out.keyword(name);
        }
        b'[' => {
            out.begin_array();
            sequence(scanner, out, depth, b']')?;
        }
        b'(' => {
            out.begin_list();
            sequence(scanner, out, depth, b')')?;
        }
        b'{' => map(scanner, out, depth)?,
        b'\\' => out.char(char(scanner)?),
        b'#' => dispatch(scanner, out, depth)?,
        byte @ (b']' | b')' | b'}') => {
            return scanner.bad(format!("expected a value, found {}", byte as char));
        }
        byte => {
            let start = *scanner;
            let token = scanner.token()?;
            let digit = if matches!(byte, b'+' | b'-') { token.get(1) } else { token.first() };
            if digit.is_some_and(u8::is_ascii_digit) {
                number::pack(token, out).or_else(|message| start.bad(message))?;
            } else {
                *scanner = start;
                word(scanner, out)?;
            }
        }
    }
    Ok(())
}

/// Goes past spaces, comments and discarded values (`#_`).
pub(super) fn skip(scanner: &mut Scanner<'_>, out: &mut Encoder<'_>, depth: u32) -> Result<(), Stop> {
    scanner.skip_space();
    while scanner.peek()? == Some(b'#') {
        let start = *scanner;
        scanner.at += 1;
        if scanner.peek()? != Some(b'_') {
            *scanner = start;
            return Ok(());
        }
        scanner.at += 1;
        let mark = out.mark();
        value(scanner, out, depth + 1)?;
        out.rewind(mark);
        scanner.skip_space();
    }
    Ok(())
}

/// A keyword's name, without the colon.
pub(super) fn keyword<'a>(scanner: &mut Scanner<'a>) -> Result<&'a str, Stop> {
    let start = *scanner;
    scanner.at += 1;
    match scanner.name()? {
        "" => start.bad("a keyword has a name after its colon"),
        name => Ok(name),
    }
}

/// The text of a string; the scanner stands on its opening quote.
pub(super) fn string<'a>(scanner: &mut Scanner<'a>) -> Result<Cow<'a, str>, Stop> {
    scanner.at += 1;
    let mut text = Cow::Borrowed("");
    loop {
        text += scanner.until(b'"', b'\\', "a string")?;
        if scanner.need("a string")? == b'"' {
            scanner.at += 1;
            return Ok(text);
        }
        text.to_mut().push(escaped(scanner)?);
    }
}

fn escaped(scanner: &mut Scanner<'_>) -> Result<char, Stop> {
    let start = *scanner;
    scanner.at += 1;
    Ok(match scanner.char("a string")? {
        't' => '\t',
        'r' => '\r',
        'n' => '\n',
        'b' => '\u{8}',
        'f' => '\u{c}',
        c @ ('\\' | '"') => c,
        'u' => {
            let high = hex(scanner)?;
            let low = if (0xd800..0xdc00).contains(&high) {
                let pair = scanner.char("a string")? == '\\' && scanner.char("a string")? == 'u';
                if pair { Some(hex(scanner)?) } else { None }
            } else {
                None
            };
            let units = [high, low.unwrap_or(0)];
            match char::decode_utf16(units).next() {
                Some(Ok(c)) => c,
                _ => return start.bad("half of a surrogate pair is no character"),
            }
        }
        c => return start.bad(format!("\\{c} is no escape that EDN knows")),
    })
}

fn hex(scanner: &mut Scanner<'_>) -> Result<u16, Stop> {
    let mut unit = 0;
    for _ in 0..4 {
        let digit = (scanner.need("a character's four digits")? as char).to_digit(16);
        let Some(digit) = digit else { return scanner.bad("expected a hexadecimal digit") };
        unit = unit << 4 | digit as u16;
        scanner.at += 1;
    }
    Ok(unit)
}

fn char(scanner: &mut Scanner<'_>) -> Result<char, Stop> {
    let start = *scanner;
    scanner.at += 1;
    let first = scanner.char("a character")?;
    if !first.is_alphanumeric() {
        return Ok(first);
    }
    let rest = scanner.name()?;
    Ok(match (first, rest) {
        (c, "") => c,
        ('n', "ewline") => '\n',
        ('r', "eturn") => '\r',
        ('s', "pace") => ' ',
        ('t', "ab") => '\t',
        ('b', "ackspace") => '\u{8}',
        ('f', "ormfeed") => '\u{c}',
        ('u', digits) if digits.len() == 4 => {
            match u32::from_str_radix(digits, 16).ok().and_then(char::from_u32) {
                Some(c) => c,
                None => return start.bad("expected the four digits of a character"),
            }
        }
        _ => return start.bad(format!("\\{first}{rest} is no character that EDN knows")),
    })
}

fn sequence(scanner: &mut Scanner<'_>, out: &mut Encoder<'_>, depth: u32, close: u8) -> Result<(), Stop> {
    scanner.at += 1;
    loop {
        skip(scanner, out, depth)?;
        if scanner.need("a collection")? == close {
            scanner.at += 1;
            out.end();
            return Ok(());
        }
        value(scanner, out, depth + 1)?;
    }
}

fn map(scanner: &mut Scanner<'_>, out: &mut Encoder<'_>, depth: u32) -> Result<(), Stop> {
    scanner.at += 1;
    out.begin_object();
    loop {
        skip(scanner, out, depth)?;
        match scanner.need("a map")? {
            b'}' => break,
            b':' => out.key(keyword(scanner)?),
            _ => {
                out.value_key();
                value(scanner, out, depth + 1)?;
            }
        }
        skip(scanner, out, depth)?;
        if scanner.need("a map")? == b'}' {
            return scanner.bad("expected the value of the map's last key");
        }
        value(scanner, out, depth + 1)?;
    }
    scanner.at += 1;
    out.end_object();
    Ok(())
}

/// What begins with `#` and is not discarded: a set, a float without digits, a tagged value.
fn dispatch(scanner: &mut Scanner<'_>, out: &mut Encoder<'_>, depth: u32) -> Result<(), Stop> {
    let start = *scanner;
    scanner.at += 1;
    match scanner.need("a value")? {
        b'{' => {
            out.begin_set();
            sequence(scanner, out, depth, b'}')
        }
        b'#' => {
            match scanner.token()? {
                b"#NaN" => out.float(f64::NAN),
                b"#Inf" => out.float(f64::INFINITY),
                b"#-Inf" => out.float(f64::NEG_INFINITY),
                _ => return start.bad("expected ##NaN, ##Inf or ##-Inf"),
            }
            Ok(())
        }
        _ => {
            *scanner = start;
            out.tagged(tag(scanner)?);
            value(scanner, out, depth + 1)
        }
    }
}

/// A tag's name; the scanner stands on its `#`.
pub(super) fn tag<'a>(scanner: &mut Scanner<'a>) -> Result<&'a str, Stop> {
    let start = *scanner;
    scanner.at += 1;
    let name = scanner.name()?;
    if name.starts_with(|c: char| c.is_alphabetic() || c == ':') {
        Ok(name)
    } else {
        start.bad("expected a set, a tag, ##NaN, ##Inf or #_ after #")
    }
}

fn word(scanner: &mut Scanner<'_>, out: &mut Encoder<'_>) -> Result<(), Stop> {
    let start = *scanner;
    match scanner.name()? {
        "nil" => out.null(),
        "true" => out.bool(true),
        "false" => out.bool(false),
        "" => return start.bad("expected a value"),
        name if name.starts_with(['@', '^', '`', '~', '\'']) => {
            return start.bad(format!("no EDN value begins like {name}"));
        }
        name => out.symbol(name),
    }
    Ok(())
}
