//! What ZooKeeper's error codes mean for an operation.
//!
//! Source: `KeeperException.Code` and `PrepRequestProcessor`, `FinalRequestProcessor`, `RequestThrottler` of ZooKeeper 3.8.

use crate::{
    api::zookeeper::Answer,
    error::{OpError, OpResult},
};

/// Codes that somebody makes or looks for.
#[expect(missing_docs, reason = "they bear the names of `KeeperException.Code`")]
pub mod code {
    pub const BAD_ARGUMENTS: i32 = -8;
    pub const NO_NODE: i32 = -101;
    pub const BAD_VERSION: i32 = -103;
    pub const NO_CHILDREN_FOR_EPHEMERALS: i32 = -108;
    pub const NODE_EXISTS: i32 = -110;
    pub const NOT_EMPTY: i32 = -111;
    pub const SESSION_EXPIRED: i32 = -112;
    pub const SESSION_MOVED: i32 = -118;
}

/// Codes of requests that were refused before a transaction was made of them.
const REFUSED: [(i32, &str); 11] = [
    (-5, "the server could not read the request"),
    (-6, "unimplemented"),
    (code::BAD_ARGUMENTS, "bad arguments"),
    (-102, "not authorized"),
    (code::NO_CHILDREN_FOR_EPHEMERALS, "ephemeral nodes have no children"),
    (code::SESSION_EXPIRED, "session expired"),
    (-114, "invalid ACL"),
    (-115, "authentication failed"),
    (code::SESSION_MOVED, "session moved to another server"),
    (-119, "the server is read-only"),
    (-127, "throttled"),
];

/// An error code as an answer about the tree, or as an outcome. Whatever is not listed is indeterminate:
/// connection loss (-4), the server's own time-outs (-7), its internal errors (-1, -2, -3), …
pub fn classify<T>(code: i32) -> OpResult<Answer<T>> {
    match code {
        code::NO_NODE => Ok(Answer::NoNode),
        code::BAD_VERSION => Ok(Answer::BadVersion),
        code::NODE_EXISTS => Ok(Answer::NodeExists),
        code::NOT_EMPTY => Ok(Answer::NotEmpty),
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
