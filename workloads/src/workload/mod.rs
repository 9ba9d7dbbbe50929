//! Workloads: a client's loop on a recipe and the protected resource, recorded as a history.

mod config;
mod control;

pub use config::{ClientConfig, Rates, Workload};
pub use control::{Control, EventSink, Kept, Phase};
