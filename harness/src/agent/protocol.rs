//! What the harness and a node's agent say to each other, over the container's attached stdin and stdout.
//!
//! Down: one [`Request`] a line, as JSON; an empty line is a sign of life. Up: lines that begin with a tag byte, see [`Tag`].

use std::net::{Ipv4Addr, SocketAddrV4};

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
    /// first one's; with `"running":true` if they ran already, and then nothing is started.
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
    /// Opens a TCP connection to each peer and closes it. Answer: the peers that were not reached, with the reason:
    /// `{"198.18.0.5:7000":"no answer"}`.
    Reach {
        /// Addresses and ports.
        peers: Vec<SocketAddrV4>,
        /// What counts as reached.
        wanted: Reply,
        /// It is tried for so long, and a few times at least.
        within_ms: u64,
    },
    /// SIGSTOP to the processes that run and their descendants. Answer, here and below: what shows that it took effect;
    /// `{"state":"gone","pids":[]}` where none runs.
    Pause,
    /// SIGCONT to the processes and their descendants.
    Resume,
    /// SIGKILL to the processes and their descendants, reaped before the answer.
    Kill,
    /// Drops packets from or to peers. Asked again for the same fault, it changes nothing.
    Cut {
        /// Names the rules.
        fault: u32,
        /// Addresses on the other side.
        peers: Vec<Ipv4Addr>,
        /// `in`, `out` or `both`.
        direction: nemesis::verbs::Direction,
    },
    /// Removes what `Cut` made; answers with the final counters, also when asked again.
    Mend {
        /// Names the rules.
        fault: u32,
    },
    /// Holds packets from or to peers for a while each. Asked again for the same fault, it changes nothing.
    Shape {
        /// Names the rules.
        fault: u32,
        /// Addresses on the other side.
        peers: Vec<Ipv4Addr>,
        /// `in`, `out` or `both`.
        direction: nemesis::verbs::Direction,
        /// For how long.
        delay: nemesis::verbs::Delay,
    },
    /// Ends what `Shape` began, and lets go at once what it holds; answers with what it held, also when asked again.
    Unshape {
        /// Names the rules.
        fault: u32,
    },
    /// Tries what `Shape` takes, on no packet. An error says what the kernel lacks.
    CanShape,
    /// Moves the wall clock of the node's processes, and of those started later, by this much from the truth.
    Clock {
        /// Nanoseconds; 0 is back to the truth.
        offset_ns: i64,
    },
    /// Begins to tick: from now on each tick that comes later than the limit is told as a [`Message::Stall`]. Answer:
    /// `{"pressure":…}`, see [`crate::pressure`].
    Watch {
        /// How much later than due a tick may come, in milliseconds.
        limit_ms: u64,
        /// From one tick to the next, in milliseconds.
        every_ms: u64,
    },
    /// Ends the ticks; every stall was told before the answer, which is as that of `Watch`.
    Unwatch,
}

/// What shows that packets go to a peer and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// It accepts the connection.
    Accepted,
    /// It accepts or refuses it.
    Any,
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
    /// The node stood still, and no fault had halted its processes.
    Stall {
        /// When a tick was due, CLOCK_MONOTONIC in nanoseconds.
        due_ns: u64,
        /// When it came, likewise.
        came_ns: u64,
    },
    /// The agent ends, because it heard nothing for so long.
    Unheard {
        /// CLOCK_MONOTONIC, nanoseconds.
        now_ns: u64,
        /// Milliseconds.
        for_ms: u64,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Written, read and written again it is the same line.
    fn round_trip<T: Serialize + serde::de::DeserializeOwned>(line: &str) {
        let read: T = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), line);
    }

    #[test]
    fn ticks_are_asked_for_and_stalls_told_in_one_line_each() {
        round_trip::<Request>(r#"{"id":7,"command":{"watch":{"limit_ms":100,"every_ms":20}}}"#);
        round_trip::<Request>(r#"{"id":8,"command":"unwatch"}"#);
        round_trip::<Message>(r#"{"stall":{"due_ns":2016860675203,"came_ns":2017860675204}}"#);
    }
}
