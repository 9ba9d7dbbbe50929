//! Amounts on the command line.

use std::time::Duration;

use nemesis::duration::{DurationError, parse_ms};

/// Units of memory, longest first, so that `MiB` is not read as `B`.
const UNITS: [(&str, f64); 13] = [
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
    ("TiB", 1099511627776.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("K", 1024.0),
    ("M", 1048576.0),
    ("G", 1073741824.0),
    ("T", 1099511627776.0),
    ("B", 1.0),
];

/// A duration such as `500ms`, `60s` or `2m`.
///
/// # Errors
/// What is wrong with it.
pub fn duration(text: &str) -> Result<Duration, DurationError> {
    parse_ms(text).map(Duration::from_millis)
}

/// It is no amount of memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAmount {
    /// No number with a unit.
    #[error("`{0}` is no amount of memory; write it as 512MiB, 2GiB or in bytes")]
    Unread(String),
    /// Nothing fits into it, or everything.
    #[error("`{0}` is no amount of memory: it must be more than nothing")]
    Nothing(String),
}

/// A number of bytes such as `2GiB`, `512M` or `1048576`.
///
/// # Errors
/// What is wrong with it.
pub fn bytes(text: &str) -> Result<u64, NoAmount> {
    let text = text.trim();
    let (number, unit) = UNITS
        .iter()
        .find_map(|(unit, size)| text.strip_suffix(unit).map(|number| (number.trim_end(), *size)))
        .unwrap_or((text, 1.0));
    let amount: f64 = number.parse().map_err(|_| NoAmount::Unread(text.into()))?;
    if !(amount.is_finite() && amount > 0.0) {
        return Err(NoAmount::Nothing(text.into()));
    }
    Ok((amount * unit) as u64)
}

/// A number of bytes as people read it: `512 MiB`, `1.5 GiB`.
pub fn in_words(bytes: u64) -> String {
    let (size, unit) = match bytes {
        0..1024 => return format!("{bytes} B"),
        1024..0x10_0000 => (1024.0, "KiB"),
        0x10_0000..0x4000_0000 => (1048576.0, "MiB"),
        _ => (1073741824.0, "GiB"),
    };
    format!("{} {unit}", (bytes as f64 / size * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        for (text, size) in
            [("2GiB", 2 << 30), ("512 MiB", 512 << 20), ("1.5K", 1536), ("3MB", 3_000_000), ("77", 77)]
        {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
    }

    #[test]
    fn nonsense_is_told() {
        for text in ["", "GiB", "-1MiB", "0", "inf", "2 furlongs"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert!(duration("soon").is_err());
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!([512, 2048, 512 << 20, 3 << 29].map(in_words), ["512 B", "2 KiB", "512 MiB", "1.5 GiB"]);
    }
}
