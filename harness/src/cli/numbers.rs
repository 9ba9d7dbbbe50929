//! Numbers on the command line, refused in words.

use std::num::NonZeroUsize;

/// Threads beyond these help nobody, and cannot be had everywhere.
const JOBS_MAX: usize = 1024;

/// A number of nodes; which are too many is said where the system is known.
pub fn count(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "write a whole number from 1 on, such as 3".into())
}

/// A seed.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("write a whole number from 0 to {}", u64::MAX))
}

/// A number of seeds.
pub fn seeds(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|seeds| *seeds > 0).ok_or("write a whole number above 0, such as 1000".into())
}

/// A number of threads.
pub fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let jobs = text.parse::<NonZeroUsize>().ok().filter(|jobs| jobs.get() <= JOBS_MAX);
    jobs.ok_or(format!("write a whole number from 1 to {JOBS_MAX}"))
}

/// Tries a second.
pub fn rate(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "write a number, such as 20 or 0.5".into())
}
