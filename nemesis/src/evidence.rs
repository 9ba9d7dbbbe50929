//! What became of a fault.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What shows that a fault took effect: counters, states, offsets, pids by name.
pub type Evidence = serde_json::Map<String, serde_json::Value>;

/// Whether a fault took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultResult {
    /// In place, and the evidence shows it.
    Installed,
    /// Put in place as asked, and it touched nothing: a cut no packet met, a clock nobody moved.
    NoEffect,
    /// Not put in place; the evidence holds the reason.
    Failed,
}

impl fmt::Display for FaultResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FaultResult::Installed => "installed",
            FaultResult::NoEffect => "no-effect",
            FaultResult::Failed => "failed",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_it_is_shown() {
        for result in [FaultResult::Installed, FaultResult::NoEffect, FaultResult::Failed] {
            assert_eq!(serde_json::to_value(result).unwrap(), result.to_string());
        }
    }
}
