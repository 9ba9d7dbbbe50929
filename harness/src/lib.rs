//! Worlds, agents, the run loop, the store and the command line.

#[macro_use]
mod tell;

pub mod agent;
pub mod check;
pub mod cli;
pub mod client;
pub mod error;
pub mod experiment;
pub mod images;
pub mod probe;
pub mod recorder;
pub mod resource;
pub mod run;
pub mod sim;
pub mod store;
pub mod stored;
pub mod systems;
pub mod world;
