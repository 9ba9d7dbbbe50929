//! What a user is told beside the result: on stderr.

use std::{fmt, io::Write};

/// Prints a line as `eprintln!` does, but a reader that went away (`2>&1 | head`) is no failure.
macro_rules! tell {
    ($($words:tt)*) => {
        $crate::tell::line(format_args!($($words)*))
    };
}

pub(crate) fn line(words: fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{words}");
}
