//! Workloads: a client's loop on a recipe and the protected resource, recorded as a history.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod client;
mod config;
mod control;
mod hold;
mod journal;
mod keepalive;
mod kind;
mod resource;
mod rounds;
mod steps;
mod worker;

pub use crate::rates::{BadRates, Rates};
pub use client::run_client;
pub use config::{BadConfig, ClientConfig};
pub use control::{Control, EventSink, Kept, Phase};
pub use kind::Workload;
