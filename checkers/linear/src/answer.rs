//! What a checker answers.

use history::verdict::Verdict;
use serde::Serialize;

use crate::limits::Limit;

/// Whether a history is linearizable, with what shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Answer {
    /// It is.
    Valid(Witness),
    /// It is not.
    Invalid(Box<Refutation>),
    /// A limit was reached first.
    Unknown(Shortfall),
}

impl Answer {
    /// Without the evidence.
    pub fn verdict(&self) -> Verdict {
        match self {
            Answer::Valid(_) => Verdict::Valid,
            Answer::Invalid(_) => Verdict::Invalid,
            Answer::Unknown(_) => Verdict::Unknown,
        }
    }
}

/// An order that the model permits.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Witness {
    /// By part: positions in the history, in an order that the model permits. Without indeterminate operations that did
    /// not happen or did not matter. Empty if the verdict was not found by a search.
    pub linearizations: Vec<Vec<u32>>,
    /// Configurations that the search went through; 0 if none was needed.
    pub nodes: u64,
}

/// Why no order can be permitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Refutation {
    /// The operation that cannot be placed: a position in the history.
    pub op: u32,
    /// Operations which, with it, are enough to see that; empty if it takes the whole part.
    pub with: Vec<u32>,
    /// Whether `op` and `with` are wrong by themselves, whatever the other operations did or did not do, each within
    /// its own interval. If so, an empty `with` means that `op` alone is.
    pub suffices: bool,
    /// Where the reason is a count: how many of the last of `with`, together with `op`, show it. 0 if it is none.
    pub seen_at: u16,
    /// In words, where a special checker found it.
    pub reason: Option<String>,
    /// Positions of the part of the history in which it lies.
    pub part: Vec<u32>,
    /// How many determinate operations of the part return before it.
    pub placed: u32,
    /// Determinate operations of the part.
    pub of: u32,
    /// Where the search stood, at most 16, when the operation could not be placed.
    pub configurations: Vec<Configuration>,
    /// Configurations that the search went through; 0 if none was needed.
    pub nodes: u64,
}

/// Where a search can stand before a return.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Configuration {
    /// The state in the model's words.
    pub state: String,
    /// Operations that took effect although they return later: positions in the history.
    pub taken: Vec<u32>,
    /// Indeterminate operations assumed to have taken effect: positions in the history.
    pub used: Vec<u32>,
}

/// How far a search came before it reached a limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shortfall {
    /// What it reached.
    pub limit: Limit,
    /// Parts of the history found valid.
    pub parts_valid: u32,
    /// All parts.
    pub parts: u32,
    /// In the unfinished part that came least far: the operation which it had not managed to place.
    pub op: u32,
    /// How many determinate operations of that part return before it.
    pub placed: u32,
    /// Determinate operations of that part.
    pub of: u32,
    /// Configurations gone through, in all parts.
    pub nodes: u64,
    /// The most memory that the search held at a time.
    pub memory_bytes: u64,
}
