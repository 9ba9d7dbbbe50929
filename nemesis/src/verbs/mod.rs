//! What a world can do to a node. What a fault means is put together from these verbs, once for all worlds, in
//! the files of [`crate::kind`].

mod cut;
mod shape;
mod shown;

use async_trait::async_trait;
use serde::Serialize;

pub use self::{
    cut::{Cut, Direction},
    shape::{Delay, Held, HeldWays, RoundTrip, Shaping, Unshaped},
    shown::{
        ClockSet, Cutting, Dead, Dropped, Going, Gone, Killed, Mended, NextHasIt, Paused, RanAlready, Reach,
        Resumed, Shown, Sigkill, Started, Stopped,
    },
};

/// The verbs of a world's nodes.
///
/// Each can be given again, because an answer may be lost: what is done already is left as it is. It returns when it is
/// done, and what it shows is read from the node itself.
#[async_trait(?Send)]
pub trait Verbs {
    /// Stops the node's processes.
    async fn pause(&self, node: &str) -> Answer<Paused>;
    /// Lets them go on.
    async fn resume(&self, node: &str) -> Answer<Resumed>;
    /// Kills the node's processes.
    async fn kill(&self, node: &str) -> Answer<Killed>;
    /// Starts the node's processes; what runs is left alone. A client that was killed goes on under the process number
    /// `process`.
    async fn start(&self, node: &str, process: Option<u32>) -> Answer<Started>;
    /// Drops packets between a node and others by the rules of this number, all of which come into force at once.
    async fn cut(&self, rules: u32, cut: &Cut) -> Answer<Cutting>;
    /// Removes rules from a node. Given again, it shows the counters of the first time.
    async fn mend(&self, rules: u32, node: &str) -> Answer<Mended>;
    /// Holds the packets that rules of this number are for, by as much as `delay` says. Rules of different numbers add up.
    async fn shape(&self, rules: u32, of: &Cut, delay: Delay) -> Answer<Shaping>;
    /// Removes such rules from a node, and lets go at once what they hold. Given again, it shows what it showed the first
    /// time.
    async fn unshape(&self, rules: u32, node: &str) -> Answer<Unshaped>;
    /// Fails, with the reason, where packets cannot be held.
    async fn can_shape(&self) -> Result<(), NotDone>;
    /// Sets the wall clock of the node's processes, and of those that are started later, so many nanoseconds off the
    /// truth.
    async fn set_clock(&self, node: &str, offset_ns: i64) -> Answer<ClockSet>;

    /// Whether a fault's verbs are given node by node, each once the one before is done; otherwise side by side.
    fn in_turn(&self) -> bool {
        false
    }
}

/// A verb that was done.
#[derive(Clone, Debug)]
pub struct Done<T> {
    /// When, in nanoseconds since the run began.
    pub at: u64,
    /// What shows it.
    pub shown: T,
}

/// What comes of a verb.
pub type Answer<T> = Result<Done<T>, NotDone>;

/// A verb that may or may not have been done, with the reason. As evidence it is `{"error":…}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{error}")]
pub struct NotDone {
    error: String,
}

impl From<String> for NotDone {
    fn from(error: String) -> NotDone {
        NotDone { error }
    }
}

impl<T> Done<T> {
    /// The same, shown otherwise.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Done<U> {
        Done { at: self.at, shown: change(self.shown) }
    }
}
