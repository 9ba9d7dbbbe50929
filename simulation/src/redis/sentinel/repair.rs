//! Servers that are not what the sentinels want them to be: a former primary that came back, a replica that copies
//! another.

use super::{HELLO_MS, INFO_MS, Info, Member, State};

impl State {
    /// Looks at what a server says of itself, and makes a stray a replica of the primary. One that calls itself a primary
    /// gets time for newer news to arrive, four hellos; one that copies another gets the failover's timeout. As both
    /// show only when the server is looked at again, it takes ten seconds where all is well otherwise. Nothing while the
    /// primary itself is in doubt.
    pub(super) fn repair(&mut self, member: Member, info: Info, now: i64) {
        let primary = self.kept.primary;
        let patience = match info.copies {
            _ if member == primary => return,
            Some(copied) if copied == primary => return,
            Some(_) => self.options.failover_timeout_ms,
            None => 4 * HELLO_MS,
        };
        let head = &self.servers[primary];
        let leads = head.fresh(now, 2 * INFO_MS).is_some_and(|info| info.copies.is_none());
        if head.down().is_some() || !leads || self.failover.is_some() {
            return;
        }
        let server = &self.servers[member];
        if server.up_for(now, patience) && now - server.copies_since() > patience {
            self.tell(member, Some(primary), now);
        }
    }
}
