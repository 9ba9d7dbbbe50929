//! Text of strangers, made fit to be shown: servers' logs, keys, names, and whatever a file holds.
//!
//! Control characters, those that turn the direction of writing or take no room, and those that XML forbids are shown
//! as escapes, such as `\u{1b}`, and not obeyed. What is too long is clipped, and says how much is missing.

use std::{borrow::Cow, fmt::Write};

/// Bytes of one line that are shown.
pub const LINE_MAX: usize = 2000;
/// Lines of one message that are shown.
pub const LINES_MAX: usize = 60;

/// One line: line ends and tabs are escaped too.
pub fn line(text: &str) -> String {
    clipped(text, LINE_MAX)
}

/// One line of at most so many bytes, and a word on how much is missing.
pub fn clipped(text: &str, bytes_max: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(bytes_max));
    for (at, c) in text.char_indices() {
        if shown.len() >= bytes_max {
            let _ = write!(shown, "… ({} more)", text[at..].chars().count());
            break;
        }
        put(&mut shown, c);
    }
    shown
}

/// Several lines, each as [`line`] has it.
pub fn message(text: &str) -> String {
    let mut lines = text.lines();
    let mut shown: Vec<String> = lines.by_ref().take(LINES_MAX).map(line).collect();
    let more = lines.count();
    if more > 0 {
        shown.push(format!("… ({more} more lines)"));
    }
    shown.join("\n")
}

/// A whole document, of which nothing may be missing: its lines stay as long as they are.
pub fn document(text: &str) -> Cow<'_, str> {
    escaped(text, put)
}

/// As [`document`], for JSON: means the same as before.
pub fn json(text: &str) -> Cow<'_, str> {
    escaped(text, |shown, c| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    })
}

fn escaped(text: &str, escape: impl Fn(&mut String, char)) -> Cow<'_, str> {
    let stays = |c: char| c == '\n' || is_plain(c);
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if stays(c) { shown.push(c) } else { escape(&mut shown, c) }
    }
    Cow::Owned(shown)
}

fn put(shown: &mut String, c: char) {
    if is_plain(c) { shown.push(c) } else { shown.extend(c.escape_default()) }
}

/// Whether a terminal, a browser and an XML parser take a character for a sign and nothing else.
pub fn is_plain(c: char) -> bool {
    // Unicode's formats (Cf), separators of lines, and noncharacters.
    let is_format = matches!(c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}');
    let is_noncharacter = matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe;
    !(c.is_control() || is_format || is_noncharacter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_obeyed() {
        assert_eq!(line("a\u{1b}[31m\u{9b}2J\r\n\t\u{7f}"), "a\\u{1b}[31m\\u{9b}2J\\r\\n\\t\\u{7f}");
        assert_eq!(
            line("\u{202e}\u{200b}\u{feff}\u{fffe}\u{10ffff}"),
            "\\u{202e}\\u{200b}\\u{feff}\\u{fffe}\\u{10ffff}"
        );
        assert_eq!(line("Schloß → 鍵 🔒 — ±3 s"), "Schloß → 鍵 🔒 — ±3 s");
        assert_eq!(document("a\n\u{0}b"), "a\n\\u{0}b");
    }

    #[test]
    fn what_is_too_long_says_how_much_is_missing() {
        let long = line(&"é".repeat(10_000_000));
        assert_eq!(long, format!("{}… (9999000 more)", "é".repeat(LINE_MAX / 2)));
        assert!(line(&"\u{1b}".repeat(LINE_MAX)).len() < LINE_MAX + 40, "escapes count");
        let many = message(&"x\n".repeat(LINES_MAX + 7));
        assert!(many.ends_with("x\n… (7 more lines)"), "{many}");
        assert_eq!(message("one\ntwo"), "one\ntwo");
    }

    #[test]
    fn json_means_the_same() {
        let text =
            serde_json::to_string_pretty(&["\u{9b}\u{e0001}\u{7f}\u{202e}ä\u{1}"]).expect("it is JSON");
        let plain = json(&text);
        assert!(plain.chars().all(|c| c == '\n' || is_plain(c)), "{plain}");
        assert_eq!(
            serde_json::from_str::<Vec<String>>(&plain).expect("it is JSON"),
            ["\u{9b}\u{e0001}\u{7f}\u{202e}ä\u{1}"]
        );
    }
}
