//! The node's delays, by the fault that each is of.

use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    sync::{Mutex, PoisonError},
};

use nemesis::{
    net::{NetError, Shaper},
    verbs::{Delay, Direction, Shaping, Unshaped},
};

/// Delays under way, and those that were.
#[derive(Default)]
pub struct Shapes(Mutex<BTreeMap<u32, Shaper>>);

impl Shapes {
    /// Delays packets, unless this fault does so already.
    pub fn begin(
        &self,
        fault: u32,
        peers: &[Ipv4Addr],
        direction: Direction,
        delay: Delay,
    ) -> Result<Shaping, NetError> {
        let mut shapers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !shapers.get(&fault).is_some_and(Shaper::holds) {
            shapers.insert(fault, Shaper::start(fault, peers, direction, delay)?);
        }
        let rules_for = peers.iter().map(Ipv4Addr::to_string).collect();
        Ok(Shaping { rules_for, direction, by_ms: delay.by_ms, jitter_ms: delay.jitter_ms })
    }

    /// Ends a fault's delay; what it held, however often it is ended. Of none it held nothing.
    pub fn end(&self, fault: u32) -> Result<Unshaped, NetError> {
        let mut shapers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shapers.get_mut(&fault).map_or_else(|| Ok(Unshaped::default()), Shaper::end)
    }
}
