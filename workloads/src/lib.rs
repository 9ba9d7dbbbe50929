//! Primitives, store clients, recipes and the workloads that drive them.

pub mod api;
pub mod clients;
pub mod env;
pub mod error;
mod lines;
pub mod primitive;
pub mod rates;
pub mod real_env;
pub mod recipes;
pub mod resource;
pub mod workload;
