//! Checkers for one model each, without a search.
pub mod lock;
