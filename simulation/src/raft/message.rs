//! What members say to each other.

/// One place of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry<C> {
    /// The term in which a leader put it there.
    pub(super) term: u64,
    /// `None`: the entry with which a new leader begins its term.
    pub(super) command: Option<C>,
}

/// Times in ticks of the member's own ticker, which stands still while the member is paused, as etcd's does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Length of a tick in nanoseconds.
    pub tick_ns: u64,
    /// Heartbeats come so often.
    pub heartbeat_ticks: u32,
    /// Silence after which a leader counts as gone; a member waits for between this and twice this.
    pub election_ticks: u32,
    /// What a sync of the disk takes, nanoseconds.
    pub sync_ns: u64,
}

impl Timing {
    /// etcd's defaults: 100 ms heartbeats, one second to an election.
    pub const ETCD: Timing =
        Timing { tick_ns: 100_000_000, heartbeat_ticks: 1, election_ticks: 10, sync_ns: 500_000 };
}

/// From member to member. Members are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message<C> {
    /// Would you vote for me in this term? Nobody's state changes by the question.
    PreVote { term: u64, last_index: usize, last_term: u64 },
    /// The answer.
    PreVoteReply { term: u64, granted: bool },
    /// Vote for me.
    Vote { term: u64, last_index: usize, last_term: u64 },
    /// The answer.
    VoteReply { term: u64, granted: bool },
    /// Entries behind `prev_index`, or a heartbeat without any.
    Append { term: u64, prev_index: usize, prev_term: u64, entries: Vec<Entry<C>>, commit: usize, round: u64 },
    /// How far the follower's log agrees; on refusal, the last index worth trying.
    AppendReply { term: u64, success: bool, index: usize, round: u64 },
    /// A follower's client wants this in the log.
    Propose(C),
    /// A follower asks how far it must have applied for a linearizable read.
    Read { id: u64 },
    /// The answer.
    ReadReply { id: u64, index: usize },
}
