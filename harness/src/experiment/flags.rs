//! What is said on the command line about an experiment.

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use workloads::workload::Workload;

use super::{Expectation, On};
use crate::numbers;

/// What is said on the command line; it goes before what the file says.
#[derive(Clone, Debug, Default, Args)]
pub struct Flags {
    /// Which world to run in
    #[arg(long, value_enum)]
    pub on: Option<On>,
    /// Faults to inject, such as pause:holder,clock:server; none for none
    #[arg(long, value_name = "KIND[:TARGET],…")]
    pub faults: Option<String>,
    /// Number of servers
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = numbers::count)]
    pub nodes: Option<u32>,
    /// Number of clients
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = numbers::count)]
    pub clients: Option<u32>,
    /// Time to live of a grant [default: 2s]
    #[arg(long, allow_hyphen_values = true, value_name = "DURATION")]
    pub ttl: Option<String>,
    /// Length of the phase with faults [default: 30s]
    #[arg(long, allow_hyphen_values = true, value_name = "DURATION")]
    pub time: Option<String>,
    /// Tries a second that each client aims at
    #[arg(long, allow_negative_numbers = true, value_name = "R", value_parser = numbers::rate)]
    pub rate: Option<f64>,
    /// Decides everything that is left to chance on our side
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = numbers::seed)]
    pub seed: Option<u64>,
    /// Version of the system (`fencepost images`)
    #[arg(long, value_name = "V")]
    pub version: Option<String>,
    /// Any image instead
    #[arg(long, value_name = "REF")]
    pub image: Option<String>,
    /// Drive the recipe by another workload
    #[arg(long, value_parser = workload())]
    pub workload: Option<Workload>,
    /// A setting of the recipe or the system; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// What the verdict is expected to be; the exit code tells whether it is
    #[arg(long, value_enum)]
    pub expect: Option<Expectation>,
}

/// A workload by its name.
pub fn workload() -> impl TypedValueParser<Value = Workload> {
    let names = PossibleValuesParser::new(Workload::ALL.map(Workload::name));
    names.try_map(|name| Workload::named(&name).ok_or("there is no such workload"))
}
