//! Models by name.

use std::{fmt, str::FromStr};

use linear::models::Lock;
use nemesis::suggest;

/// What a history can be judged against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelName {
    /// Reads and writes.
    Register,
    /// Reads, writes and compare-and-set.
    CasRegister,
    /// Transactions on several registers.
    MultiRegister,
    /// One bit that anybody may clear.
    Mutex,
    /// A lock that only its holder releases.
    OwnedMutex,
    /// The holder may acquire again.
    ReentrantMutex,
    /// Owned, with increasing tokens.
    FencedMutex,
    /// Reentrant, with increasing tokens.
    ReentrantFencedMutex,
    /// So many permits.
    Semaphore(u64),
    /// A number to add to.
    Counter,
    /// First in, first out.
    FifoQueue,
    /// Elements, each in it or not.
    Set,
    /// Texts under keys, with append.
    KeyValue,
}

use ModelName::*;

/// A model's name, and the other names that it goes by.
const NAMES: [(ModelName, &str, &[&str]); 12] = [
    (Register, "register", &["rw-register"]),
    (CasRegister, "cas-register", &["cas", "casregister"]),
    (MultiRegister, "multi-register", &["multiregister", "txn"]),
    (Mutex, "mutex", &["lock", "anonymous-mutex"]),
    (OwnedMutex, "owned-mutex", &["owner-mutex", "owned-lock", "owner-aware-mutex"]),
    (ReentrantMutex, "reentrant-mutex", &["reentrant-lock"]),
    (FencedMutex, "fenced-mutex", &["fenced-lock"]),
    (ReentrantFencedMutex, "reentrant-fenced-mutex", &["reentrant-fenced-lock"]),
    (Counter, "counter", &[]),
    (FifoQueue, "fifo-queue", &["queue", "fifo"]),
    (Set, "set", &[]),
    (KeyValue, "key-value", &["kv", "keyvalue", "key-value-store"]),
];

/// All names, for messages.
pub const LIST: &str = "register, cas-register, multi-register, mutex, owned-mutex, reentrant-mutex, fenced-mutex, \
                        reentrant-fenced-mutex, semaphore:PERMITS, counter, fifo-queue, set, key-value";

impl ModelName {
    /// What the model promises, if it is a lock.
    pub fn lock(self) -> Option<Lock> {
        Some(match self {
            Mutex => Lock::ANONYMOUS,
            OwnedMutex => Lock::OWNED,
            ReentrantMutex => Lock::REENTRANT,
            FencedMutex => Lock::FENCED,
            ReentrantFencedMutex => Lock::REENTRANT_FENCED,
            _ => return None,
        })
    }

    /// How a model begins of which nobody can say otherwise.
    pub fn begins(self) -> Option<&'static str> {
        match self {
            Counter => Some("the counter starts at 0"),
            FifoQueue => Some("the queue starts empty"),
            Set => Some("the set starts empty"),
            KeyValue => Some("every key is missing at first, which reads as nil or as the empty text"),
            _ => None,
        }
    }

    /// Whether something must be known about the values before the first write.
    pub fn has_initial(self) -> bool {
        matches!(self, Register | CasRegister | MultiRegister)
    }
}

/// No model is called so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoModel {
    /// There is none of this name; the hint names the likeliest that was meant.
    #[error("there is no model `{name}`{hint}; there are {LIST}")]
    Unknown {
        /// As it was written.
        name: String,
        /// Empty, or words that follow the name.
        hint: String,
    },
    /// A semaphore without its size.
    #[error("say how many permits the semaphore has, such as semaphore:3")]
    Permits,
}

impl FromStr for ModelName {
    type Err = NoModel;

    fn from_str(text: &str) -> Result<ModelName, NoModel> {
        let name = text.trim().to_ascii_lowercase().replace(['_', ' '], "-");
        if let Some(permits) = name.strip_prefix("semaphore") {
            return semaphore(permits);
        }
        let fits = |(_, own, others): &&(ModelName, &str, &[&str])| *own == name || others.contains(&&*name);
        NAMES.iter().find(fits).map(|(model, ..)| *model).ok_or_else(|| {
            let known = NAMES.iter().map(|(_, own, _)| *own).chain(["semaphore"]);
            NoModel::Unknown { name: text.into(), hint: suggest::hint(&name, known) }
        })
    }
}

fn semaphore(permits: &str) -> Result<ModelName, NoModel> {
    let number = permits.strip_prefix(':').and_then(|permits| permits.parse().ok());
    number.filter(|permits| *permits > 0).map(Semaphore).ok_or(NoModel::Permits)
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Semaphore(permits) => write!(f, "semaphore:{permits}"),
            model => {
                let name = NAMES.iter().find(|(known, ..)| known == model).map_or("", |(_, name, _)| name);
                f.write_str(name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_are_read_and_written() {
        for (model, name, aliases) in NAMES {
            assert_eq!(model.to_string(), name);
            assert!(LIST.contains(name));
            for alias in aliases.iter().chain([&name]) {
                assert_eq!(alias.parse(), Ok(model), "{alias}");
            }
        }
        assert_eq!("Semaphore:3".parse(), Ok(Semaphore(3)));
        assert_eq!(Semaphore(3).to_string(), "semaphore:3");
    }

    #[test]
    fn a_wrong_name_is_told_the_likely_one() {
        let wrong = |name: &str| name.parse::<ModelName>().unwrap_err().to_string();
        assert!(wrong("cas-registre").contains("did you mean `cas-register`?"));
        assert!(wrong("zzz").contains("there are register, cas-register"));
        assert!(wrong("semaphore").contains("semaphore:3") && wrong("semaphore:0").contains("semaphore:3"));
    }
}
