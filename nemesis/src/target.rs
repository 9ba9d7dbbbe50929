//! Whom a fault hits, before anybody knows which node that is.

use std::{fmt, str::FromStr};

use history::node;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::suggest;

/// A symbolic target, resolved when the fault starts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A random server. `one` is read as this.
    Server,
    /// The server that leads now (Redis: the primary).
    Leader,
    /// The client node of a random current holder of a lock.
    Holder,
    /// The client node of a random client that waits for a lock.
    Waiter,
    /// A random client.
    Client,
    /// A random server or client; never the resource.
    Any,
    /// A random greatest set of fewer than half of the servers.
    Minority,
    /// A random smallest set of more than half of the servers.
    Majority,
    /// Every server; for clocks every client too.
    All,
    /// Kills only: the servers in turn, each fault the next one.
    Rolling,
    /// The protected resource.
    Resource,
    /// Partitions only: servers and clients fall into two sides, a minority and a majority of the servers.
    Halves,
    /// Partitions only: the sides are given as lists of nodes.
    Groups,
    /// A node by name: `s2`, `c1`.
    Node(String),
}

impl Target {
    /// The targets that have a word of their own, with it.
    pub const WORDS: [(&'static str, Target); 13] = [
        ("server", Target::Server),
        ("leader", Target::Leader),
        ("holder", Target::Holder),
        ("waiter", Target::Waiter),
        ("client", Target::Client),
        ("any", Target::Any),
        ("minority", Target::Minority),
        ("majority", Target::Majority),
        ("all", Target::All),
        ("rolling", Target::Rolling),
        ("resource", Target::Resource),
        ("halves", Target::Halves),
        ("groups", Target::Groups),
    ];

    /// The node's name, where it is one node by name.
    pub fn named(&self) -> Option<&String> {
        if let Target::Node(name) = self { Some(name) } else { None }
    }

    /// Whether it may be a server.
    pub fn may_be_server(&self) -> bool {
        match self {
            Target::Holder | Target::Waiter | Target::Client | Target::Resource => false,
            Target::Node(name) => node::is_server(name),
            _ => true,
        }
    }

    /// Whether it is one or several servers and nothing else.
    pub fn is_servers(&self) -> bool {
        match self {
            Target::Server | Target::Leader | Target::Minority | Target::Majority | Target::Rolling => true,
            Target::Node(name) => node::is_server(name),
            _ => false,
        }
    }
}

/// A text names no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown target `{written}`: use one of {words} or a node such as s2 or c1{hint}")]
pub struct UnknownTarget {
    written: String,
    words: String,
    hint: String,
}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(text: &str) -> Result<Target, UnknownTarget> {
        let text = text.trim();
        let words = || Target::WORDS.iter().map(|(word, _)| *word);
        if let Some((_, target)) = Target::WORDS.iter().find(|(word, _)| *word == text) {
            return Ok(target.clone());
        }
        match text {
            "one" => Ok(Target::Server),
            _ if is_node_name(text) => Ok(Target::Node(text.into())),
            _ => Err(UnknownTarget {
                written: text.into(),
                words: words().collect::<Vec<_>>().join(", "),
                hint: suggest::hint(text, words()),
            }),
        }
    }
}

/// Letters and then digits.
fn is_node_name(text: &str) -> bool {
    let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
    letters.len() < text.len() && !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_lowercase())
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, Target::WORDS.iter().find(|(_, target)| target == self)) {
            (Target::Node(name), _) => f.write_str(name),
            (_, Some((word, _))) => f.write_str(word),
            (_, None) => Err(fmt::Error),
        }
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Target, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for (word, target) in Target::WORDS {
            assert_eq!(word.parse(), Ok(target.clone()));
            assert_eq!(target.to_string(), word);
        }
        assert_eq!("c12".parse::<Target>().unwrap().to_string(), "c12");
        assert_eq!("one".parse(), Ok(Target::Server));
    }

    #[test]
    fn errors_suggest() {
        let said = |text: &str| text.parse::<Target>().unwrap_err().to_string();
        assert!(
            said("holdr").ends_with("or a node such as s2 or c1; did you mean `holder`?"),
            "{}",
            said("holdr")
        );
        assert!(said("").contains("unknown target ``"));
        assert!("12".parse::<Target>().is_err());
    }
}
