//! Many simulated runs: one of them, all seeds of an experiment, and the smallest that still fails.

pub mod explore;
pub mod shrink;
pub mod simulate;
