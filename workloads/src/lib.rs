//! Primitives, store clients, recipes and the workloads that drive them.

pub mod api;
pub mod env;
pub mod error;
pub mod primitive;
pub mod workload;
