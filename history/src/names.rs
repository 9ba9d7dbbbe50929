//! Operations by the names that clients, libraries and papers give them.

/// The operations that a model has, each with the other names that it goes by.
#[derive(Debug)]
pub struct Vocabulary {
    /// What has these operations, in words.
    pub model: &'static str,
    operations: &'static [(&'static str, &'static [&'static str])],
}

/// A register's.
pub const REGISTER: Vocabulary = Vocabulary {
    model: "register",
    operations: &[
        ("read", &["r", "get", "load"]),
        ("write", &["w", "set", "put", "store"]),
        ("cas", &["compare-and-set", "compare-and-swap", "compare-exchange", "compare-and-exchange"]),
    ],
};

/// A key-value store's. What is deleted is `nil` from then on.
pub const KEY_VALUE: Vocabulary = Vocabulary {
    model: "key-value store",
    operations: &[
        ("get", &["read", "r", "load"]),
        ("put", &["set", "write", "w", "insert", "upsert", "store"]),
        ("append", &[]),
        ("delete", &["del", "remove", "unset"]),
    ],
};

/// A lock's, and an election's. What a recipe does beside is left out.
pub const LOCK: Vocabulary = Vocabulary {
    model: "lock",
    operations: &[
        (
            "acquire",
            &[
                "lock",
                "try-lock",
                "trylock",
                "try-acquire",
                "tryacquire",
                "acquire-lock",
                "lock-acquire",
                "get-lock",
                "take-lock",
                "obtain",
                "obtain-lock",
                "try-obtain",
                "enter",
                "campaign",
                "elect",
            ],
        ),
        (
            "release",
            &[
                "unlock",
                "release-lock",
                "lock-release",
                "give-back",
                "exit",
                "leave",
                "resign",
                "step-down",
                "lapse",
            ],
        ),
        ("", &["renew", "renewed", "read", "write", "observe"]),
    ],
};

/// A semaphore's.
pub const SEMAPHORE: Vocabulary = Vocabulary {
    model: "semaphore",
    operations: &[
        (
            "acquire",
            &["try-acquire", "tryacquire", "obtain", "enter", "lock", "try-lock", "p", "down", "wait"],
        ),
        ("release", &["give-back", "exit", "leave", "unlock", "v", "up", "signal"]),
    ],
};

/// A counter's. Without an amount it is one.
pub const COUNTER: Vocabulary = Vocabulary {
    model: "counter",
    operations: &[
        ("read", &["r", "get", "value"]),
        ("add", &["inc", "incr", "increment", "incrby", "incr-by", "plus"]),
        ("subtract", &["dec", "decr", "decrement", "decrby", "decr-by", "sub", "minus"]),
        ("add-and-get", &["increment-and-get", "incr-and-get", "inc-and-get"]),
    ],
};

/// A queue's.
pub const QUEUE: Vocabulary = Vocabulary {
    model: "queue",
    operations: &[
        ("enqueue", &["enq", "push", "offer", "send", "produce", "put"]),
        ("dequeue", &["deq", "pop", "poll", "receive", "recv", "consume", "take", "get"]),
    ],
};

/// A set's.
pub const SET: Vocabulary = Vocabulary {
    model: "set",
    operations: &[
        ("add", &["insert"]),
        ("remove", &["delete", "del", "rem", "discard"]),
        ("contains", &["has", "member", "is-member", "includes", "exists"]),
        ("read", &["r", "get", "members", "elements", "list", "scan"]),
    ],
};

/// Transactions'. Such as only read or only write may be called so; what they are is told by their steps.
pub const TRANSACTIONS: Vocabulary = Vocabulary {
    model: "multi-register",
    operations: &[("txn", &["transaction", "transact", "tx", "read", "write", "r", "w"])],
};

impl Vocabulary {
    /// The operation that a name in a history means, if it is one of these; empty for what is left out.
    ///
    /// Namespaces, the case of letters and the way that words are joined mean nothing: `:redis/tryLock`, `TRY_LOCK` and
    /// `try-lock` are one name.
    pub fn operation(&self, f: &str) -> Option<&'static str> {
        let name = plain(f);
        let fits = |(own, others): &&(&'static str, &[&str])| *own == name || others.contains(&&*name);
        self.operations.iter().find(fits).map(|(own, _)| *own).filter(|_| !name.is_empty())
    }

    /// The operations' own names, for messages.
    pub fn list(&self) -> String {
        let own = self.operations.iter().map(|(own, _)| *own).filter(|own| !own.is_empty());
        own.collect::<Vec<_>>().join(", ")
    }
}

/// The name of an operation without namespace, in lower case, its words joined by hyphens.
pub fn plain(f: &str) -> String {
    let name = f.rsplit(['/', '.', ':']).next().unwrap_or(f).trim().trim_end_matches(['?', '!']);
    let mut plain = String::with_capacity(name.len() + 2);
    let mut was_lower = false;
    for c in name.chars() {
        if matches!(c, '_' | ' ' | '-') {
            plain.push('-');
        } else {
            if c.is_uppercase() && was_lower {
                plain.push('-');
            }
            plain.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_means_nothing() {
        for name in
            ["try-lock", "tryLock", "TRY_LOCK", "TryLock", ":redis/try-lock", "lock.tryLock", "try_lock?"]
        {
            assert_eq!((plain(name).as_str(), LOCK.operation(name)), ("try-lock", Some("acquire")), "{name}");
        }
        assert_eq!(COUNTER.operation("addAndGet"), Some("add-and-get"));
        assert_eq!(
            (LOCK.operation("renew"), LOCK.operation(""), LOCK.operation("fly")),
            (Some(""), None, None)
        );
    }

    #[test]
    fn no_name_means_two_operations_of_one_model() {
        for vocabulary in [&REGISTER, &KEY_VALUE, &LOCK, &SEMAPHORE, &COUNTER, &QUEUE, &SET, &TRANSACTIONS] {
            let names =
                vocabulary.operations.iter().flat_map(|(own, others)| [own].into_iter().chain(*others));
            let mut names: Vec<_> = names.collect();
            names.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{}: {names:?}", vocabulary.model);
        }
    }
}
