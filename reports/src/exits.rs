//! Servers that ended by themselves, in words.

use crate::words;
use history::judgement::{Exit, Judgement};

/// `s1 ended by itself at 3.000 s (exit status: 3)`.
pub fn in_words(exit: &Exit) -> String {
    format!("{} ended by itself at {} ({})", exit.node, words::seconds(exit.at_ns), exit.status)
}

/// One sentence for all of them; none where no server ended.
pub fn sentence(judgement: &Judgement) -> Option<String> {
    match judgement.exits.as_slice() {
        [] => None,
        [one] => Some(format!("{}.", in_words(one))),
        [first, rest @ ..] => Some(format!("{}, and {} more so.", in_words(first), rest.len())),
    }
}
