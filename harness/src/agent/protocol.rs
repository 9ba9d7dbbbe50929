//! What the harness and a node's agent say to each other, over the container's attached stdin and stdout.
//!
//! Down: one [`Request`] a line, as JSON. Up: lines that begin with a tag byte, see [`Tag`].

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// First byte of each line that comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// A [`Message`] of the agent.
    Agent,
    /// A history event, as the client process wrote it.
    Event,
    /// An entry of the protected resource's log.
    Resource,
    /// What a client process has to say about itself (see `client::Status`).
    Status,
    /// A line of the node's process' own log.
    Log,
}

impl Tag {
    /// The byte that stands for the tag.
    pub const fn byte(self) -> u8 {
        match self {
            Tag::Agent => b'A',
            Tag::Event => b'E',
            Tag::Resource => b'R',
            Tag::Status => b'S',
            Tag::Log => b'L',
        }
    }

    /// The tag of a line's first byte.
    pub fn of(byte: u8) -> Option<Tag> {
        [Tag::Agent, Tag::Event, Tag::Resource, Tag::Status, Tag::Log]
            .into_iter()
            .find(|tag| tag.byte() == byte)
    }
}

/// A numbered command; exactly one [`Message::Reply`] answers it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// Chosen by the harness.
    pub id: u64,
    /// What to do.
    pub command: Command,
}

/// What an agent can be asked to do.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Writes a file of the node, making its folder.
    Write {
        /// Absolute path in the container.
        path: String,
        /// The whole content.
        content: String,
    },
    /// Starts the node's processes, one from each list: the first there that fits the image. Answer: `{"pid":…}`, the
    /// first one's.
    Start(Vec<Vec<Program>>),
    /// Writes a line to the first process' stdin.
    Input(String),
    /// Runs a program to its end. Answer: `{"status":0,"stdout":"…","stderr":"…"}`.
    Exec {
        /// Program and arguments.
        argv: Vec<String>,
        /// After this it is killed and the answer is an error.
        timeout_ms: u64,
    },
    /// SIGSTOP to the processes and their descendants.
    Pause,
    /// SIGCONT to the processes and their descendants.
    Resume,
    /// SIGKILL to the processes and their descendants, reaped before the answer.
    Kill,
    /// Drops packets from or to peers.
    Cut {
        /// Names the rules.
        fault: u32,
        /// Addresses on the other side.
        peers: Vec<Ipv4Addr>,
        /// `in`, `out` or `both`.
        direction: nemesis::kind::partition::Direction,
    },
    /// Removes what `Cut` made; answers with the final counters.
    Mend {
        /// Names the rules.
        fault: u32,
    },
    /// Moves the wall clock of the node's processes, and of those started later, by this much from the truth.
    Clock {
        /// Nanoseconds; 0 is back to the truth.
        offset_ns: i64,
    },
}

/// A process that the agent starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// A file that must exist; `*` stands for any characters but `/`.
    pub when: Option<String>,
    /// Absolute paths, or names to look up in PATH; the first that exists is taken.
    pub candidates: Vec<String>,
    /// Arguments.
    pub args: Vec<String>,
    /// Java's classpath, for the environment. A `*` inside a folder's name is resolved, a last one is Java's own.
    pub classpath: Option<String>,
    /// Added to the image's environment.
    pub env: Vec<(String, String)>,
    /// Working directory, made if missing.
    pub cwd: Option<String>,
    /// Whether its stdout carries tagged lines (our own processes) or is a log (servers).
    pub tagged: bool,
    /// First line for its stdin.
    pub input: Option<String>,
}

/// What an agent says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// First line of an agent.
    Hello {
        /// Our version; harness and agent must be the same.
        version: String,
        /// CLOCK_MONOTONIC, nanoseconds.
        now_ns: u64,
        /// Which kernel this is: equal ids share a monotonic clock.
        boot_id: String,
    },
    /// Answer to a request.
    Reply {
        /// The request's number.
        id: u64,
        /// CLOCK_MONOTONIC just after it was done, nanoseconds.
        now_ns: u64,
        /// What came of it.
        result: Result<Map<String, Value>, String>,
    },
    /// A process of the node ended without having been asked to.
    Exit {
        /// CLOCK_MONOTONIC, nanoseconds.
        now_ns: u64,
        /// Its pid in the container.
        pid: u32,
        /// In words: exit status or signal.
        status: String,
    },
}
