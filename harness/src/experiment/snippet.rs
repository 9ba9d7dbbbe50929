//! Shows the place of an error in a text, with the line and a caret.
//!
//! Written by hand, since editors look for `path:line:column:` where a line begins; `annotate-snippets` writes its place
//! below the message, as rustc does, and would still have to be told which line and column.

use std::ops::Range;

/// `path:line:column` and the message's first line, the text's line, carets under the span, and the rest of the message.
pub fn at(path: &str, text: &str, span: Range<usize>, message: &str) -> String {
    let start = floor(text, span.start);
    let above = &text[..start];
    let line_start = above.rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
    let number = above.matches('\n').count() + 1;
    let column = text[line_start..start].chars().count() + 1;
    let end = floor(text, span.end.clamp(start, line_end));
    let width = text[start..end].chars().count().max(1);
    let margin = number.to_string().len();
    let (first, rest) = message.find('\n').map_or((message, ""), |newline| message.split_at(newline));
    // A tab is as wide as the terminal makes it.
    let before: String = text[line_start..start].chars().map(|c| if c == '\t' { c } else { ' ' }).collect();
    format!(
        "{path}:{number}:{column}: {first}\n{0:margin$} |\n{number} | {1}\n{0:margin$} | {2}{3}{rest}",
        "",
        &text[line_start..line_end],
        before,
        "^".repeat(width),
    )
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::at;

    #[test]
    fn points_at_the_place() {
        let text = "name = \"é\"\nclients = \"five\"\n";
        let start = text.find("\"five\"").unwrap();
        assert_eq!(
            at("x.toml", text, start..start + 6, "clients is a number"),
            "x.toml:2:11: clients is a number\n  |\n2 | clients = \"five\"\n  |           ^^^^^^"
        );
    }

    #[test]
    fn points_behind_tabs() {
        assert!(at("x", "\ta = 1", 1..2, "m").ends_with("1 | \ta = 1\n  | \t^"));
    }

    #[test]
    fn survives_spans_outside() {
        assert!(at("x", "é", 1..9, "m").starts_with("x:1:1: m"));
        assert!(at("x", "", 7..9, "m").starts_with("x:1:1: m"));
    }
}
