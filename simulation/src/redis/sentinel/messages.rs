//! What sentinels ask servers and tell each other.

use super::{Epoch, Member, Vote};

/// To a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::redis) enum Ask {
    Ping,
    Info,
    /// Copy that member, or be a primary.
    Follow(Option<Member>),
}

/// What a server says of itself (`INFO replication`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redis) struct Info {
    /// Whom it copies.
    pub(in crate::redis) copies: Option<Member>,
    /// How much it has of its history.
    pub(in crate::redis) offset: u64,
    /// How long its link has been down, milliseconds.
    pub(in crate::redis) unlinked_ms: i64,
}

/// To a sentinel, from the server or the sentinel of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::redis) enum Said {
    Pong,
    Info(Info),
    /// What a sentinel takes for true; the server's `__sentinel__:hello` channel.
    Hello {
        epoch: Epoch,
        primary: Member,
        config_epoch: Epoch,
    },
    /// `SENTINEL IS-MASTER-DOWN-BY-ADDR`: is this primary down, and will you vote for me in this epoch?
    IsDown {
        primary: Member,
        epoch: Epoch,
        candidate: bool,
    },
    /// The answer: whether it is, and whom it has voted for last.
    Down {
        down: bool,
        vote: Option<Vote>,
    },
}
