//! What each verb shows, in the words that histories have for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::cut::Direction;

/// What shows that a verb was done.
pub trait Shown: Serialize {
    /// Whether it touched anything: a process, a packet.
    fn touched(&self) -> bool;

    /// Whether it ended the node's processes.
    fn ended(&self) -> bool {
        false
    }
}

/// The node has no process to do it to: `{"state":"gone","pids":[]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gone {
    state: GoneWord,
    pids: [u32; 0],
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum GoneWord {
    #[default]
    Gone,
}

/// What was done to the node's processes, if it has any.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reach<T> {
    /// It has none.
    Nobody(Gone),
    /// It has.
    Processes(T),
}

/// Of a pause: `{"state":"T","pids":[12,15],"threads":9}`.
pub type Paused = Reach<Stopped>;

/// Processes that stand still.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// As `/proc` has it: `T`.
    pub state: char,
    /// Who.
    pub pids: Vec<u32>,
    /// How many threads they have together.
    pub threads: u64,
}

/// Of their going on: `{"state":"S","pids":[12,15]}`.
pub type Resumed = Reach<Going>;

/// Processes that go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Going {
    /// As `/proc` has it; that of the first.
    pub state: char,
    /// Who.
    pub pids: Vec<u32>,
}

/// Of a kill: `{"pid":12,"signal":"SIGKILL"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Killed {
    /// Who died, the first of them.
    #[serde(flatten)]
    pub process: Reach<Dead>,
    /// Records that the node's disk lost, where a kill is a power cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsynced_lost: Option<usize>,
}

/// A process that was killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dead {
    /// Its number.
    pub pid: u32,
    /// What it died of.
    pub signal: Sigkill,
}

/// The one signal that kills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sigkill {
    /// It.
    #[default]
    #[serde(rename = "SIGKILL")]
    Sigkill,
}

/// Of a start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Started {
    /// `{"new_pid":35}`
    Anew {
        /// The new process, the first of them.
        new_pid: u32,
    },
    /// `{"pid":12,"note":"its process ran already"}`
    Before {
        /// The process that runs.
        pid: u32,
        /// In words.
        note: RanAlready,
    },
}

/// Why nothing was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub enum RanAlready {
    /// Of a kill that failed.
    #[default]
    #[serde(rename = "its process ran already")]
    RanAlready,
}

/// Of rules: `{"rules_for":["198.18.0.10"],"direction":"both"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cutting {
    /// Whose packets are dropped.
    pub rules_for: Vec<String>,
    /// Which way, as seen by the node that has the rules.
    pub direction: Direction,
}

/// Of the end of rules: `{"packets":7,"dropped":{"198.18.0.10":{"packets_in":7,"packets_out":0}}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mended {
    /// All packets dropped.
    pub packets: u64,
    /// The same by peer.
    pub dropped: BTreeMap<String, Dropped>,
}

/// What the rules of one peer have dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Packets from the peer.
    pub packets_in: u64,
    /// Packets to the peer.
    pub packets_out: u64,
    /// Bytes from the peer, where packets have headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_in: Option<u64>,
    /// Bytes to the peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_out: Option<u64>,
}

/// Of a clock that was set: `{"offset_ms":3000.0,"pids":[12],"observed_ms":[3000.01]}`; of one that nobody has yet, a
/// note in place of what was observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockSet {
    /// Where it was put; a whole number where clocks are exact.
    pub offset_ms: Number,
    /// The processes that have it.
    pub pids: Vec<u32>,
    /// Where each of them has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_ms: Option<Vec<Number>>,
    /// Why nobody has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<NextHasIt>,
}

/// Why a clock moved nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NextHasIt {
    /// The node's process was dead.
    #[default]
    #[serde(rename = "its process does not run; the next one will have it")]
    NextHasIt,
}

impl ClockSet {
    /// Nobody has it yet.
    pub fn for_the_next(offset_ms: Number) -> ClockSet {
        ClockSet { offset_ms, pids: Vec::new(), observed_ms: None, note: Some(NextHasIt::NextHasIt) }
    }
}

impl<T> Reach<T> {
    /// There is no process.
    pub fn nobody() -> Reach<T> {
        Reach::Nobody(Gone::default())
    }

    fn is_somebody(&self) -> bool {
        matches!(self, Reach::Processes(_))
    }
}

impl Shown for Paused {
    fn touched(&self) -> bool {
        self.is_somebody()
    }
}

impl Shown for Resumed {
    fn touched(&self) -> bool {
        self.is_somebody()
    }
}

impl Shown for Killed {
    fn touched(&self) -> bool {
        self.process.is_somebody()
    }

    fn ended(&self) -> bool {
        self.touched()
    }
}

impl Shown for Started {
    fn touched(&self) -> bool {
        matches!(self, Started::Anew { .. })
    }
}

impl Shown for Cutting {
    /// Whether a packet met them is seen when they go.
    fn touched(&self) -> bool {
        true
    }
}

impl Shown for Mended {
    fn touched(&self) -> bool {
        self.packets > 0
    }
}

impl Shown for ClockSet {
    fn touched(&self) -> bool {
        !self.pids.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;

    /// As an agent writes it, so a history has it.
    fn keeps<T: Shown + DeserializeOwned>(line: &str) -> T {
        let shown: T = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&shown).unwrap(), line);
        shown
    }

    const GONE: &str = r#"{"state":"gone","pids":[]}"#;

    #[test]
    fn processes_are_touched_where_there_are_some() {
        assert!(keeps::<Paused>(r#"{"state":"T","pids":[8,9],"threads":12}"#).touched());
        assert!(keeps::<Resumed>(r#"{"state":"S","pids":[8]}"#).touched());
        assert!(keeps::<Killed>(r#"{"pid":8,"signal":"SIGKILL"}"#).ended());
        let lost = r#"{"pid":8,"signal":"SIGKILL","unsynced_lost":4}"#;
        assert_eq!(keeps::<Killed>(lost).unsynced_lost, Some(4));
        assert!(!keeps::<Paused>(GONE).touched() && !keeps::<Resumed>(GONE).touched());
        assert!(!keeps::<Killed>(GONE).touched());
    }

    #[test]
    fn a_clock_keeps_every_digit() {
        let moved = r#"{"offset_ms":3000.0,"pids":[12],"observed_ms":[3000.01]}"#;
        assert!(keeps::<ClockSet>(moved).touched());
        assert!(keeps::<ClockSet>(r#"{"offset_ms":-1500,"pids":[1],"observed_ms":[-1500]}"#).touched());
        let nobody =
            r#"{"offset_ms":1000,"pids":[],"note":"its process does not run; the next one will have it"}"#;
        assert_eq!(keeps::<ClockSet>(nobody), ClockSet::for_the_next(1000.into()));
    }

    #[test]
    fn rules_show_at_their_end_whether_they_met_a_packet() {
        assert!(keeps::<Cutting>(r#"{"rules_for":["198.18.0.10"],"direction":"in"}"#).touched());
        let real = r#"{"packets":3,"dropped":{"198.18.0.10":{"packets_in":3,"packets_out":0,"bytes_in":180,"bytes_out":0}}}"#;
        assert!(keeps::<Mended>(real).touched());
        assert!(!keeps::<Mended>(r#"{"packets":0,"dropped":{}}"#).touched());
    }

    #[test]
    fn a_start_says_whether_it_was_one() {
        let shown = |started: Started| serde_json::to_string(&started).unwrap();
        assert_eq!(shown(Started::Anew { new_pid: 35 }), r#"{"new_pid":35}"#);
        let ran = Started::Before { pid: 8, note: RanAlready::default() };
        assert!(!ran.touched());
        assert_eq!(shown(ran), r#"{"pid":8,"note":"its process ran already"}"#);
    }
}
