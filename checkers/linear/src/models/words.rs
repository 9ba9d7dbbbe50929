//! How models speak: values as histories write them, and no more of them than a line can take.

use std::fmt::Debug;

/// Elements of a collection that are worth a line.
const ELEMENTS_MAX: usize = 20;
/// Characters of one value that are worth a line, half of them at either end.
const VALUE_CHARS_MAX: usize = 120;

/// A value; of a long one the beginning, the end, and how long it is.
pub fn value(value: &impl Debug) -> String {
    clipped(format!("{value:?}"))
}

fn clipped(text: String) -> String {
    let count = text.chars().count();
    if count <= VALUE_CHARS_MAX {
        return text;
    }
    let head: String = text.chars().take(VALUE_CHARS_MAX / 2).collect();
    let tail: String = text.chars().skip(count - VALUE_CHARS_MAX / 2).collect();
    format!("{head}…{tail} ({count} characters)")
}

/// Between brackets: the first elements, and how many more there are.
pub fn list(
    open: &str,
    close: &str,
    between: &str,
    elements: impl ExactSizeIterator<Item = String>,
) -> String {
    let more = elements.len().saturating_sub(ELEMENTS_MAX);
    let mut shown: Vec<String> = elements.take(ELEMENTS_MAX).collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    format!("{open}{}{close}", shown.join(between))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_clipped() {
        assert_eq!(value(&7), "7");
        let long = value(&"x".repeat(10_000));
        assert!(long.contains('…') && long.ends_with("(10002 characters)") && long.len() < 200, "{long}");
        let numbers = |count: u32| {
            list("#{", "}", " ", (0..count).map(|n| n.to_string()).collect::<Vec<_>>().into_iter())
        };
        assert_eq!(numbers(3), "#{0 1 2}");
        assert!(numbers(100).ends_with("18 19 and 80 more}"), "{}", numbers(100));
    }
}
