//! When clients were entitled to believe that they had a lock or led, as the checks count it and reports draw it.

/// The holds of a run.
#[derive(Clone, Debug, Default)]
pub struct Holds {
    /// Names of locks and elections, in order of appearance.
    pub locks: Vec<String>,
    /// In order of begin.
    pub holds: Vec<Held>,
}

/// A time in which a client was entitled to believe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Position in [`Holds::locks`].
    pub lock: usize,
    /// Fencing token or term, where there is one.
    pub token: Option<i128>,
    /// Index of the event that it begins with: the ok of an acquire, of a campaign or of a renewal.
    pub event: u64,
    /// Nanoseconds since the run began.
    pub start_ns: u64,
    /// Nanoseconds since the run began; the last event where it lasts beyond that.
    pub end_ns: u64,
    /// Nanoseconds since the run began: the last deadline that the history tells, else when the last promise
    /// has certainly run out.
    pub promised_ns: Option<u64>,
    /// What ended it.
    pub ending: Ending,
}

/// Why a client no longer believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It invoked release or resign, whatever came of that.
    Released,
    /// It learned of the loss, or said that it gave up.
    Lapsed,
    /// The deadline passed that the last grant or renewal had stated.
    Deadline,
    /// The service refused a renewal: the grant was lost.
    Refused,
    /// It asked for the same lock again.
    Reacquired,
    /// An operation of its client ended indeterminate, and the client did nothing more under the grant.
    Retired,
    /// Its node was killed. The hold is certain only up to the last sign of life before.
    Crashed,
    /// The history ends.
    Open,
}
