//! Which of Redis' error replies mean that nothing was done.
//!
//! Source: `src/server.c` (`processCommand`, `createSharedObjects`), `src/script.c` and `src/eval.c` of Redis 7.0:
//! the replies below are given before the command runs.

use crate::error::OpError;

/// First words of errors that refuse a command before it runs.
const REFUSED: [&str; 19] = [
    "READONLY",   // a write on a replica
    "LOADING",    // the data set is still being read from disk
    "NOREPLICAS", // fewer good replicas than min-replicas-to-write
    "MASTERDOWN", // a replica without link that must not serve stale data
    "CLUSTERDOWN",
    "MOVED",
    "ASK",
    "TRYAGAIN",
    "CROSSSLOT",
    "MISCONF", // the last save to disk failed
    "OOM",     // over maxmemory
    "NOAUTH",
    "NOPERM",
    "WRONGPASS",
    "BUSY", // another script runs for too long
    "NOSCRIPT",
    "EXECABORT",
    "WRONGTYPE",
    "DENIED", // protected mode
];

/// Beginnings of plain `ERR` replies that refuse a command before it runs.
const REFUSED_ERR: [&str; 5] = [
    "ERR unknown command",
    "ERR wrong number of arguments",
    "ERR syntax error",
    "ERR max number of clients reached",
    "ERR WAIT cannot be used with replica instances",
];

/// A replica refuses each write of a script alike; other errors may come after the script's first write.
const REFUSED_IN_SCRIPT: [&str; 3] = ["READONLY", "LOADING", "MASTERDOWN"];

/// An error reply as an outcome. Whatever is not listed is indeterminate.
pub fn classify(message: &str) -> OpError {
    let word = message.split(' ').next().unwrap_or_default();
    let in_script = message.contains("script: ") || message.contains("running script");
    let refused = match in_script {
        true => REFUSED_IN_SCRIPT.contains(&word),
        false => REFUSED.contains(&word) || REFUSED_ERR.iter().any(|start| message.starts_with(start)),
    };
    match refused {
        true => OpError::Definite(message.to_string()),
        false => OpError::Indeterminate(message.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row() {
        for word in REFUSED {
            assert_eq!(classify(&format!("{word} why")), OpError::Definite(format!("{word} why")));
            let inside = format!("{word} why script: 6e2, on @user_script:1.");
            let definite = matches!(classify(&inside), OpError::Definite(_));
            assert_eq!(definite, REFUSED_IN_SCRIPT.contains(&word), "{inside}");
        }
        for start in REFUSED_ERR {
            assert!(matches!(classify(&format!("{start} 'x'")), OpError::Definite(_)), "{start}");
        }
    }

    #[test]
    fn the_unknown_is_indeterminate() {
        for message in [
            "",
            "ERR",
            "ERR something new",
            "UNBLOCKED force unblock",
            "READONLYX",
            "ERR Error running script (call to f_1)",
        ] {
            assert!(matches!(classify(message), OpError::Indeterminate(_)), "{message}");
        }
    }
}
