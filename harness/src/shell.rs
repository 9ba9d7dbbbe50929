//! Commands that are printed to be run again.

/// A command line that a POSIX shell reads as these words.
pub fn line<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// A word as a POSIX shell reads it; plain where it can be.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./_-".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_would_read_otherwise_is_quoted() {
        assert_eq!(
            line(["fencepost", "run", "redis/set-nx", "--faults", "pause:holder,kill:s1"]),
            "fencepost run redis/set-nx --faults pause:holder,kill:s1"
        );
        assert_eq!(line(["a b", "it's", "", "$HOME", "~", "é"]), r"'a b' 'it'\''s' '' '$HOME' '~' 'é'");
    }
}
