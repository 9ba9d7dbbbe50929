//! One netlink socket to netfilter: batches that are committed whole, and dumps.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
};

use nix::{
    errno::Errno,
    sys::{
        socket::{
            AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send,
            setsockopt, socket, sockopt,
        },
        time::TimeVal,
    },
};

use super::{
    NetError,
    message::{Message, NLMSG_ERROR, Received},
};

// <linux/netlink.h>
const NLMSG_DONE: u16 = 3;

/// What may wait to be received, or be sent at once, in bytes.
const ROOM: usize = 16 << 20;

/// A socket; requests are numbered from 1.
pub struct Socket {
    fd: OwnedFd,
    sequence: u32,
}

impl Socket {
    /// Opens one in the network namespace of the calling thread.
    pub fn open() -> Result<Socket, NetError> {
        let protocol = SockProtocol::NetlinkNetFilter;
        let fd = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)
            .map_err(io::Error::from)?;
        bind(fd.as_raw_fd(), &NetlinkAddr::new(0, 0)).map_err(io::Error::from)?;
        // The kernel answers before `send` returns; a lost answer must not block for ever.
        setsockopt(&fd, sockopt::ReceiveTimeout, &TimeVal::new(5, 0)).map_err(io::Error::from)?;
        // The rules for many peers are one message, and many packets may wait. Only root of the whole machine may exceed
        // its limits.
        setsockopt(&fd, sockopt::SndBufForce, &ROOM)
            .or_else(|_| setsockopt(&fd, sockopt::SndBuf, &ROOM))
            .map_err(io::Error::from)?;
        setsockopt(&fd, sockopt::RcvBufForce, &ROOM)
            .or_else(|_| setsockopt(&fd, sockopt::RcvBuf, &ROOM))
            .map_err(io::Error::from)?;
        Ok(Socket { fd, sequence: 0 })
    }

    /// Sends messages at once and waits for an acknowledgement, which one of them, the last change, asks for. An error
    /// that comes before it is that of an earlier message, and is what is returned.
    pub fn commit(&mut self, what: &'static str, messages: Vec<Message>) -> Result<(), NetError> {
        self.send(messages)?;
        loop {
            for answer in self.receive()? {
                if answer.kind == NLMSG_ERROR {
                    return accept(what, &answer);
                }
            }
        }
    }

    /// Sends one request for a dump and collects the answers.
    pub fn dump(&mut self, what: &'static str, request: Message) -> Result<Vec<Received>, NetError> {
        self.send(vec![request])?;
        let mut answers = Vec::new();
        loop {
            for answer in self.receive()? {
                match answer.kind {
                    NLMSG_DONE => return Ok(answers),
                    NLMSG_ERROR => accept(what, &answer)?,
                    _ => answers.push(answer),
                }
            }
        }
    }

    /// What tells that something can be received.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// What can be received without waiting, one datagram of it.
    pub fn receive_now(&self) -> Result<Option<Vec<Received>>, NetError> {
        match self.receive_with(MsgFlags::MSG_DONTWAIT) {
            Ok(received) => received.map(Some),
            // Without room for it something was lost; what is there is told the next time.
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOBUFS) => Ok(None),
            Err(error) => Err(NetError::Io(error.into())),
        }
    }

    /// Sends messages at once.
    pub fn send(&mut self, messages: Vec<Message>) -> Result<(), NetError> {
        let mut bytes = Vec::new();
        for message in messages {
            self.sequence += 1;
            bytes.extend(message.numbered(self.sequence));
        }
        send(self.fd.as_raw_fd(), &bytes, MsgFlags::empty()).map_err(io::Error::from)?;
        Ok(())
    }

    fn receive(&self) -> Result<Vec<Received>, NetError> {
        self.receive_with(MsgFlags::empty()).map_err(io::Error::from)?
    }

    fn receive_with(&self, flags: MsgFlags) -> Result<Result<Vec<Received>, NetError>, Errno> {
        let mut buffer = vec![0; 64 * 1024];
        let length = recv(self.fd.as_raw_fd(), &mut buffer, flags)?;
        Ok(Received::split(&buffer[..length]))
    }
}

fn accept(what: &'static str, answer: &Received) -> Result<(), NetError> {
    match answer.errno()? {
        0 => Ok(()),
        errno => Err(NetError::Refused { what, error: io::Error::from_raw_os_error(errno) }),
    }
}
