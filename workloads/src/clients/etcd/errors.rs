//! Which failures of a gRPC call to etcd mean that nothing was done.
//!
//! Sources: `api/v3rpc/rpctypes/error.go`, `server/etcdserver/api/v3rpc/interceptor.go` and `server/etcdserver/apply.go`
//! of etcd 3.5 for the messages, <https://grpc.github.io/grpc/core/md_doc_statuscodes.html> for the codes,
//! RFC 9113 section 8.7 for refused streams.

use crate::error::OpError;

/// How a call uses its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One request, one answer.
    Unary,
    /// The server may have begun before it fails: streams, and calls that wait inside the server (lock, campaign).
    Begun,
}

/// What the server's status says about a request that it has read.
struct Row {
    code: u32,
    /// Beginning of the message; empty for all of the code.
    message: &'static str,
    /// Whether it holds also for a call that had begun.
    begun: bool,
}

/// Statuses given before anything is proposed to the log, or in place of applying it.
const REFUSED: [Row; 16] = [
    // The request is malformed: empty key, duplicate key in a transaction, too many operations, too large.
    Row { code: 3, message: "etcdserver: ", begun: true },
    Row { code: 5, message: "etcdserver: requested lease not found", begun: true },
    Row { code: 7, message: "etcdserver: ", begun: true },
    Row { code: 8, message: "etcdserver: too many requests", begun: true },
    Row { code: 8, message: "etcdserver: mvcc: database space exceeded", begun: true },
    Row { code: 9, message: "etcdserver: lease already exists", begun: true },
    Row { code: 9, message: "etcdserver: rpc not supported for learner", begun: true },
    Row { code: 14, message: "etcdserver: rpc not supported for learner", begun: true },
    Row { code: 11, message: "etcdserver: mvcc: required revision has been compacted", begun: true },
    Row { code: 11, message: "etcdserver: mvcc: required revision is a future revision", begun: true },
    // The service is not there.
    Row { code: 12, message: "", begun: true },
    // Asked for by the `hasleader` metadata: refused before the call, but a stream also in its midst.
    Row { code: 14, message: "etcdserver: no leader", begun: false },
    Row { code: 16, message: "etcdserver: ", begun: true },
    // Of the lock service: our key went with our lease while we waited.
    Row { code: 2, message: "mutex: session is expired", begun: true },
    // Of the election service, which only reads.
    Row { code: 2, message: "election: no leader", begun: true },
    Row { code: 2, message: "election: not leader", begun: true },
];

/// Whether a gRPC status means that nothing was done. Whatever is not listed may have been: time-outs of the server, a
/// leader that changed, a server that stops, …
pub fn refuses(code: u32, message: &str, shape: Shape) -> bool {
    let matches = |row: &&Row| row.code == code && message.starts_with(row.message);
    REFUSED.iter().find(matches).is_some_and(|row| row.begun || shape == Shape::Unary)
}

/// A gRPC status as an outcome.
pub(super) fn classify(code: u32, message: &str, shape: Shape) -> OpError {
    let text = format!("{} ({code}): {message}", name(code));
    if refuses(code, message, shape) { OpError::Definite(text) } else { OpError::Indeterminate(text) }
}

/// A failure of the connection after the request was given to it.
pub(super) fn broken(server: &str, error: &h2::Error) -> OpError {
    let text = format!("the connection to {server} broke: {error}");
    match error.reason() {
        Some(h2::Reason::REFUSED_STREAM) => OpError::Definite(text),
        _ => OpError::Indeterminate(text),
    }
}

fn name(code: u32) -> &'static str {
    const NAMES: [&str; 17] = [
        "ok",
        "cancelled",
        "unknown",
        "invalid argument",
        "deadline exceeded",
        "not found",
        "already exists",
        "permission denied",
        "resource exhausted",
        "failed precondition",
        "aborted",
        "out of range",
        "unimplemented",
        "internal",
        "unavailable",
        "data loss",
        "unauthenticated",
    ];
    NAMES.get(code as usize).unwrap_or(&"no known code")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row() {
        for row in &REFUSED {
            let message = format!("{} and more", row.message);
            assert!(matches!(classify(row.code, &message, Shape::Unary), OpError::Definite(_)), "{message}");
            let begun = matches!(classify(row.code, &message, Shape::Begun), OpError::Definite(_));
            assert_eq!(begun, row.begun, "{message}");
            assert!(
                matches!(classify(13, &message, Shape::Unary), OpError::Indeterminate(_)),
                "code 13: {message}"
            );
        }
    }

    #[test]
    fn the_unknown_is_indeterminate() {
        let messages = [
            (14, "etcdserver: request timed out"),
            (14, "etcdserver: request timed out, possibly due to previous leader failure"),
            (14, "etcdserver: request timed out, possibly due to connection lost"),
            (14, "etcdserver: leader changed"),
            (14, "etcdserver: server stopped"),
            (14, "etcdserver: unhealthy cluster"),
            (15, "etcdserver: corrupt cluster"),
            (1, "context canceled"),
            (4, "context deadline exceeded"),
            (2, "something new"),
            (99, ""),
        ];
        for (code, message) in messages {
            assert!(
                matches!(classify(code, message, Shape::Unary), OpError::Indeterminate(_)),
                "{code} {message}"
            );
        }
    }

    #[test]
    fn a_refused_stream_was_not_served() {
        assert!(matches!(broken("s1", &h2::Reason::REFUSED_STREAM.into()), OpError::Definite(_)));
        for reason in [h2::Reason::CANCEL, h2::Reason::INTERNAL_ERROR, h2::Reason::NO_ERROR] {
            assert!(matches!(broken("s1", &reason.into()), OpError::Indeterminate(_)), "{reason:?}");
        }
    }
}
