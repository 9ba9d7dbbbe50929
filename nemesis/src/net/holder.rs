//! The thread that holds a queue's packets until they are due.

use std::{
    collections::BTreeMap,
    io::{self, PipeReader},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, ppoll},
    sys::time::TimeSpec,
};

use super::{
    NetError,
    held::{Held, Packets, Way},
    queue::Queue,
};

/// A packet that met the rules just before they went has come by then.
const STRAGGLERS: Duration = Duration::from_millis(2);

/// What was held in all.
pub struct Outcome {
    /// By way.
    pub held: BTreeMap<Way, Held>,
    /// Packets that came, those of measures too.
    pub received: u64,
    /// Packets that the kernel dropped while they waited.
    pub flushed: u64,
}

/// Holds each packet of `queue` until it is due, and lets all go when the other end of `end` is closed.
pub fn hold(mut queue: Queue, mut packets: Packets, end: &PipeReader) -> Result<Outcome, NetError> {
    let mut received = 0;
    while !wait(&queue, end, packets.next_due())? {
        received += take(&mut queue, &mut packets)?;
        queue.accept(&packets.release(Instant::now()))?;
    }
    let until = Instant::now() + STRAGGLERS;
    loop {
        received += take(&mut queue, &mut packets)?;
        queue.accept(&packets.release_all(Instant::now()))?;
        if Instant::now() >= until {
            break;
        }
        ready(&mut [PollFd::new(queue.fd(), PollFlags::POLLIN)], Some(until))?;
    }
    let flushed = queue.flushed();
    Ok(Outcome { held: packets.held(), received, flushed })
}

/// Holds what has come; how many packets that are.
fn take(queue: &mut Queue, packets: &mut Packets) -> Result<u64, NetError> {
    let came = queue.receive()?;
    let now = Instant::now();
    came.iter().for_each(|packet| packets.hold(packet.id, packet.way, now, !packet.is_of_measure));
    Ok(came.len() as u64)
}

/// Waits for a packet, for the end, or until then; whether the end has come.
fn wait(queue: &Queue, end: &PipeReader, until: Option<Instant>) -> Result<bool, NetError> {
    let mut fds = [PollFd::new(queue.fd(), PollFlags::POLLIN), PollFd::new(end.as_fd(), PollFlags::empty())];
    ready(&mut fds, until)?;
    Ok(fds[1].any().unwrap_or(false))
}

fn ready(fds: &mut [PollFd<'_>], until: Option<Instant>) -> Result<(), NetError> {
    let left = until.map(|until| TimeSpec::from(until.saturating_duration_since(Instant::now())));
    match ppoll(fds, left, None) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(NetError::Io(io::Error::from(error))),
    }
}
