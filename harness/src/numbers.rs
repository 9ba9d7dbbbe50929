//! Numbers on the command line, refused in words.

use std::{num::NonZeroUsize, str::FromStr};

/// Threads beyond these help nobody, and cannot be had everywhere.
const JOBS_MAX: usize = 1024;

/// It is no such number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write {0}")]
pub struct Unfit(String);

/// A number of nodes; which are too many is said where the system is known.
pub fn count(text: &str) -> Result<u32, Unfit> {
    read(text, |_| true, "a whole number from 1 on, such as 3")
}

/// A seed.
pub fn seed(text: &str) -> Result<u64, Unfit> {
    read(text, |_| true, &format!("a whole number from 0 to {}", u64::MAX))
}

/// A number of seeds.
pub fn seeds(text: &str) -> Result<u64, Unfit> {
    read(text, |seeds| *seeds > 0, "a whole number above 0, such as 1000")
}

/// A number of threads.
pub fn jobs(text: &str) -> Result<NonZeroUsize, Unfit> {
    let fits = |jobs: &NonZeroUsize| jobs.get() <= JOBS_MAX;
    read(text, fits, &format!("a whole number from 1 to {JOBS_MAX}"))
}

/// Tries a second.
pub fn rate(text: &str) -> Result<f64, Unfit> {
    read(text, |_| true, "a number, such as 20 or 0.5")
}

fn read<T: FromStr>(text: &str, fits: impl Fn(&T) -> bool, wanted: &str) -> Result<T, Unfit> {
    text.parse().ok().filter(fits).ok_or_else(|| Unfit(wanted.to_owned()))
}
