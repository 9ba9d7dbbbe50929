//! Why a request failed.

pub(super) const LEASE_NOT_FOUND: &str = "etcdserver: requested lease not found";
pub(super) const LEASE_EXISTS: &str = "etcdserver: lease already exists";
/// Of the lock service: the waiter's own key went while it waited.
pub(super) const SESSION_EXPIRED: &str = "mutex: session is expired";

/// Why a request failed, in etcd's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    NoLeader,
    TimedOut,
    /// A clear answer.
    Refused(&'static str),
}

/// A failure as it is sent: gRPC's code, and etcd's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) code: u32,
    pub(super) message: &'static str,
}

impl Failure {
    /// As `api/v3rpc/rpctypes/error.go` of etcd has it.
    pub(super) fn status(self) -> Status {
        let (code, message) = match self {
            Failure::NoLeader => (14, "etcdserver: no leader"),
            Failure::TimedOut => (14, "etcdserver: request timed out"),
            Failure::Refused(SESSION_EXPIRED) => (2, SESSION_EXPIRED),
            Failure::Refused(LEASE_NOT_FOUND) => (5, LEASE_NOT_FOUND),
            Failure::Refused(LEASE_EXISTS) => (9, LEASE_EXISTS),
            Failure::Refused(malformed) => (3, malformed),
        };
        Status { code, message }
    }
}

#[cfg(test)]
mod tests {
    use workloads::clients::etcd::errors::{Shape, refuses};

    use super::*;

    #[test]
    fn the_real_table_knows_every_failure() {
        let is_refused = |failure: Failure, shape| {
            let Status { code, message } = failure.status();
            refuses(code, message, shape)
        };
        for words in
            [SESSION_EXPIRED, LEASE_NOT_FOUND, LEASE_EXISTS, "etcdserver: duplicate key given in txn"]
        {
            assert!(is_refused(Failure::Refused(words), Shape::Begun), "{words}");
        }
        assert!(is_refused(Failure::NoLeader, Shape::Unary));
        assert!(!is_refused(Failure::NoLeader, Shape::Begun), "it may have begun");
        assert!(!is_refused(Failure::TimedOut, Shape::Unary), "it may yet be done");
    }
}
