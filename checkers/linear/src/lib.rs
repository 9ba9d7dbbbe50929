//! Is there an order of a history's operations that a model permits?
//!
//! Pure and synchronous: no I/O, no async, and no clock but the one that ends a search at its time limit.

pub mod answer;
pub mod convert;
pub mod engine;
pub mod explain;
pub mod judge;
pub mod limits;
pub mod model;
pub mod models;
pub mod op;
pub mod pairing;
pub mod referee;
pub mod special;
