//! What is too little for a run, and what is too much.

use std::ops::RangeInclusive;

use super::{Flags, Place};
use crate::{
    error::Result,
    experiment::{
        ExperimentFile,
        given::{Given, given},
    },
};

/// Number of clients: an address range of a run's network.
pub const CLIENTS: RangeInclusive<u32> = 1..=100;
/// Time to live, milliseconds. Below it is lost in the noise of scheduling; and every lock is waited for so long at the
/// end of a run.
pub const TTL: Lengths = Lengths { ms: 100..=HOUR_MS, of: "" };
/// Length, milliseconds. A run without faults still needs some time to see contention; one of a day has a history of
/// gigabytes.
pub const TIME: Lengths = Lengths { ms: 500..=24 * HOUR_MS, of: "" };
/// Length of a simulated run, milliseconds. It is held in memory, and more seeds show more than a longer run.
pub const TIME_SIMULATED: Lengths = Lengths { ms: 500..=4 * HOUR_MS, of: " in the simulation" };
/// Characters of an experiment's name, which becomes a folder's.
pub const NAME_MAX: usize = 120;

const HOUR_MS: u64 = 3_600_000;

/// How long something may be.
pub struct Lengths {
    /// Milliseconds.
    pub ms: RangeInclusive<u64>,
    /// Where that is so; ends the words of an error.
    pub of: &'static str,
}

/// Fails where something cannot be simulated.
pub fn simulated(file: &ExperimentFile, flags: &Flags, place: &Place<'_>) -> Result<()> {
    let Some(Given { value: image, span }) = given(&flags.image, &file.system.image) else { return Ok(()) };
    let version = if span.is_none() { "--version" } else { "`version`" };
    let message = format!("{image} cannot be simulated: {version} says which version's contract is modelled");
    Err(place.wrong(span, "--image", &message))
}
