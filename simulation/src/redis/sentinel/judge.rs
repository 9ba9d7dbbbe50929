//! Who is down: in the eyes of one sentinel, and of a quorum.

use super::{INFO_MS, PERIOD_MS, Said, State};

/// How often the question is put before an answer counts no longer.
const ANSWERS_COUNT_MS: i64 = 5 * PERIOD_MS;

impl State {
    /// Looks at every server; while the primary seems down, asks the others.
    pub(super) fn judge(&mut self, now: i64) {
        let (primary, down_after) = (self.kept.primary, self.options.down_after_ms);
        for (member, server) in self.servers.iter_mut().enumerate() {
            let disowns = member == primary
                && server.info().is_some_and(|info| info.copies.is_some())
                && now - server.copies_since() > down_after + 2 * INFO_MS;
            server.judge(now, down_after, disowns);
        }
        if self.servers[primary].down().is_some() && now - self.asked_peers >= PERIOD_MS {
            self.ask_peers(now);
        }
    }

    /// Whether the primary is down, and as many sentinels as make a quorum say so.
    pub(super) fn agreed_down(&self, now: i64) -> bool {
        let recent = |at: &i64| now - at <= ANSWERS_COUNT_MS;
        let others = self.peers.iter().filter(|peer| peer.says_down.as_ref().is_some_and(recent));
        self.servers[self.kept.primary].down().is_some() && 1 + others.count() >= self.majority()
    }

    /// Asks the others whether the primary is down, and for their votes while a failover waits for them.
    pub(super) fn ask_peers(&mut self, now: i64) {
        self.asked_peers = now;
        let candidate = self.failover.is_some();
        self.tell_peers(&Said::IsDown { primary: self.kept.primary, epoch: self.kept.epoch, candidate });
    }
}
