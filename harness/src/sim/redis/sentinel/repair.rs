//! Servers that are not what the sentinels want them to be: a former primary that came back, a replica that copies
//! another.

use super::{HELLO_MS, PERIOD_MS, State};

impl State {
    /// Makes strays replicas of the primary. A server that calls itself a primary gets time for newer news to arrive,
    /// four hellos; one that copies another gets the failover's timeout. Nothing while the primary itself is in doubt.
    pub(super) fn repair(&mut self, now: i64) {
        let primary = self.kept.primary;
        let head = &self.servers[primary];
        let sane =
            head.down().is_none() && head.fresh(now, 2 * PERIOD_MS).is_some_and(|info| info.copies.is_none());
        if !sane || self.failover.is_some() {
            return;
        }
        for member in (0..self.servers.len()).filter(|member| *member != primary) {
            let server = &self.servers[member];
            let Some(info) = server.fresh(now, 2 * PERIOD_MS) else { continue };
            let patience = match info.copies {
                Some(copied) if copied == primary => continue,
                Some(_) => self.options.failover_timeout_ms,
                None => 4 * HELLO_MS,
            };
            if server.up_for(now, patience) && now - server.copies_since() > patience {
                self.tell(member, Some(primary), now);
            }
        }
    }
}
