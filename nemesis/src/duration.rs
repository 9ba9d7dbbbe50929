//! Durations and ranges of durations as people write them: `500ms`, `3s`, `1.5m`, `2s..5s`, `-3s..3s`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A range of durations in milliseconds, both ends included. Written `3s` or `2s..5s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurationRange {
    /// Shortest, in milliseconds.
    pub from_ms: u64,
    /// Longest, in milliseconds.
    pub to_ms: u64,
}

/// A range of signed durations in milliseconds, both ends included. Written `+3s`, `-2s`, `-3s..3s` or `±3s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetRange {
    /// Smallest, in milliseconds.
    pub from_ms: i64,
    /// Greatest, in milliseconds.
    pub to_ms: i64,
}

/// A text is no duration, or no range of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no {what}: {reason}")]
pub struct DurationError {
    text: String,
    what: &'static str,
    reason: String,
}

/// Longest duration taken: a year, so that no sum of a few of them overflows.
pub(crate) const LIMIT_MS: i64 = 366 * 24 * 3_600_000;

/// Reads one duration such as `500ms`, `3s`, `1.5m` or `2h`, in milliseconds.
pub fn parse_ms(text: &str) -> Result<u64, DurationError> {
    let ms = parse_signed(text, "duration")?;
    u64::try_from(ms).map_err(|_| error(text, "duration", "it must not be negative"))
}

/// Writes milliseconds the shortest exact way: `3s`, `2500ms`, `2m`, `24h`.
pub fn format_ms(ms: u64) -> String {
    match ms {
        0 => "0s".into(),
        _ if ms.is_multiple_of(3_600_000) => format!("{}h", ms / 3_600_000),
        _ if ms.is_multiple_of(60_000) => format!("{}m", ms / 60_000),
        _ if ms.is_multiple_of(1000) => format!("{}s", ms / 1000),
        _ => format!("{ms}ms"),
    }
}

/// Writes signed milliseconds, always with a sign: `+3s`, `-2500ms`.
pub fn format_offset_ms(ms: i64) -> String {
    format!("{}{}", if ms < 0 { '-' } else { '+' }, format_ms(ms.unsigned_abs()))
}

impl FromStr for DurationRange {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<DurationRange, DurationError> {
        let (from, to) = ends(text);
        let (from_ms, to_ms) = (parse_ms(from)?, parse_ms(to)?);
        if from_ms > to_ms {
            return Err(error(text, "range of durations", "its first end is the longer one"));
        }
        Ok(DurationRange { from_ms, to_ms })
    }
}

impl FromStr for OffsetRange {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<OffsetRange, DurationError> {
        if let Some(size) = text.trim().strip_prefix('±') {
            let to_ms = parse_signed(size, "offset")?.abs();
            return Ok(OffsetRange { from_ms: -to_ms, to_ms });
        }
        let (from, to) = ends(text);
        let (from_ms, to_ms) = (parse_signed(from, "offset")?, parse_signed(to, "offset")?);
        if from_ms > to_ms {
            return Err(error(text, "range of offsets", "its first end is the greater one"));
        }
        Ok(OffsetRange { from_ms, to_ms })
    }
}

impl fmt::Display for DurationRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_ms(self.from_ms))?;
        if self.to_ms == self.from_ms { Ok(()) } else { write!(f, "..{}", format_ms(self.to_ms)) }
    }
}

impl fmt::Display for OffsetRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_offset_ms(self.from_ms))?;
        if self.to_ms == self.from_ms { Ok(()) } else { write!(f, "..{}", format_offset_ms(self.to_ms)) }
    }
}

fn ends(text: &str) -> (&str, &str) {
    text.split_once("..").map_or((text, text), |(from, to)| (from, to.strip_prefix('=').unwrap_or(to)))
}

fn parse_signed(text: &str, what: &'static str) -> Result<i64, DurationError> {
    let trimmed = text.trim();
    let (sign, size) = match trimmed.as_bytes().first() {
        Some(b'-') => (-1.0, &trimmed[1..]),
        Some(b'+') => (1.0, &trimmed[1..]),
        _ => (1.0, trimmed),
    };
    let split = size.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(size.len());
    let (number, unit) = (&size[..split], size[split..].trim());
    let Ok(number) = number.parse::<f64>() else {
        return Err(error(text, what, "write a number and a unit, such as 500ms, 3s or 1m"));
    };
    let unit_ms = match unit {
        "ms" => 1.0,
        "s" => 1000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        "" => return Err(error(text, what, "a unit is missing; use ms, s, m or h")),
        _ => return Err(error(text, what, &format!("unknown unit `{unit}`; use ms, s, m or h"))),
    };
    if number * unit_ms > LIMIT_MS as f64 {
        return Err(error(text, what, "it is longer than a year"));
    }
    Ok((sign * number * unit_ms).round() as i64)
}

fn error(text: &str, what: &'static str, reason: &str) -> DurationError {
    DurationError { text: text.trim().into(), what, reason: reason.into() }
}

impl<'de> Deserialize<'de> for DurationRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<DurationRange, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for OffsetRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OffsetRange, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for DurationRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for OffsetRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_the_same() {
        for text in ["3s", "500ms", "2s..5s", "1m", "0s..90s", "24h"] {
            let range: DurationRange = text.parse().unwrap();
            assert_eq!(range.to_string(), text);
        }
        assert_eq!("1.5s".parse(), Ok(DurationRange { from_ms: 1500, to_ms: 1500 }));
        assert_eq!("±3s".parse(), Ok(OffsetRange { from_ms: -3000, to_ms: 3000 }));
        assert_eq!("-3s..1m".parse::<OffsetRange>().unwrap().to_string(), "-3s..+1m");
    }

    #[test]
    fn errors_say_what_would_be_right() {
        let said = |text: &str| text.parse::<DurationRange>().unwrap_err().to_string();
        assert_eq!(said("3"), "`3` is no duration: a unit is missing; use ms, s, m or h");
        assert_eq!(said("3 sec"), "`3 sec` is no duration: unknown unit `sec`; use ms, s, m or h");
        assert_eq!(said(""), "`` is no duration: write a number and a unit, such as 500ms, 3s or 1m");
        assert_eq!(said("-1s"), "`-1s` is no duration: it must not be negative");
        assert_eq!(said("5s..2s"), "`5s..2s` is no range of durations: its first end is the longer one");
        assert_eq!(said("99999h"), "`99999h` is no duration: it is longer than a year");
        let said = "three".parse::<OffsetRange>().unwrap_err().to_string();
        assert!(said.starts_with("`three` is no offset: write a number"), "{said}");
        assert!("±".parse::<OffsetRange>().is_err());
    }
}
