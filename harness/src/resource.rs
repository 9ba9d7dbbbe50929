//! The process of the protected resource's node.

use std::{net::SocketAddr, rc::Rc};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::{TcpListener, TcpSocket},
};
use workloads::{env::Env, real_env::RealEnv};

use crate::{
    agent::{line::write_line, protocol::Tag},
    error::{Error, Result},
};

/// How many may wait to be accepted. Before the run begins nobody is, and every client may try and connect.
const WAITING: u32 = 1024;

/// Listens, waits for the run to begin (a line on stdin: CLOCK_MONOTONIC of its beginning, nanoseconds), and serves
/// until killed; each request served is a tagged line on stdout.
pub fn main(listen: SocketAddr) -> Result<()> {
    let failed = |error: std::io::Error| Error::Harness(format!("the resource failed on {listen}: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let listener = open(listen).map_err(failed)?;
        let mut line = String::new();
        BufReader::new(tokio::io::stdin()).read_line(&mut line).await.map_err(failed)?;
        let start_ns = line
            .trim()
            .parse()
            .map_err(|_| Error::Harness(format!("the resource was told no time: {line:?}")))?;
        let env = Env::new(RealEnv::new(start_ns, 0));
        workloads::resource::serve(env, listener, Rc::new(|entry| write_line(Tag::Resource, entry))).await;
        Ok(())
    })
}

fn open(listen: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if listen.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(listen)?;
    socket.listen(WAITING)
}
