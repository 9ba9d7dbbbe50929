//! Worlds, agents, the run loop, the store and the command line.

pub mod sim;
