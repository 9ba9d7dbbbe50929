//! What the reader of TOML says, in words of those who write experiments.

use nemesis::suggest;

/// What is expected, by what the reader calls it.
const EXPECTED: [(&str, &str); 8] = [
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number of 0 or more"),
    ("i64", "a whole number"),
    ("a string", "a string: write it in quotes"),
    ("a boolean", "true or false"),
    ("a map", "a table"),
    ("a sequence", "a list in brackets"),
    ("variant identifier", "a string: write it in quotes"),
];

/// The message without names of Rust's types; of an unknown name, with the likeliest that was meant.
pub fn in_words(message: &str) -> String {
    let message = expected(message);
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = ["unknown field", "unknown variant"].into_iter().any(|start| message.starts_with(start));
    match quoted.next().filter(|_| unknown) {
        Some(written) => format!("{message}{}", suggest::hint(written, quoted)),
        None => message.clone(),
    }
}

fn expected(message: &str) -> String {
    if message == "wanted string or table" {
        return "expected a string: write it in quotes".into();
    }
    let Some((before, what)) = message.rsplit_once("expected ") else { return message.to_owned() };
    let before = before.replace(" as i128", "");
    let known = EXPECTED.iter().find(|(name, _)| *name == what).map(|(_, words)| *words);
    let words = match known {
        Some(words) => words,
        None if what.starts_with("struct ") => "a table",
        None => what,
    };
    format!("{before}expected {words}")
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn types_are_told_in_words() {
        for (said, words) in [
            (
                "invalid type: string \"x\", expected struct FaultsTable",
                "invalid type: string \"x\", expected a table",
            ),
            (
                "invalid value: integer `-1`, expected u32",
                "invalid value: integer `-1`, expected a whole number from 0 to 4294967295",
            ),
            ("wanted string or table", "expected a string: write it in quotes"),
            ("unclosed array, expected `]`", "unclosed array, expected `]`"),
            (
                "unknown field `clinets`, expected `clients`",
                "unknown field `clinets`, expected `clients`; did you mean `clients`?",
            ),
        ] {
            assert_eq!(in_words(said), words);
        }
    }
}
