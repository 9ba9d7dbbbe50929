//! Workloads: a client's loop on a recipe and the protected resource, recorded as a history.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod client;
mod config;
mod control;
mod hold;
mod journal;
mod keepalive;
mod resource;
mod rounds;
mod worker;

pub use crate::rates::{BadRates, Rates, Workload};
pub use client::run_client;
pub use config::{BadConfig, ClientConfig};
pub use control::{Control, EventSink, Kept, Phase};
