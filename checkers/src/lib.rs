//! Histories of coordination services, and the checks that judge them.
//!
//! Pure and synchronous: no I/O beyond what a caller hands in as bytes, no clock, no async.

pub mod checks;
pub mod history;
pub mod verdict;
