//! Delays: packets to and from peers held by a thread of this process, in a queue that nf_tables rules send them to.
//!
//! Several delays of one node add up, as pieces of one way do: each has rules and a queue of its own. A packet meets
//! them before it meets cuts. When the process dies, what waits is dropped once, and whatever comes later passes.

use std::{
    collections::BTreeMap,
    io::{self, PipeWriter},
    mem,
    net::Ipv4Addr,
    sync::mpsc::{self, Receiver},
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{
    NetError, counters_of,
    held::{Packets, Way},
    holder::{self, Outcome},
    nft::{self, Action, QueueWords},
    packets,
    queue::Queue,
    remove, round_trip,
    socket::Socket,
    verify_gone,
};
use crate::verbs::{Delay, Direction, Held, HeldWays, RoundTrip, Unshaped};

/// A round trip on a sound network ends long before.
const SOUND: Duration = Duration::from_millis(500);

type RoundTrips = BTreeMap<Ipv4Addr, Duration>;

/// Holds packets between this node and peers, until [`Shaper::end`].
pub struct Shaper {
    table: String,
    peers: Vec<Ipv4Addr>,
    direction: Direction,
    state: State,
}

enum State {
    Holds(Holder),
    /// What was held, or why that is not known.
    Ended(Result<Unshaped, String>),
}

/// The thread that holds packets, and what was measured since.
struct Holder {
    /// Closed, it ends the thread.
    end: PipeWriter,
    thread: JoinHandle<Result<Outcome, NetError>>,
    before: RoundTrips,
    during: Receiver<RoundTrips>,
}

impl Shaper {
    /// Holds packets from and to `peers`, one way or both, from now on.
    pub fn start(
        rules: u32,
        peers: &[Ipv4Addr],
        direction: Direction,
        delay: Delay,
    ) -> Result<Shaper, NetError> {
        let number = u16::try_from(rules).map_err(|_| NetError::NoQueue(rules))?;
        let table = format!("fencepost-shape-{rules}");
        let before = round_trip::measure(peers, SOUND);
        // The queue is there before anything is sent to it, so that nothing passes by it.
        let queue = Queue::open(number)?;
        let (ended, end) = io::pipe()?;
        let thread = thread::spawn(move || holder::hold(queue, Packets::new(delay, rules.into()), &ended));
        add_rules(&table, peers, direction, number)?;
        let during = measure_beside(peers.to_vec(), delay);
        let state = State::Holds(Holder { end, thread, before, during });
        Ok(Shaper { table, peers: peers.to_vec(), direction, state })
    }

    /// Does all that holding packets takes, without holding one.
    pub fn try_out() -> Result<(), NetError> {
        let table = "fencepost-shape-trial";
        // Neither a fault nor a node has these.
        let (number, nobody) = (u16::MAX, Ipv4Addr::UNSPECIFIED);
        let _queue = Queue::open(number)?;
        add_rules(table, &[nobody], Direction::Both, number)?;
        remove(nft::remove(table))?;
        verify_gone(table)
    }

    /// Whether it has not been ended.
    pub fn holds(&self) -> bool {
        matches!(self.state, State::Holds(_))
    }

    /// Lets all packets go at once and holds none any more, verifies that, and says what was held. Called again, it
    /// does what is left to do, and says the same.
    pub fn end(&mut self) -> Result<Unshaped, NetError> {
        if self.holds() {
            let met = packets(&counters_of(&self.table)?);
            remove(nft::remove_rules(&self.table))?;
            let nothing = State::Ended(Err("it was interrupted".into()));
            if let State::Holds(holder) = mem::replace(&mut self.state, nothing) {
                self.state = State::Ended(self.ended(holder, met).map_err(|error| error.to_string()));
            }
        }
        remove(nft::remove(&self.table))?;
        verify_gone(&self.table)?;
        match &self.state {
            State::Ended(Ok(unshaped)) => Ok(unshaped.clone()),
            State::Ended(Err(why)) => Err(NetError::NotHeld(why.clone())),
            State::Holds(_) => Err(NetError::NotHeld("it goes on".into())),
        }
    }

    /// Ends the thread, now that no rule sends it packets; they had met `met`.
    fn ended(&self, holder: Holder, met: u64) -> Result<Unshaped, NetError> {
        drop(holder.end);
        let outcome = holder.thread.join().map_err(|_| NetError::NotHeld("a thread failed".into()))??;
        let after = round_trip::measure(&self.peers, SOUND);
        // What was sent into the delay is on its way now.
        let during = holder.during.recv_timeout(SOUND).unwrap_or_default();
        let us = |of: &RoundTrips, peer| of.get(peer).map(|time| micros(*time));
        let round_trip = |peer| RoundTrip {
            before_us: us(&holder.before, peer),
            during_us: us(&during, peer),
            after_us: us(&after, peer),
        };
        let by_peer = self.peers.iter();
        Ok(Unshaped {
            packets: outcome.held.values().map(|held| held.packets).sum(),
            held: by_peer.clone().map(|peer| (peer.to_string(), self.ways(&outcome, *peer))).collect(),
            lost: met.saturating_sub(outcome.received) + outcome.flushed,
            round_trip: by_peer.map(|peer| (peer.to_string(), round_trip(peer))).collect(),
        })
    }

    /// What was held between this node and a peer, of the ways that the rules are for.
    fn ways(&self, outcome: &Outcome, peer: Ipv4Addr) -> HeldWays {
        let way = |is_inbound| {
            let held = outcome.held.get(&Way { peer, is_inbound }).copied().unwrap_or_default();
            let mean = held.total.checked_div(held.packets.min(u32::MAX.into()) as u32);
            let (mean_us, greatest_us) = (micros(mean.unwrap_or_default()), micros(held.greatest));
            Held { packets: held.packets, mean_us, greatest_us }
        };
        HeldWays {
            inbound: (self.direction != Direction::Out).then(|| way(true)),
            outbound: (self.direction != Direction::In).then(|| way(false)),
        }
    }
}

/// Sends packets to a queue, in the words that the kernel knows.
fn add_rules(table: &str, peers: &[Ipv4Addr], direction: Direction, number: u16) -> Result<(), NetError> {
    let add = |words| {
        let rules = nft::add(table, peers, direction, Action::Queue(number, words));
        Socket::open()?.commit("send packets to a queue", rules)
    };
    match add(QueueWords::Expression) {
        Err(NetError::Refused { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            add(QueueWords::Target)
        }
        result => result,
    }
}

/// Measures round trips while packets are held; these may take twice the longest delay.
fn measure_beside(peers: Vec<Ipv4Addr>, delay: Delay) -> Receiver<RoundTrips> {
    let (measured, during) = mpsc::channel();
    let longest = Duration::from_nanos(delay.bounds_ns().1);
    thread::spawn(move || {
        // Nobody may wait for it any more.
        let _ = measured.send(round_trip::measure(&peers, longest.saturating_mul(2) + SOUND));
    });
    during
}

fn micros(time: Duration) -> u64 {
    time.as_micros().try_into().unwrap_or(u64::MAX)
}
