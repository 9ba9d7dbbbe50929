//! The algorithm of one member: messages and ticks in, messages and a commit index out.

use super::message::{Entry, Message, Timing};
use crate::rng::Rng;

/// What a member is at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Follows, or waits for a leader.
    Follower,
    /// Asks whether an election would succeed.
    PreCandidate,
    /// Wants to lead.
    Candidate,
    /// Leads its term.
    Leader,
}

/// A read that waits for a quorum to confirm the leader.
struct Read {
    id: u64,
    origin: usize,
    index: usize,
    round: u64,
}

/// What there is to do after messages and ticks, in this order.
pub(super) struct Output<C> {
    /// To be synced before anything is sent.
    pub(super) write: Option<Write<C>>,
    pub(super) messages: Vec<(usize, Message<C>)>,
    /// Reads of this member that are confirmed: number and index to have applied.
    pub(super) reads: Vec<(u64, usize)>,
}

/// Term, vote, and the log from an index (count of entries kept) on.
pub(super) type Write<C> = (u64, Option<usize>, usize, Vec<Entry<C>>);

/// One member. Indexes count entries, so the first is 1.
pub(super) struct Raft<C> {
    id: usize,
    timing: Timing,
    rng: Rng,
    term: u64,
    vote: Option<usize>,
    log: Vec<Entry<C>>,
    role: Role,
    leader: Option<usize>,
    commit: usize,
    elapsed: u32,
    heartbeat: u32,
    timeout: u32,
    votes: Vec<Option<bool>>,
    peers: Vec<Progress>,
    term_start: usize,
    round: u64,
    reads: Vec<Read>,
    out: Vec<(usize, Message<C>)>,
    confirmed: Vec<(u64, usize)>,
    /// Entries before this one are on their way to the disk.
    unwritten_from: usize,
    hard_changed: bool,
    synced: usize,
}

/// What the leader knows of a member.
#[derive(Clone, Copy, Default)]
struct Progress {
    matched: usize,
    next: usize,
    round: u64,
    active: bool,
}

impl<C: Clone> Raft<C> {
    /// A member as it starts, with what its disk kept.
    pub(super) fn new(
        id: usize,
        members: usize,
        timing: Timing,
        rng: Rng,
        term: u64,
        vote: Option<usize>,
        log: Vec<Entry<C>>,
    ) -> Self {
        let written = log.len();
        assert!(id < members, "a member is one of the members");
        assert!(log.last().is_none_or(|entry| entry.term <= term), "no entry is of a term yet to come");
        debug_assert!(log.is_sorted_by_key(|entry| entry.term), "terms in a log never go back");
        let mut raft = Raft {
            id,
            timing,
            rng,
            term,
            vote,
            log,
            role: Role::Follower,
            leader: None,
            commit: 0,
            elapsed: 0,
            heartbeat: 0,
            timeout: 0,
            votes: vec![None; members],
            peers: vec![Progress::default(); members],
            term_start: 0,
            round: 0,
            reads: Vec::new(),
            out: Vec::new(),
            confirmed: Vec::new(),
            unwritten_from: written,
            hard_changed: false,
            synced: written,
        };
        raft.reset_timeout();
        raft
    }

    /// What it is.
    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// Whom it takes for the leader.
    pub(super) fn leader(&self) -> Option<usize> {
        self.leader
    }

    /// Its term.
    pub(super) fn term(&self) -> u64 {
        self.term
    }

    /// Entries known to be committed.
    pub(super) fn commit(&self) -> usize {
        self.commit
    }

    /// The entry at `index`.
    pub(super) fn entry(&self, index: usize) -> &Entry<C> {
        assert!((1..=self.commit).contains(&index), "only what is committed is applied");
        &self.log[index - 1]
    }

    /// Puts a command in the log, or sends it to the leader; `Err` without one.
    pub(super) fn propose(&mut self, command: C) -> Result<(), C> {
        match (self.role, self.leader) {
            (Role::Leader, _) => {
                self.append(Entry { term: self.term, command: Some(command) });
                self.broadcast();
                Ok(())
            }
            (_, Some(leader)) => {
                self.out.push((leader, Message::Propose(command)));
                Ok(())
            }
            (_, None) => Err(command),
        }
    }

    /// Asks how far to apply for a linearizable read; the answer comes as a confirmed read. False without a leader.
    pub(super) fn read(&mut self, id: u64) -> bool {
        match (self.role, self.leader) {
            (Role::Leader, _) => self.lead_read(id, self.id),
            (_, Some(leader)) => self.out.push((leader, Message::Read { id })),
            (_, None) => return false,
        }
        true
    }

    /// One tick of the member's ticker.
    pub(super) fn tick(&mut self) {
        self.elapsed += 1;
        if self.role != Role::Leader {
            if self.elapsed >= self.timeout {
                self.campaign(true);
            }
            return;
        }
        if self.elapsed >= self.timing.election_ticks {
            self.elapsed = 0;
            let active = 1 + self.others().filter(|peer| self.peers[*peer].active).count();
            self.peers.iter_mut().for_each(|peer| peer.active = false);
            if active < self.majority() {
                self.follow(self.term, None);
                return;
            }
        }
        self.heartbeat += 1;
        if self.heartbeat >= self.timing.heartbeat_ticks {
            self.broadcast();
        }
    }

    /// One message of another member.
    pub(super) fn step(&mut self, from: usize, message: Message<C>) {
        match message {
            Message::PreVote { term, last_index, last_term } => {
                let granted =
                    term > self.term && !self.hears_leader() && self.is_behind(last_term, last_index);
                let term = if granted { term } else { self.term };
                self.out.push((from, Message::PreVoteReply { term, granted }));
            }
            Message::PreVoteReply { term, granted } => self.on_pre_vote_reply(from, term, granted),
            Message::Vote { term, last_index, last_term } => self.on_vote(from, term, last_index, last_term),
            Message::VoteReply { term, granted } => self.on_vote_reply(from, term, granted),
            Message::Append { term, prev_index, prev_term, entries, commit, round } => {
                let (success, index) = self.on_append(from, term, (prev_index, prev_term), entries, commit);
                self.out.push((from, Message::AppendReply { term: self.term, success, index, round }));
            }
            Message::AppendReply { term, success, index, round } => {
                self.on_append_reply(from, term, success, index, round);
            }
            // A member that has lost the lead meanwhile passes it on, as etcd does.
            Message::Propose(command) => drop(self.propose(command)),
            Message::Read { id } if self.role == Role::Leader => self.lead_read(id, from),
            Message::Read { .. } => {}
            Message::ReadReply { id, index } => self.confirmed.push((id, index)),
        }
    }

    /// Takes what there is to do.
    pub(super) fn output(&mut self) -> Option<Output<C>> {
        assert!(self.unwritten_from <= self.log.len(), "nothing is written that is not in the log");
        let write = (self.hard_changed || self.unwritten_from < self.log.len()).then(|| {
            let from = self.unwritten_from;
            (self.term, self.vote, from, self.log[from..].to_vec())
        });
        self.hard_changed = false;
        self.unwritten_from = self.log.len();
        let messages = std::mem::take(&mut self.out);
        let reads = std::mem::take(&mut self.confirmed);
        let idle = write.is_none() && messages.is_empty() && reads.is_empty();
        (!idle).then_some(Output { write, messages, reads })
    }

    /// The first `index` entries are synced, as long as they were not replaced meanwhile.
    pub(super) fn synced(&mut self, index: usize) {
        self.synced = index.min(self.unwritten_from);
        assert!(self.synced <= self.log.len(), "nothing is synced that is not in the log");
        if self.role == Role::Leader {
            self.advance_commit();
        }
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<C> {
        let id = self.id;
        (0..self.peers.len()).filter(move |peer| *peer != id)
    }

    fn majority(&self) -> usize {
        self.peers.len() / 2 + 1
    }

    fn last(&self) -> (u64, usize) {
        (self.log.last().map_or(0, |entry| entry.term), self.log.len())
    }

    /// Whether a log that ends so is at least as far as ours.
    fn is_behind(&self, last_term: u64, last_index: usize) -> bool {
        (last_term, last_index) >= self.last()
    }

    fn hears_leader(&self) -> bool {
        self.leader.is_some() && self.elapsed < self.timing.election_ticks
    }

    fn reset_timeout(&mut self) {
        self.elapsed = 0;
        let base = u64::from(self.timing.election_ticks);
        self.timeout = self.rng.between(base, 2 * base - 1) as u32;
        assert!(
            self.timeout >= self.timing.election_ticks,
            "nobody campaigns while a leader may still be heard"
        );
    }

    /// Puts an entry at the end of the log.
    fn append(&mut self, entry: Entry<C>) {
        assert!(entry.term <= self.term, "no entry is of a term yet to come");
        assert!(entry.term >= self.last().0, "terms in a log never go back");
        self.log.push(entry);
    }

    /// Takes what comes after the first `len` entries out of the log: another leader had put it there.
    fn cut(&mut self, len: usize) {
        assert!(len >= self.commit, "what is committed stays");
        assert!(self.role != Role::Leader, "a leader never takes anything out of its log");
        self.log.truncate(len);
        self.unwritten_from = self.unwritten_from.min(len);
        self.synced = self.synced.min(len);
    }

    fn follow(&mut self, term: u64, leader: Option<usize>) {
        assert!(term >= self.term, "a term never goes back");
        assert!(leader != Some(self.id), "nobody follows itself");
        if term > self.term {
            self.term = term;
            self.vote = None;
            self.hard_changed = true;
        }
        self.role = Role::Follower;
        self.leader = leader;
        self.reads.clear();
        self.reset_timeout();
    }

    fn campaign(&mut self, pre: bool) {
        assert!(self.role != Role::Leader, "a leader does not campaign");
        self.reset_timeout();
        self.leader = None;
        self.votes.fill(None);
        self.votes[self.id] = Some(true);
        let (last_term, last_index) = self.last();
        if pre {
            self.role = Role::PreCandidate;
        } else {
            self.role = Role::Candidate;
            self.term += 1;
            self.vote = Some(self.id);
            self.hard_changed = true;
        }
        for peer in self.others() {
            let message = match pre {
                true => Message::PreVote { term: self.term + 1, last_index, last_term },
                false => Message::Vote { term: self.term, last_index, last_term },
            };
            self.out.push((peer, message));
        }
        self.count_votes();
    }

    fn count_votes(&mut self) {
        let yes = self.votes.iter().filter(|vote| **vote == Some(true)).count();
        if yes >= self.majority() {
            match self.role {
                Role::PreCandidate => self.campaign(false),
                _ => self.lead(),
            }
        }
    }

    fn lead(&mut self) {
        assert!(self.role == Role::Candidate, "who leads was a candidate");
        assert!(self.vote == Some(self.id), "who leads voted for itself");
        assert!(
            self.last().0 < self.term,
            "a term has one leader, so there are no entries of it before it leads"
        );
        self.role = Role::Leader;
        self.leader = Some(self.id);
        self.elapsed = 0;
        let next = self.log.len() + 1;
        self.peers.fill(Progress { matched: 0, next, round: 0, active: true });
        self.append(Entry { term: self.term, command: None });
        self.term_start = self.log.len();
        self.broadcast();
    }

    fn on_pre_vote_reply(&mut self, from: usize, term: u64, granted: bool) {
        if !granted && term > self.term {
            self.follow(term, None);
        } else if self.role == Role::PreCandidate && term == self.term + 1 {
            self.votes[from] = Some(granted);
            self.count_votes();
        }
    }

    fn on_vote(&mut self, from: usize, term: u64, last_index: usize, last_term: u64) {
        if term > self.term {
            if self.hears_leader() {
                return;
            }
            self.follow(term, None);
        }
        let free = self.vote.is_none_or(|vote| vote == from) && self.role == Role::Follower;
        let granted = term == self.term && free && self.is_behind(last_term, last_index);
        if granted {
            assert!(from != self.id, "nobody asks itself");
            assert!(self.vote.is_none_or(|vote| vote == from), "one vote a term");
            self.vote = Some(from);
            self.hard_changed = true;
            self.reset_timeout();
        }
        self.out.push((from, Message::VoteReply { term: self.term, granted }));
    }

    fn on_vote_reply(&mut self, from: usize, term: u64, granted: bool) {
        if term > self.term {
            self.follow(term, None);
        } else if self.role == Role::Candidate && term == self.term {
            self.votes[from] = Some(granted);
            self.count_votes();
        }
    }

    /// Returns whether the logs agree, and up to where (or the last index worth trying).
    fn on_append(
        &mut self,
        from: usize,
        term: u64,
        (prev_index, prev_term): (usize, u64),
        entries: Vec<Entry<C>>,
        commit: usize,
    ) -> (bool, usize) {
        if term < self.term {
            return (false, self.log.len());
        }
        if term == self.term {
            assert!(self.role != Role::Leader, "a term has one leader, and this member is it");
            assert!(
                self.leader.is_none_or(|leader| leader == from),
                "a term has one leader, and it is another"
            );
        }
        self.follow(term, Some(from));
        if prev_index > self.log.len() {
            return (false, self.log.len());
        }
        if prev_index > 0 && self.log[prev_index - 1].term != prev_term {
            return (false, prev_index - 1);
        }
        let end = prev_index + entries.len();
        let committed = self.commit;
        for (index, entry) in (prev_index..).zip(entries) {
            match self.log.get(index) {
                Some(known) if known.term == entry.term => {}
                _ => {
                    self.cut(index);
                    self.append(entry);
                }
            }
        }
        self.commit = self.commit.max(commit.min(end));
        assert!(end <= self.log.len(), "what was acknowledged is in the log");
        assert!(self.commit >= committed, "what is committed stays");
        assert!(self.commit <= self.log.len(), "only what is in the log is committed");
        (true, end)
    }

    fn on_append_reply(&mut self, from: usize, term: u64, success: bool, index: usize, round: u64) {
        if term > self.term {
            return self.follow(term, None);
        }
        if self.role != Role::Leader || term < self.term {
            return;
        }
        let last = self.log.len();
        assert!(round <= self.round, "only a round that was begun is answered");
        assert!(!success || index <= last, "nobody has more of a term than its leader");
        let peer = &mut self.peers[from];
        peer.active = true;
        peer.round = peer.round.max(round);
        if success {
            peer.matched = peer.matched.max(index);
            peer.next = peer.next.max(index + 1);
            assert!(peer.next > peer.matched, "what is known to be there is not sent again");
        } else {
            peer.next = (index + 1).clamp(peer.matched + 1, last + 1);
        }
        if !success || peer.next <= last {
            self.send_append(from);
        }
        self.advance_commit();
        self.answer_reads();
    }

    fn broadcast(&mut self) {
        self.heartbeat = 0;
        for peer in self.others() {
            self.send_append(peer);
        }
    }

    fn send_append(&mut self, to: usize) {
        assert!(self.role == Role::Leader, "only a leader sends entries");
        assert!(
            (1..=self.log.len() + 1).contains(&self.peers[to].next),
            "what comes next for a member is in the log"
        );
        let prev_index = self.peers[to].next - 1;
        let prev_term = if prev_index == 0 { 0 } else { self.log[prev_index - 1].term };
        let entries = self.log[prev_index..].to_vec();
        self.peers[to].next = self.log.len() + 1;
        let (term, commit, round) = (self.term, self.commit, self.round);
        self.out.push((to, Message::Append { term, prev_index, prev_term, entries, commit, round }));
    }

    fn advance_commit(&mut self) {
        assert!(self.role == Role::Leader, "only a leader commits by counting");
        let own = self.synced.min(self.log.len());
        let mut matched: Vec<usize> = self.peers.iter().map(|peer| peer.matched).collect();
        matched[self.id] = own;
        matched.sort_unstable();
        let index = matched[self.peers.len() - self.majority()];
        assert!(index <= self.log.len(), "a majority has no more than its leader");
        if index > self.commit && self.log[index - 1].term == self.term {
            self.commit = index;
            self.broadcast();
        }
    }

    fn lead_read(&mut self, id: u64, origin: usize) {
        assert!(self.role == Role::Leader, "only a leader confirms reads");
        self.round += 1;
        // A new leader knows what is committed only once its own first entry is.
        let index = self.commit.max(self.term_start);
        assert!(index <= self.log.len(), "a read waits for what is in the log");
        self.reads.push(Read { id, origin, index, round: self.round });
        self.broadcast();
        self.answer_reads();
    }

    fn answer_reads(&mut self) {
        let majority = self.majority();
        let confirms = |read: &Read, peers: &[Progress]| {
            1 + peers.iter().filter(|peer| peer.round >= read.round).count() >= majority
        };
        let (done, waiting) =
            std::mem::take(&mut self.reads).into_iter().partition(|read| confirms(read, &self.peers));
        self.reads = waiting;
        for Read { id, origin, index, .. } in done {
            match origin == self.id {
                true => self.confirmed.push((id, index)),
                false => self.out.push((origin, Message::ReadReply { id, index })),
            }
        }
    }
}
