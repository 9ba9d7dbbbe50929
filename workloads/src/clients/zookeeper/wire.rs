//! One TCP connection of a session: requests out, answers and events in.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    io,
    rc::Rc,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::tcp::{OwnedReadHalf, OwnedWriteHalf},
    sync::{Notify, mpsc, oneshot},
};

use super::{
    errors::code::SESSION_EXPIRED,
    jute::{Malformed, Reader, Writer},
};
use crate::{
    api::{Answered, zookeeper::ZkEvent},
    env::Env,
};

/// Longer packets are malformed (the servers' own limit is 1 MiB).
const LENGTH_MAX: usize = 4 << 20;
/// Events that wait to be asked for; more come only from a server that tells what nobody watches.
const EVENTS_MAX: usize = 10_000;
const EVENT: i32 = -1;
const PING: i32 = -2;
const PING_TYPE: i32 = 11;

/// An answer: the server's error code, 0 for none, and the record.
pub(super) type Reply = (i32, Vec<u8>);

/// What the tasks of a connection share with its callers.
pub(super) struct Wire {
    env: Env,
    /// The session's time-out.
    timeout: Duration,
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    /// Requests in the order sent, which is the order of the answers.
    pending: RefCell<VecDeque<Pending>>,
    pings: RefCell<VecDeque<u64>>,
    events: RefCell<VecDeque<ZkEvent>>,
    news: Notify,
    /// How the connection ended, if it did.
    ended: RefCell<Option<ZkEvent>>,
    next_xid: Cell<i32>,
    answered: Answered,
    zxid_seen: Cell<i64>,
}

struct Pending {
    xid: i32,
    sent: u64,
    reply: oneshot::Sender<Reply>,
}

impl Wire {
    /// `asked`: when the session was asked for. The receiver is for [`Wire::send_all`].
    pub(super) fn new(
        env: &Env,
        timeout: Duration,
        asked: u64,
        zxid_seen: i64,
    ) -> (Rc<Wire>, mpsc::UnboundedReceiver<Vec<u8>>) {
        let (outgoing, queue) = mpsc::unbounded_channel();
        let wire = Wire {
            env: env.clone(),
            timeout,
            outgoing,
            pending: RefCell::default(),
            pings: RefCell::default(),
            events: RefCell::default(),
            news: Notify::new(),
            ended: RefCell::new(None),
            next_xid: Cell::new(1),
            answered: Answered::new(asked, timeout),
            zxid_seen: Cell::new(zxid_seen),
        };
        (Rc::new(wire), queue)
    }

    /// Gives a request to the connection, whole: its answer will come through the receiver, or never. `None`: the connection has ended.
    pub(super) fn request(
        &self,
        kind: i32,
        body: impl FnOnce(Writer) -> Writer,
    ) -> Option<oneshot::Receiver<Reply>> {
        if self.ended.borrow().is_some() {
            return None;
        }
        let xid = self.next_xid.replace(self.next_xid.get() % i32::MAX + 1);
        let (reply, receiver) = oneshot::channel();
        self.pending.borrow_mut().push_back(Pending { xid, sent: self.env.now(), reply });
        self.outgoing.send(body(Writer::default().int(xid).int(kind)).packet()).ok()?;
        Some(receiver)
    }

    /// Marks the connection as ended; who waits on it learns so.
    pub(super) fn end(&self, how: ZkEvent) {
        self.ended.borrow_mut().get_or_insert(how);
        self.pending.borrow_mut().clear();
        self.news.notify_one();
    }

    pub(super) fn is_open(&self) -> bool {
        self.ended.borrow().is_none()
    }

    pub(super) fn answered(&self) -> &Answered {
        &self.answered
    }

    pub(super) fn zxid_seen(&self) -> i64 {
        self.zxid_seen.get()
    }

    pub(super) async fn next_event(&self) -> ZkEvent {
        loop {
            let event = self.events.borrow_mut().pop_front().or_else(|| self.ended.borrow().clone());
            match event {
                Some(event) => return event,
                None => self.news.notified().await,
            }
        }
    }

    /// Writes what is queued, and a ping each third of the time-out. Ends the connection when the server was silent
    /// for two thirds of it, as the official client does: a session must not seem alive for want of news.
    pub(super) async fn send_all(
        self: Rc<Self>,
        mut writer: OwnedWriteHalf,
        mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
    ) {
        let third = self.timeout / 3;
        let mut ping_at = self.env.now() + third.as_nanos() as u64;
        while self.is_open() {
            let until_ping = Duration::from_nanos(ping_at.saturating_sub(self.env.now()));
            let packet = tokio::select! {
                biased;
                queued = queue.recv() => match queued {
                    Some(packet) => packet,
                    None => return,
                },
                () = self.env.sleep(until_ping) => {
                    ping_at = self.env.now() + third.as_nanos() as u64;
                    if self.env.now() > self.answered.last() + (third * 2).as_nanos() as u64 {
                        return self.end(ZkEvent::Disconnected);
                    }
                    self.pings.borrow_mut().push_back(self.env.now());
                    Writer::default().int(PING).int(PING_TYPE).packet()
                }
            };
            if writer.write_all(&packet).await.is_err() {
                self.end(ZkEvent::Disconnected);
            }
        }
    }

    /// Reads until the connection ends.
    pub(super) async fn receive_all(self: Rc<Self>, mut reader: OwnedReadHalf) {
        while self.is_open() {
            let taken = match read_packet(&mut reader).await {
                Ok(packet) => self.take(&packet).map_err(io::Error::other),
                Err(error) => Err(error),
            };
            if taken.is_err() {
                self.end(ZkEvent::Disconnected);
            }
        }
    }

    fn take(&self, packet: &[u8]) -> Result<(), Malformed> {
        let mut reader = Reader::new(packet);
        let (xid, zxid, code) = (reader.int()?, reader.long()?, reader.int()?);
        self.zxid_seen.set(self.zxid_seen.get().max(zxid));
        match xid {
            EVENT => return self.event(&mut reader),
            PING => {
                let sent = self.pings.borrow_mut().pop_front();
                self.answered.note(sent.unwrap_or_default());
            }
            _ => {
                let first = self.pending.borrow_mut().pop_front();
                let Some(pending) = first.filter(|pending| pending.xid == xid) else {
                    self.end(ZkEvent::Disconnected);
                    return Ok(());
                };
                self.answered.note(pending.sent);
                // Whoever asked may have stopped waiting.
                let _ = pending.reply.send((code, packet[16..].to_vec()));
            }
        }
        if code == SESSION_EXPIRED {
            self.end(ZkEvent::Expired);
        }
        Ok(())
    }

    fn event(&self, reader: &mut Reader) -> Result<(), Malformed> {
        let (kind, state, path) = (reader.int()?, reader.int()?, reader.string()?);
        let event = match kind {
            1 => ZkEvent::Created(path),
            2 => ZkEvent::Deleted(path),
            3 => ZkEvent::DataChanged(path),
            4 => ZkEvent::ChildrenChanged(path),
            _ if state == SESSION_EXPIRED => {
                self.end(ZkEvent::Expired);
                return Ok(());
            }
            _ => return Ok(()),
        };
        if self.events.borrow().len() == EVENTS_MAX {
            self.end(ZkEvent::Disconnected);
            return Ok(());
        }
        self.events.borrow_mut().push_back(event);
        self.news.notify_one();
        Ok(())
    }
}

/// Reads one packet.
pub(super) async fn read_packet(reader: &mut (impl AsyncReadExt + Unpin)) -> io::Result<Vec<u8>> {
    let length = reader.read_i32().await?;
    let length = usize::try_from(length).ok().filter(|&length| length <= LENGTH_MAX);
    let Some(length) = length else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "malformed packet"));
    };
    let mut packet = vec![0; length];
    reader.read_exact(&mut packet).await?;
    Ok(packet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real_env::RealEnv;

    #[test]
    fn a_server_that_tells_of_events_without_end_is_left() {
        let env = Env::new(RealEnv::new(0, 0));
        let (wire, _queue) = Wire::new(&env, Duration::from_secs(1), 0, 0);
        let event = Writer::default().int(EVENT).long(-1).int(0).int(1).int(3).string("/a").packet();
        let mut told = 0;
        while wire.is_open() {
            wire.take(&event[4..]).unwrap();
            told += 1;
            assert!(told <= EVENTS_MAX + 1, "it listens on and on");
        }
        assert_eq!(told, EVENTS_MAX + 1);
    }
}
