use serde::{Deserialize, Serialize};

/// `[sim]`: the simulated network and disks, between all nodes alike. Real servers have their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimTable {
    /// The least time that a packet takes, microseconds.
    pub delay_us: u64,
    /// What chance adds at most, microseconds; small values are far more frequent than large ones.
    pub jitter_us: u64,
    /// Packets lost, in a million. Streams send again, as TCP does.
    pub loss_ppm: u32,
    /// Datagrams delivered twice, in a million: those that etcd's and ZooKeeper's servers send each other, and those
    /// of Redis' sentinels.
    pub duplicate_ppm: u32,
    /// Datagrams held back, so that later ones overtake them, in a million.
    pub reorder_ppm: u32,
    /// A kill is a power cut: a Redis server's disk loses what was not synced. The replicated logs of etcd and
    /// ZooKeeper are modelled as synced when they are written.
    pub power_cut: bool,
}

/// A setting with which nothing would go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sim.{name} is too large: at most {max}")]
pub struct TooLarge {
    name: &'static str,
    max: u64,
}

/// A minute.
const US_MAX: u64 = 60_000_000;
/// Nothing would ever arrive with more.
const PPM_MAX: u32 = 900_000;

impl Default for SimTable {
    /// A quiet bridge network on one machine, and kills that only end a process.
    fn default() -> SimTable {
        SimTable {
            delay_us: 40,
            jitter_us: 300,
            loss_ppm: 0,
            duplicate_ppm: 0,
            reorder_ppm: 0,
            power_cut: false,
        }
    }
}

impl SimTable {
    /// Whether nothing was asked for.
    pub fn is_default(&self) -> bool {
        *self == SimTable::default()
    }

    /// Looks for values that make no sense; says which and why.
    pub fn check(&self) -> Result<(), TooLarge> {
        let times = [("delay_us", self.delay_us), ("jitter_us", self.jitter_us)];
        let shares = [
            ("loss_ppm", self.loss_ppm),
            ("duplicate_ppm", self.duplicate_ppm),
            ("reorder_ppm", self.reorder_ppm),
        ];
        let long = times.iter().find(|(_, us)| *us > US_MAX).map(|(name, _)| (*name, US_MAX));
        let many = shares.iter().find(|(_, ppm)| *ppm > PPM_MAX).map(|(name, _)| (*name, PPM_MAX.into()));
        match long.or(many) {
            Some((name, max)) => Err(TooLarge { name, max }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senseless_values_are_refused() {
        assert_eq!(SimTable::default().check(), Ok(()));
        let lossy = SimTable { loss_ppm: 1_000_000, ..SimTable::default() };
        assert_eq!(lossy.check().unwrap_err().to_string(), "sim.loss_ppm is too large: at most 900000");
        let slow = SimTable { delay_us: u64::MAX, ..SimTable::default() };
        assert!(slow.check().is_err());
    }
}
