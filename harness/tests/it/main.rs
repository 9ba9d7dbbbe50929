//! What needs neither an engine nor root: the command line on files and in the simulation.

#[path = "../support/mod.rs"]
mod support;

mod agent;
mod bad_input;
mod check;
mod elsewhere;
mod field;
mod flaky_faults;
mod help;
mod junit;
mod older_runs;
mod prevented;
mod readme;
mod sim_cli;
mod sim_recipes;
mod sim_sentinel;
mod wrong_types;
