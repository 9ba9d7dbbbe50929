//! Worlds, agents, the run loop, the store and the command line.

#[macro_use]
mod tell;

mod about;
pub mod agent;
pub mod campaigns;
pub mod catalog;
pub mod cells;
pub mod check;
pub mod cli;
pub mod client;
pub mod engine;
pub mod error;
pub mod experiment;
pub mod help;
pub mod images;
mod input;
mod memory;
pub mod own_ticks;
mod owner;
pub mod pressure;
pub mod probe;
pub mod recipe_table;
pub mod recorder;
pub mod resource;
pub mod run;
pub mod shell;
pub mod store;
pub mod stored;
pub mod systems;
pub mod ticker;
pub mod world;
