//! What ZooKeeper's error codes mean for an operation.
//!
//! Source: `KeeperException.Code` and `PrepRequestProcessor`, `FinalRequestProcessor`, `RequestThrottler` of ZooKeeper 3.8.

use crate::{
    api::zookeeper::Answer,
    error::{OpError, OpResult},
};

pub(super) const SESSION_EXPIRED: i32 = -112;

/// Codes of requests that were refused before a transaction was made of them.
const REFUSED: [(i32, &str); 11] = [
    (-5, "the server could not read the request"),
    (-6, "unimplemented"),
    (-8, "bad arguments"),
    (-102, "not authorized"),
    (-108, "ephemeral nodes have no children"),
    (SESSION_EXPIRED, "session expired"),
    (-114, "invalid ACL"),
    (-115, "authentication failed"),
    (-118, "session moved to another server"),
    (-119, "the server is read-only"),
    (-127, "throttled"),
];

/// An error code as an answer about the tree, or as an outcome. Whatever is not listed is indeterminate:
/// connection loss (-4), the server's own time-outs (-7), its internal errors (-1, -2, -3), …
pub(super) fn classify<T>(code: i32) -> OpResult<Answer<T>> {
    match code {
        -101 => Ok(Answer::NoNode),
        -103 => Ok(Answer::BadVersion),
        -110 => Ok(Answer::NodeExists),
        -111 => Ok(Answer::NotEmpty),
        _ => match REFUSED.iter().find(|row| row.0 == code) {
            Some((_, why)) => Err(OpError::Definite(format!("{why} ({code})"))),
            None => Err(OpError::Indeterminate(format!("ZooKeeper error {code}"))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row() {
        for (code, why) in REFUSED {
            assert_eq!(classify::<()>(code), Err(OpError::Definite(format!("{why} ({code})"))));
        }
        assert_eq!(classify::<()>(-101), Ok(Answer::NoNode));
        assert_eq!(classify::<()>(-103), Ok(Answer::BadVersion));
        assert_eq!(classify::<()>(-110), Ok(Answer::NodeExists));
        assert_eq!(classify::<()>(-111), Ok(Answer::NotEmpty));
    }

    #[test]
    fn the_unknown_is_indeterminate() {
        for code in [-1, -2, -3, -4, -7, -100, -999, 5] {
            assert!(matches!(classify::<()>(code), Err(OpError::Indeterminate(_))), "{code}");
        }
    }
}
