//! What a user is told beside the result: on stderr.

use std::{
    env,
    ffi::OsStr,
    fmt,
    io::{IsTerminal, Write},
};

/// Prints lines as `eprintln!` does, but a reader that went away (`2>&1 | head`) is no failure, and what others said (a
/// server's log, a file's text) neither moves the terminal nor floods it.
macro_rules! tell {
    ($($words:tt)*) => {
        $crate::tell::line(format_args!($($words)*))
    };
}

pub(crate) fn line(words: fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{}", reports::plain::message(&words.to_string()));
}

/// Whether stderr is a terminal on which a line may live; in `CI` none is.
pub(crate) fn is_lively() -> bool {
    std::io::stderr().is_terminal() && env::var_os("CI").is_none() && !is_dumb(env::var_os("TERM").as_deref())
}

/// Whether stdout wants colours.
pub(crate) fn is_colored() -> bool {
    let [no_color, term] = ["NO_COLOR", "TERM"].map(env::var_os);
    std::io::stdout().is_terminal() && !is_set(no_color.as_deref()) && !is_dumb(term.as_deref())
}

fn is_set(no_color: Option<&OsStr>) -> bool {
    no_color.is_some_and(|value| !value.is_empty())
}

/// A terminal that understands nothing but text.
fn is_dumb(term: Option<&OsStr>) -> bool {
    term.is_some_and(|term| term == "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_asked_what_it_understands() {
        let [dumb, usual, empty] = ["dumb", "xterm-256color", ""].map(OsStr::new);
        assert!(is_dumb(Some(dumb)) && !is_dumb(Some(usual)) && !is_dumb(None));
        assert!(is_set(Some(usual)) && !is_set(Some(empty)) && !is_set(None));
    }
}
