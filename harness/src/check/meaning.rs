//! What others say that their histories mean.

use linear::{
    convert::{Datum, LockValue, NilRead},
    op::FailMeans,
};

/// What may be said on the command line about the meaning of a history.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    /// What a failed compare-and-set, acquire, release or dequeue says; else nothing.
    pub failed: Option<FailMeans>,
    /// What a read of `nil` says; else nothing.
    pub nil_read: Option<NilRead>,
    /// What registers start with; else whatever makes the history linearizable.
    pub initial: Option<Datum>,
    /// What the values of acquires and releases are; else what they certainly are.
    pub lock_value: Option<LockValue>,
}
