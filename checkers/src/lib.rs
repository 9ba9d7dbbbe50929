//! Histories of coordination services, and the checks that judge them.
//!
//! Pure and synchronous: no I/O beyond what a caller hands in as bytes, no async, and no clock but the one
//! that ends a search at its time limit.

pub mod checks;
pub mod convert;
pub mod engine;
pub mod explain;
pub mod history;
pub mod judge;
pub mod limits;
pub mod model;
pub mod models;
pub mod op;
pub mod pairing;
pub mod referee;
pub mod special;
pub mod verdict;
