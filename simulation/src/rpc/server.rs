//! The server's end: requests, and the way back to those who asked.

use std::{
    cell::{Cell, RefCell},
    fmt::Debug,
    rc::Rc,
};

use tokio::sync::Notify;

use super::{Ask, Say};
use crate::{
    net::{Connection, Port, Reader, Writer},
    node::{Node, NodeId},
};

/// A request as a server meets it.
pub struct Request<Q, R> {
    /// What is asked.
    pub body: Q,
    /// Where the answer goes.
    pub reply: Responder<R>,
}

impl<R> Clone for Responder<R> {
    fn clone(&self) -> Self {
        Responder { line: self.line.clone(), id: self.id }
    }
}

/// The way back to one caller's request. Dropped without an answer, the caller waits.
pub struct Responder<R> {
    line: Rc<Line<R>>,
    id: u64,
}

/// One accepted connection.
struct Line<R> {
    writer: Writer<Say<R>>,
    cancelled: RefCell<Vec<u64>>,
    closed: Cell<bool>,
    changed: Notify,
}

impl<R: Debug + 'static> Responder<R> {
    /// Sends an answer.
    pub fn send(&self, reply: R) {
        self.line.writer.send(Say(self.id, reply));
    }

    /// The client at the other end.
    pub fn client(&self) -> NodeId {
        self.line.writer.peer()
    }

    /// Closes the connection, as a server does that no longer wants its client.
    pub fn hang_up(&self) {
        self.line.close();
    }

    /// Whether the caller has gone or cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.line.closed.get() || self.line.cancelled.borrow().contains(&self.id)
    }

    /// Completes when the caller has gone or cancelled.
    pub async fn cancelled(&self) {
        while !self.is_cancelled() {
            self.line.changed.notified().await;
        }
    }
}

/// Serves `port`: every request of every connection goes to `handle`, in the order of each connection.
pub fn serve<Q, R>(node: &Node, port: Port, handle: impl Fn(Request<Q, R>) + 'static)
where
    Q: Debug + 'static,
    R: Debug + 'static,
{
    let handle = Rc::new(handle);
    serve_each(node, port, move || {
        let handle = handle.clone();
        move |request| handle(request)
    });
}

/// Serves `port` with a handler of its own for each connection.
pub fn serve_each<Q, R, H>(node: &Node, port: Port, handler: impl Fn() -> H + 'static)
where
    Q: Debug + 'static,
    R: Debug + 'static,
    H: Fn(Request<Q, R>) + 'static,
{
    let (server, listener) = (node.clone(), node.listen::<Say<R>, Ask<Q>>(port));
    node.run(async move {
        loop {
            let Connection { writer, reader } = listener.accept().await;
            let line = Rc::new(Line {
                writer,
                cancelled: RefCell::default(),
                closed: Cell::new(false),
                changed: Notify::new(),
            });
            server.run(converse(reader, line, handler()));
        }
    });
}

async fn converse<Q: Debug + 'static, R: Debug + 'static>(
    reader: Reader<Ask<Q>>,
    line: Rc<Line<R>>,
    handle: impl Fn(Request<Q, R>),
) {
    // A line that was hung up ends when the client, having heard of it, closes its end too.
    while let Ok(ask) = reader.recv().await {
        match ask {
            _ if line.closed.get() => {}
            Ask::Call(id, body) => {
                let reply = Responder { line: line.clone(), id };
                handle(Request { body, reply });
            }
            Ask::Cancel(id) => {
                line.cancelled.borrow_mut().push(id);
                line.changed.notify_waiters();
            }
        }
    }
    line.close();
}

impl<R: Debug + 'static> Line<R> {
    fn close(&self) {
        if !self.closed.replace(true) {
            self.writer.close();
            self.changed.notify_waiters();
        }
    }
}
