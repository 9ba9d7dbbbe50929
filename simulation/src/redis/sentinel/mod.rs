//! Sentinels: they watch the servers, agree that the primary is down, elect one of themselves, and promote a replica.
//!
//! Source: `sentinel.c` of Redis 7.0; redis.io, "High availability with Redis Sentinel". One sentinel a server, on its
//! node, so a fault hits both. `judge` is who is down, `failover` the election and promotion, `repair` what brings
//! strays back; none of them knows of the simulation. Every time is counted on the node's wall clock, as the program
//! does, which also explains [`TILT`](TILT_AFTER_MS).
//!
//! Simpler than the program: everybody knows everybody from the start, and the quorum is a majority; messages
//! are datagrams, asked again where the program's connection would send again; hellos go straight from sentinel to
//! sentinel, not through the servers' channel; all replicas are told of a new primary at once (`parallel-syncs`); there
//! are no priorities, renamed commands, scripts, or replicas that fail to persist.

mod client;
mod failover;
mod judge;
mod messages;
mod repair;
mod service;
#[cfg(test)]
mod tests;
mod watched;

pub use self::{
    client::SentinelClient,
    service::{AskPrimary, Sentinel},
};
use self::{failover::Failover, watched::Watched};
pub(super) use self::{
    messages::{Ask, Info, Said},
    service::PORT,
};
use super::kept::{Epoch, Member, SentinelKept as Kept, Vote};
pub use super::options::SentinelOptions as Options;

/// `SENTINEL_PING_PERIOD`, `SENTINEL_ASK_PERIOD`: pings at most this far apart; questions this far.
const PERIOD_MS: i64 = 1000;
/// `SENTINEL_INFO_PERIOD`, while all is well.
const INFO_MS: i64 = 10_000;
/// `SENTINEL_PUBLISH_PERIOD`
const HELLO_MS: i64 = 2000;
/// `SENTINEL_TILT_TRIGGER`: a clock that goes back, or on by more than this between two looks, is not to be trusted.
pub const TILT_AFTER_MS: i64 = 2000;
/// `SENTINEL_TILT_PERIOD`: a sentinel that does not trust its clock watches, and does nothing, for so long.
pub const TILT_MS: i64 = 30_000;

/// What one sentinel knows and wants.
#[derive(Debug)]
pub(super) struct State {
    me: Member,
    options: Options,
    kept: Kept,
    servers: Vec<Watched>,
    /// By member; the own one is unused.
    peers: Vec<Peer>,
    failover: Option<Failover>,
    /// When the last failover began that it knows of, its own or one that it voted for: the next waits.
    last_failover: Option<i64>,
    last_look: i64,
    tilt_since: Option<i64>,
    said_hello: i64,
    asked_peers: i64,
    out: Vec<Out>,
}

/// What is to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Out {
    Server(Member, Ask),
    Sentinel(Member, Said),
}

/// Another sentinel.
#[derive(Clone, Debug, Default)]
struct Peer {
    /// When it last said that the primary is down.
    says_down: Option<i64>,
    vote: Option<Vote>,
}

impl State {
    pub(super) fn new(me: Member, members: usize, options: Options, kept: Kept, now: i64) -> State {
        assert!(me < members && kept.primary < members, "a sentinel and its primary are members");
        State {
            me,
            options,
            kept,
            servers: vec![Watched::new(now); members],
            peers: vec![Peer::default(); members],
            failover: None,
            last_failover: None,
            last_look: now,
            tilt_since: None,
            said_hello: now,
            asked_peers: 0,
            out: Vec::new(),
        }
    }

    /// The server that it takes for the primary, and the epoch of that belief.
    pub(super) fn primary(&self) -> (Member, Epoch) {
        (self.kept.primary, self.kept.config_epoch)
    }

    pub(super) fn kept(&self) -> &Kept {
        let Kept { epoch, primary, config_epoch, vote } = &self.kept;
        assert!(config_epoch <= epoch, "who was promoted was so in an epoch that came");
        assert!(vote.is_none_or(|vote| vote.epoch <= *epoch), "nobody votes in an epoch to come");
        assert!(*primary < self.servers.len(), "the primary is a member");
        &self.kept
    }

    /// What is to be sent by now. What it knows must be kept before.
    pub(super) fn take_out(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.out)
    }

    /// One look at everything, ten times a second. `desync` is below [`PERIOD_MS`], drawn anew each time.
    pub(super) fn look(&mut self, now: i64, desync: i64) {
        let passed = now - std::mem::replace(&mut self.last_look, now);
        if !(0..=TILT_AFTER_MS).contains(&passed) {
            self.tilt_since = Some(now);
        }
        self.watch(now);
        if self.tilt_since.is_some_and(|since| now - since < TILT_MS) {
            return;
        }
        self.tilt_since = None;
        self.judge(now);
        self.fail_over(now, desync);
    }

    /// A message of the server or sentinel of `from`.
    pub(super) fn hear(&mut self, from: Member, said: Said, now: i64, desync: i64) {
        match said {
            Said::Pong => self.servers[from].pong(now),
            Said::Info(info) => {
                self.servers[from].heard(now, info);
                // In TILT it learns what servers are, and acts on none of it (`sentinelRefreshInstanceInfo`).
                if self.tilt_since.is_none() {
                    self.notice_promotion(from, info, now);
                    self.repair(from, info, now);
                }
            }
            Said::Hello { epoch, primary, config_epoch } => {
                self.kept.epoch = self.kept.epoch.max(epoch);
                if config_epoch > self.kept.config_epoch {
                    self.kept.config_epoch = config_epoch;
                    if primary != self.kept.primary {
                        self.switch_to(primary, now);
                    }
                }
            }
            Said::IsDown { primary, epoch, candidate } => {
                let known = primary == self.kept.primary;
                let vote = (known && candidate).then(|| self.vote(from, epoch, now, desync)).flatten();
                let down = known && self.tilt_since.is_none() && self.servers[primary].down().is_some();
                self.out.push(Out::Sentinel(from, Said::Down { down, vote }));
            }
            Said::Down { down, vote } => {
                self.peers[from].says_down = down.then_some(now);
                if vote.is_some() {
                    self.peers[from].vote = vote;
                }
            }
        }
    }

    /// Pings, questions and hellos, which go on in TILT.
    fn watch(&mut self, now: i64) {
        let period = self.options.down_after_ms.min(PERIOD_MS);
        let alarmed = self.failover.is_some() || self.agreed_down(now);
        for (member, server) in self.servers.iter_mut().enumerate() {
            if server.ping(now, period) {
                self.out.push(Out::Server(member, Ask::Ping));
            }
            let unlinked = server.info().is_some_and(|info| info.unlinked_ms > 0);
            let often = member != self.kept.primary && (alarmed || unlinked);
            if server.ask_info(now, if often { PERIOD_MS } else { INFO_MS }) {
                self.out.push(Out::Server(member, Ask::Info));
            }
        }
        if now - self.said_hello >= HELLO_MS {
            self.say_hello(now);
        }
    }

    fn say_hello(&mut self, now: i64) {
        self.said_hello = now;
        let Kept { epoch, primary, config_epoch, .. } = self.kept;
        self.tell_peers(&Said::Hello { epoch, primary, config_epoch });
    }

    fn tell_peers(&mut self, what: &Said) {
        let others = (0..self.peers.len()).filter(|peer| *peer != self.me);
        self.out.extend(others.map(|peer| Out::Sentinel(peer, what.clone())));
    }

    fn majority(&self) -> usize {
        self.peers.len() / 2 + 1
    }
}
