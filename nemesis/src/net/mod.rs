//! Cuts: packets to and from peers dropped and counted by nf_tables rules in this node's own network namespace. Delays,
//! see [`Shaper`], are made of such rules too.
//!
//! The kernel is spoken to directly over a netlink socket, so that no program need be in the node's image. Messages are
//! put together here: netlink-packet-netfilter knows neither counters nor queues, and nfq hands out no descriptor with
//! which one thread could wait for packets and for the next that is due. Each fault
//! has a table of its own, `fencepost-<id>`: heals are independent, and all rules go with the namespace. Connection
//! tracking plays no part: the rules look at each packet's addresses, so that established connections are cut too. IPv4
//! only.
//!
//! A packet dropped on its way out is lost like any other to TCP, which sends it again; a UDP or raw sender is told
//! `EPERM`.

mod headers;
mod held;
mod holder;
mod message;
mod nft;
mod queue;
mod round_trip;
mod shaper;
mod socket;

use std::{collections::BTreeMap, io, net::Ipv4Addr};

use serde::{Deserialize, Serialize};

pub use self::shaper::Shaper;
use self::{message::Message, nft::Action, socket::Socket};
use crate::verbs::{self, Direction};

/// What the rules of one peer have dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Packets from the peer.
    pub packets_in: u64,
    /// Their bytes, IP headers included.
    pub bytes_in: u64,
    /// Packets to the peer.
    pub packets_out: u64,
    /// Their bytes, IP headers included.
    pub bytes_out: u64,
}

impl From<Dropped> for verbs::Dropped {
    fn from(dropped: Dropped) -> verbs::Dropped {
        let Dropped { packets_in, bytes_in, packets_out, bytes_out } = dropped;
        verbs::Dropped { packets_in, packets_out, bytes_in: Some(bytes_in), bytes_out: Some(bytes_out) }
    }
}

/// What a fault's rules have dropped, by peer.
pub type Counters = BTreeMap<Ipv4Addr, Dropped>;

/// A cut could not be made, read or healed.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The socket failed.
    #[error("netlink: {0}")]
    Io(#[from] io::Error),
    /// The kernel refused.
    #[error("the kernel refuses to {what}: {error}{}", hint(error))]
    Refused {
        /// What was asked.
        what: &'static str,
        /// Its answer.
        error: io::Error,
    },
    /// The fault is in place already.
    #[error("fault {0} has its rules already")]
    Exists(u32),
    /// An answer of the kernel is cut short.
    #[error("the kernel's answer cannot be read")]
    Malformed,
    /// A healed fault's table is still there.
    #[error("the rules {0} are still there")]
    NotHealed(String),
    /// There are 65536 queues.
    #[error("there is no queue for the rules {0}")]
    NoQueue(u32),
    /// Packets may have passed that were to be held.
    #[error("packets were not held: {0}")]
    NotHeld(String),
}

/// Drops packets from and to `peers`, one way or both, until [`heal`]. All rules come into force at once.
pub fn cut(fault: u32, peers: &[Ipv4Addr], direction: Direction) -> Result<(), NetError> {
    let batch = nft::add(&table(fault), peers, direction, Action::Drop);
    match Socket::open()?.commit("add rules", batch) {
        Err(NetError::Refused { error, .. }) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(NetError::Exists(fault))
        }
        result => result,
    }
}

/// What a fault's rules have dropped until now; empty when it has none.
pub fn counters(fault: u32) -> Result<Counters, NetError> {
    counters_of(&table(fault))
}

/// Removes a fault's rules, verifies that, and returns what they dropped. Healing what is healed is no error.
pub fn heal(fault: u32) -> Result<Counters, NetError> {
    let counters = counters(fault)?;
    remove(nft::remove(&table(fault)))?;
    verify_healed(fault)?;
    Ok(counters)
}

/// Fails unless the fault's table is gone.
pub fn verify_healed(fault: u32) -> Result<(), NetError> {
    verify_gone(&table(fault))
}

/// All packets of all peers together.
pub fn packets(counters: &Counters) -> u64 {
    counters.values().map(|dropped| dropped.packets_in + dropped.packets_out).sum()
}

/// What the rules of a table have met; nothing when it is not there.
fn counters_of(table: &str) -> Result<Counters, NetError> {
    match Socket::open()?.dump("read rules", nft::list_rules(table)) {
        Ok(answers) => nft::counters(&answers),
        Err(NetError::Refused { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            Ok(Counters::new())
        }
        Err(error) => Err(error),
    }
}

/// Removes what may be gone already.
fn remove(batch: Vec<Message>) -> Result<(), NetError> {
    match Socket::open()?.commit("remove rules", batch) {
        Err(NetError::Refused { error, .. }) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn verify_gone(table: &str) -> Result<(), NetError> {
    match Socket::open()?.commit("look for a table", nft::find_table(table)) {
        Err(NetError::Refused { error, .. }) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(()) => Err(NetError::NotHealed(table.to_owned())),
    }
}

fn table(fault: u32) -> String {
    format!("fencepost-{fault}")
}

fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(nix::libc::EPERM) => "; the container needs CAP_NET_ADMIN",
        Some(nix::libc::EOPNOTSUPP | nix::libc::EINVAL) => "; does this kernel have nf_tables?",
        _ => "",
    }
}
