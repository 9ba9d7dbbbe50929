//! Operations that have no completion so far.

use super::At;

/// An operation under way.
pub(super) struct Open {
    /// Its name's number.
    pub(super) f: u32,
    /// Where it is counted.
    pub(super) counted: u32,
    pub(super) at: At,
    pub(super) lock: u32,
    pub(super) kind: Kind,
}

/// What an operation is, with the position of its record.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Acquire(u32),
    Renew(Option<u32>),
    /// A keepalive that was answered in the background; the moment in which the grant was confirmed before.
    Renewed(Option<(u32, At)>),
    /// The release, and the grant.
    Release(Option<u32>, Option<u32>),
    Access(u32),
    Observe,
    Other,
}

impl Kind {
    /// The grant on which it is an operation, and which its completion changes.
    pub(super) fn grant(self) -> Option<u32> {
        match self {
            Kind::Renew(grant) | Kind::Release(_, grant) => grant,
            Kind::Renewed(grant) => grant.map(|(grant, _)| grant),
            Kind::Acquire(_) | Kind::Access(_) | Kind::Observe | Kind::Other => None,
        }
    }
}
