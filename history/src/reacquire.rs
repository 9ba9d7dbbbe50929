//! Whether a lock may be granted again to who holds it.

/// What it means that a lock is granted to a client which still holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reacquire {
    /// The same grant is confirmed, as by a renewal.
    Refresh,
    /// The lock is reentrant: it has to be released as often as it was acquired.
    Nested,
    /// It is a second grant, which the lock should have refused.
    #[default]
    Defect,
}
