//! What a server says of itself, and the exchanges by which it is asked.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde::{Deserialize, Serialize};

/// What a server says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Its version, as it reports it.
    pub version: String,
    /// Whether it leads now, by its own belief.
    pub leads: bool,
    /// The term of that belief, where the system has one: of two that believe, the greater is right.
    pub term: u64,
    /// Whether the service as a whole is complete, as far as this server knows.
    #[serde(skip)]
    pub complete: bool,
}

/// Why a server does not serve, or not yet.
#[derive(Debug, thiserror::Error)]
pub enum Unready {
    /// It cannot be reached, or breaks off.
    #[error("{address}: {source}")]
    Broken {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// It is there and does not serve: what it said, in words.
    #[error("{0}")]
    Answered(String),
}

/// Limit of one exchange.
const PATIENCE: Duration = Duration::from_millis(1000);
/// An answer is shorter.
const ANSWER_MAX: u64 = 1 << 20;

/// Sends a request and reads until the server closes.
pub(super) fn exchange(address: SocketAddr, request: &[u8]) -> Result<String, Unready> {
    let mut answer = Vec::new();
    connect(address)
        .and_then(|mut stream| {
            stream.write_all(request)?;
            stream.take(ANSWER_MAX).read_to_end(&mut answer)
        })
        .map_err(|source| Unready::Broken { address, source })?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Sends a request and reads until the answer ends in `last`.
pub(super) fn talk(address: SocketAddr, request: &str, last: &[u8]) -> Result<String, Unready> {
    let mut answer = Vec::new();
    let talked = connect(address).and_then(|mut stream| {
        stream.write_all(request.as_bytes())?;
        let mut part = [0; 4096];
        while !answer.ends_with(last) {
            match stream.read(&mut part)? {
                _ if answer.len() as u64 > ANSWER_MAX => return Err(io::ErrorKind::InvalidData.into()),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => answer.extend_from_slice(&part[..read]),
            }
        }
        Ok(())
    });
    talked.map_err(|source| Unready::Broken { address, source })?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The rest of the line that begins so.
pub(super) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}
