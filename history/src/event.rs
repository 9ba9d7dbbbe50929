use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One line of a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Dense position in the finished history; only the recorder assigns it.
    #[serde(default)]
    pub index: u64,
    /// Nanoseconds since the run began, read from a monotonic clock.
    pub time: u64,
    /// Who: a client's process number, or the nemesis.
    pub process: Process,
    /// The node that the process ran on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// What kind of event this is.
    #[serde(rename = "type")]
    pub kind: EventKind,
    /// The operation: `acquire`, `release`, `write`, `start-pause`, …
    pub f: String,
    /// Arguments of an invocation, results of a completion.
    #[serde(default)]
    pub value: Value,
    /// Why a `fail` or `info` did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// As in Jepsen: after `invoke` exactly one of the others; after `info` the process number is retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// The operation is about to be sent.
    Invoke,
    /// It happened.
    Ok,
    /// It certainly did not happen.
    Fail,
    /// It may or may not have happened, now or later.
    Info,
}

/// A logical single-threaded client, or the nemesis (written `"nemesis"`), which tells of faults, phases, exits and
/// stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Process {
    /// A client's process number.
    Client(u32),
    /// The fault schedule.
    Nemesis,
}

impl Serialize for Process {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Process::Client(number) => serializer.serialize_u32(*number),
            Process::Nemesis => serializer.serialize_str("nemesis"),
        }
    }
}

impl<'de> Deserialize<'de> for Process {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Number(n) => n.as_u64().and_then(|n| u32::try_from(n).ok()).map(Process::Client),
            Value::String(name) if name == "nemesis" => Some(Process::Nemesis),
            _ => None,
        }
        .ok_or_else(|| serde::de::Error::custom("a process is a number from 0 to 4294967295 or \"nemesis\""))
    }
}
