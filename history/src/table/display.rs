use std::fmt::{Display, Formatter, Result};

use super::value::{Key, Value, View};

/// As EDN writes it. Plain keys of objects are written as keywords, in quotes where no keyword can hold them.
impl Display for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.view() {
            View::Null => f.write_str("nil"),
            View::Bool(value) => value.fmt(f),
            View::Int(value) => value.fmt(f),
            View::UInt(value) => write!(f, "{value}N"),
            View::Float(value) if value.is_nan() => f.write_str("##NaN"),
            View::Float(value) if value.is_infinite() => {
                f.write_str(if value > 0.0 { "##Inf" } else { "##-Inf" })
            }
            View::Float(value) => write!(f, "{value:?}"),
            View::Number(text) | View::Symbol(text) => f.write_str(text),
            View::String(text) => quoted(f, text),
            View::Keyword(name) => write!(f, ":{name}"),
            View::Char(text) => char(f, text),
            View::Array(items) => sequence(f, "[", items, "]"),
            View::List(items) => sequence(f, "(", items, ")"),
            View::Set(items) => sequence(f, "#{", items, "}"),
            View::Object(entries) => {
                f.write_str("{")?;
                for (position, (key, value)) in entries.enumerate() {
                    f.write_str(if position == 0 { "" } else { ", " })?;
                    match key {
                        Key::Name(name) if is_keyword(name) => write!(f, ":{name}")?,
                        Key::Name(name) => quoted(f, name)?,
                        Key::Value(key) => key.fmt(f)?,
                    }
                    write!(f, " {value}")?;
                }
                f.write_str("}")
            }
            View::Tagged(name, value) => write!(f, "#{name} {value}"),
        }
    }
}

/// Whether EDN can write this as a keyword.
pub fn is_keyword(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "*+!-_?$%&=<>.'#/:".contains(c);
    let first = name.chars().next();
    first.is_some_and(|c| plain(c) && !"#:/'".contains(c))
        && name.chars().all(plain)
        && !name.ends_with([':', '/'])
}

fn sequence<'h>(
    f: &mut Formatter<'_>,
    open: &str,
    items: impl Iterator<Item = Value<'h>>,
    close: &str,
) -> Result {
    f.write_str(open)?;
    for (position, item) in items.enumerate() {
        f.write_str(if position == 0 { "" } else { " " })?;
        item.fmt(f)?;
    }
    f.write_str(close)
}

/// A string in quotes, with the escapes that EDN knows.
pub(crate) fn quoted(f: &mut impl std::fmt::Write, text: &str) -> Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if u32::from(c) < 32 => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

fn char(f: &mut Formatter<'_>, text: &str) -> Result {
    match text {
        "\n" => f.write_str("\\newline"),
        "\r" => f.write_str("\\return"),
        " " => f.write_str("\\space"),
        "\t" => f.write_str("\\tab"),
        _ => match text.chars().next() {
            Some(c) if u32::from(c) <= 32 => write!(f, "\\u{:04x}", u32::from(c)),
            _ => write!(f, "\\{text}"),
        },
    }
}
