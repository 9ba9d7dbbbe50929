//! A failover: votes, the choice of a replica, its promotion, the others' new primary.

use super::{Ask, Epoch, Info, Member, Out, PERIOD_MS, State, Vote, watched::Watched};

/// A replica that has not answered for so long is not chosen.
const SILENCE_MAX_MS: i64 = 5 * PERIOD_MS;
/// `SENTINEL_ELECTION_TIMEOUT`
const ELECTION_MS_MAX: i64 = 10_000;

/// A failover that this sentinel has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failover {
    epoch: Epoch,
    began: i64,
    step: Step,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Election,
    /// It is won. A look later, so that replicas can say how they are, one of them is chosen.
    Choice,
    /// This replica has been told to be the primary.
    Promotion {
        chosen: Member,
        since: i64,
    },
    /// It is, and the other replicas are told so.
    Others {
        instead_of: Member,
        since: i64,
    },
}

impl State {
    /// Begins a failover where one is due, and takes the one under way a step on.
    pub(super) fn fail_over(&mut self, now: i64, desync: i64) {
        let pause = 2 * self.options.failover_timeout_ms;
        let rested = self.last_failover.is_none_or(|last| now - last >= pause);
        if self.failover.is_none() && rested && self.agreed_down(now) {
            self.kept.epoch += 1;
            assert!(self.kept.config_epoch < self.kept.epoch, "an election has an epoch of its own");
            self.last_failover = Some(now + desync);
            self.failover =
                Some(Failover { epoch: self.kept.epoch, began: now + desync, step: Step::Election });
            self.ask_peers(now);
        }
        let Some(Failover { epoch, began, step }) = self.failover else { return };
        let timeout = self.options.failover_timeout_ms;
        match step {
            Step::Election if self.elected(epoch, now, desync) => self.choose_next(),
            Step::Choice => self.promote(now),
            Step::Election if now - began > timeout.min(ELECTION_MS_MAX) => self.failover = None,
            Step::Promotion { since, .. } if now - since > timeout => self.failover = None,
            Step::Promotion { chosen, .. } => self.tell(chosen, None, now),
            Step::Others { instead_of, since } => self.tell_others(instead_of, since, now),
            Step::Election => {}
        }
    }

    /// Votes in an epoch, once; returns the last vote.
    pub(super) fn vote(&mut self, leader: Member, epoch: Epoch, now: i64, desync: i64) -> Option<Vote> {
        self.kept.epoch = self.kept.epoch.max(epoch);
        let voted = self.kept.vote.map_or(0, |vote| vote.epoch);
        if voted < epoch && self.kept.epoch <= epoch {
            assert!(self.kept.epoch == epoch, "one vote an epoch, in the epoch that was asked for");
            self.kept.vote = Some(Vote { leader, epoch: self.kept.epoch });
            if leader != self.me {
                self.last_failover = Some(now + desync);
            }
        }
        self.kept.vote
    }

    /// Whether a majority has voted for this sentinel. It votes with the others' majority, else for itself.
    fn elected(&mut self, epoch: Epoch, now: i64, desync: i64) -> bool {
        let mut votes = vec![0; self.peers.len()];
        let cast = self.peers.iter().filter_map(|peer| peer.vote);
        cast.filter(|vote| vote.epoch == epoch).for_each(|vote| votes[vote.leader] += 1);
        let ahead = (0..votes.len()).rev().max_by_key(|member| votes[*member]);
        let favourite = ahead.filter(|member| votes[*member] > 0).unwrap_or(self.me);
        let own = self.vote(favourite, epoch, now, desync);
        own.filter(|vote| vote.epoch == epoch).into_iter().for_each(|vote| votes[vote.leader] += 1);
        votes[self.me] >= self.majority()
    }

    fn choose_next(&mut self) {
        self.failover.iter_mut().for_each(|failover| failover.step = Step::Choice);
    }

    fn promote(&mut self, now: i64) {
        let chosen = self.choose(now);
        match (chosen, &mut self.failover) {
            (Some(chosen), Some(failover)) => {
                failover.step = Step::Promotion { chosen, since: now };
                self.tell(chosen, None, now);
            }
            _ => self.failover = None,
        }
    }

    /// The best replica: one that answers and was linked not long before the primary was seen to be down; of these the
    /// one that has copied most, then the first. So a primary that dies while its sentinels are in TILT may get no
    /// successor at all: they see it late.
    fn choose(&self, now: i64) -> Option<Member> {
        let primary = self.kept.primary;
        let down_for = self.servers[primary].down().map_or(0, |since| now - since);
        let unlinked_max = down_for + 10 * self.options.down_after_ms;
        let fit = |server: &Watched| -> Option<Info> {
            let answers = server.down().is_none() && now - server.answered <= SILENCE_MAX_MS;
            let info = server.fresh(now, SILENCE_MAX_MS).filter(|_| answers)?;
            (info.copies.is_some() && info.unlinked_ms <= unlinked_max).then_some(info)
        };
        let others = self.servers.iter().enumerate().filter(|(member, _)| *member != primary);
        let fits =
            others.filter_map(|(member, server)| Some((fit(server)?.offset, std::cmp::Reverse(member))));
        fits.max().map(|(_, member)| member.0)
    }

    /// The chosen replica says that it is a primary: from now on everybody is to know.
    pub(super) fn notice_promotion(&mut self, from: Member, info: Info, now: i64) {
        let Some(Failover { epoch, step, .. }) = &mut self.failover else { return };
        let Step::Promotion { chosen, .. } = *step else { return };
        if chosen == from && info.copies.is_none() {
            assert!(chosen != self.kept.primary, "another than the primary was promoted");
            *step = Step::Others { instead_of: self.kept.primary, since: now };
            self.kept.config_epoch = *epoch;
            self.kept.primary = chosen;
            self.say_hello(now);
        }
    }

    /// Tells the others, but for the old primary and those that are down, until each copies the new one. One that was
    /// a primary before and has not been made a replica yet is told too.
    fn tell_others(&mut self, instead_of: Member, since: i64, now: i64) {
        let primary = self.kept.primary;
        let stray = |member: &Member| {
            let server = &self.servers[*member];
            ![primary, instead_of].contains(member) && server.down().is_none() && server.strays(primary)
        };
        let strays: Vec<Member> = (0..self.servers.len()).filter(stray).collect();
        if strays.is_empty() || now - since > self.options.failover_timeout_ms {
            return self.switch_to(primary, now);
        }
        strays.into_iter().for_each(|member| self.tell(member, Some(primary), now));
    }

    /// From now on this is the primary; no failover is under way.
    pub(super) fn switch_to(&mut self, primary: Member, now: i64) {
        self.kept.primary = primary;
        self.failover = None;
        self.last_failover = None;
        self.servers.iter_mut().for_each(|server| server.forget(now));
        self.peers.iter_mut().for_each(|peer| peer.says_down = None);
    }

    /// Tells a server whom to copy, at most once a second.
    pub(super) fn tell(&mut self, member: Member, primary: Option<Member>, now: i64) {
        if now - self.servers[member].told >= PERIOD_MS {
            self.servers[member].told = now;
            self.out.push(Out::Server(member, Ask::Follow(primary)));
        }
    }
}
