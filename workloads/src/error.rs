//! How an operation failed.

/// Definite becomes `fail` in the history, indeterminate `info`. When in doubt: indeterminate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpError {
    /// The operation certainly had no effect and never will.
    #[error("{0}")]
    Definite(String),
    /// It may have had, or may yet have, its effect: time-outs, lost connections, errors nobody has classified.
    #[error("{0}")]
    Indeterminate(String),
}

/// Result of an operation on a store or of a primitive.
pub type OpResult<T> = Result<T, OpError>;
