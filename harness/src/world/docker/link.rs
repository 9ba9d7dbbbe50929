//! The control link to one node's agent, over its container's attached stdin and stdout.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    pin::Pin,
    rc::{Rc, Weak},
    time::Duration,
};

use bollard::container::{AttachContainerResults, LogOutput};
use futures_util::StreamExt;
use serde_json::{Map, Value};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::{Mutex, oneshot},
};

use super::loss::Loss;
use crate::{
    agent::protocol::{Command, Message, Request, Tag},
    ticker::Stall,
};
use crate::{engine::explain, own_ticks::OwnTicks};

/// A reply's content and when it was done, on the nodes' monotonic clock.
#[derive(Clone)]
pub struct Done {
    /// Result of the command.
    pub result: Map<String, Value>,
    /// CLOCK_MONOTONIC of the nodes' kernel, nanoseconds.
    pub now_ns: u64,
}

type Reply = Result<Done, String>;

/// What comes up a link besides replies.
pub enum Upward {
    /// A tagged line, without its tag.
    Line(Tag, Vec<u8>),
    /// The agent's first words.
    Hello(Message),
    /// The node stood still.
    Stall(Stall),
    /// The node's process ended unasked.
    Exit(String),
    /// The stream came to its end; what broke it, if anything did.
    Closed(Option<String>),
    /// The agent heard nothing from here for so long, and has ended.
    Unheard(Duration),
}

/// How often an agent hears of the harness: it ends when that stays away for several times as long.
const SIGN_OF_LIFE: Duration = Duration::from_secs(3);

/// Sends commands to one agent.
pub struct Link {
    node: String,
    input: Mutex<Pin<Box<dyn AsyncWrite + Send>>>,
    waiting: RefCell<BTreeMap<u64, oneshot::Sender<Reply>>>,
    next: Cell<u64>,
    closed: Cell<bool>,
    ticks: OwnTicks,
    loss: Loss,
}

impl Link {
    /// Takes over an attached container; `upward` is called for each line that is not a reply.
    pub fn open(
        node: &str,
        attached: AttachContainerResults,
        ticks: OwnTicks,
        loss: Loss,
        upward: impl Fn(Upward) + 'static,
    ) -> Rc<Link> {
        let link = Rc::new(Link {
            node: node.to_string(),
            input: Mutex::new(attached.input),
            waiting: RefCell::default(),
            next: Cell::new(1),
            closed: Cell::new(false),
            ticks,
            loss,
        });
        tokio::task::spawn_local(Link::keep(Rc::downgrade(&link)));
        let mut output = attached.output;
        let reader = link.clone();
        tokio::task::spawn_local(async move {
            let mut lines = Lines::default();
            let mut broke = None;
            while let Some(frame) = output.next().await {
                let frame = match frame {
                    Ok(frame) => frame,
                    Err(error) => {
                        broke = Some(explain(&error));
                        break;
                    }
                };
                match frame {
                    LogOutput::StdOut { message } | LogOutput::Console { message } => {
                        lines.push(&message, |line| reader.take(line, &upward));
                    }
                    LogOutput::StdErr { message } => upward(Upward::Line(Tag::Log, message.to_vec())),
                    LogOutput::StdIn { .. } => {}
                }
            }
            reader.closed.set(true);
            reader.waiting.borrow_mut().clear();
            upward(Upward::Closed(broke));
        });
        link
    }

    fn take(&self, line: &[u8], upward: &impl Fn(Upward)) {
        let Some((tag, rest)) = line.split_first().and_then(|(byte, rest)| Some((Tag::of(*byte)?, rest)))
        else {
            return upward(Upward::Line(Tag::Log, line.to_vec()));
        };
        if tag != Tag::Agent {
            return upward(Upward::Line(tag, rest.to_vec()));
        }
        match serde_json::from_slice(rest) {
            Ok(Message::Reply { id, now_ns, result }) => {
                if let Some(waiter) = self.waiting.borrow_mut().remove(&id) {
                    // A waiter that gave up is no harm.
                    let _ = waiter.send(result.map(|result| Done { result, now_ns }));
                }
            }
            Ok(hello @ Message::Hello { .. }) => upward(Upward::Hello(hello)),
            Ok(Message::Stall { due_ns, came_ns }) => upward(Upward::Stall(Stall { due_ns, came_ns })),
            Ok(Message::Exit { status, .. }) => upward(Upward::Exit(status)),
            Ok(Message::Unheard { for_ms, .. }) => upward(Upward::Unheard(Duration::from_millis(for_ms))),
            Err(error) => {
                upward(Upward::Line(Tag::Log, format!("unreadable agent message: {error}").into_bytes()))
            }
        }
    }

    /// Runs a command to its answer, or fails after `limit`, in which the harness has not stood still.
    pub async fn call(&self, command: Command, limit: Duration) -> Reply {
        let id = self.next.replace(self.next.get() + 1);
        let (sender, receiver) = oneshot::channel();
        if self.closed.get() {
            return Err(format!("{}: its container is gone", self.node));
        }
        self.waiting.borrow_mut().insert(id, sender);
        let answered = async {
            self.send(&Request { id, command }).await?;
            Ok::<_, String>(self.ticks.timeout(limit, receiver).await)
        };
        match self.loss.or(answered).await?? {
            Some(Ok(reply)) => reply.map_err(|why| format!("{}: {why}", self.node)),
            Some(Err(_)) => Err(format!("{}: its container ended", self.node)),
            None => Err(format!("{}: its agent did not answer within {limit:?}", self.node)),
        }
    }

    /// Tells the agent now and then that the harness is there, until the container is gone.
    async fn keep(link: Weak<Link>) {
        loop {
            tokio::time::sleep(SIGN_OF_LIFE).await;
            let Some(link) = link.upgrade().filter(|link| !link.closed.get()) else { return };
            // Whoever needs the link learns why it fails.
            let _ = link.write(b"\n").await;
        }
    }

    async fn send(&self, request: &Request) -> Result<(), String> {
        let mut line = serde_json::to_vec(request).map_err(|error| error.to_string())?;
        line.push(b'\n');
        self.write(&line).await
    }

    async fn write(&self, line: &[u8]) -> Result<(), String> {
        let mut input = self.input.lock().await;
        let sent = async {
            input.write_all(line).await?;
            input.flush().await
        };
        sent.await.map_err(|error| format!("{}: failed to reach its agent: {error}", self.node))
    }
}

/// Puts lines together again from frames that may cut them anywhere.
#[derive(Default)]
struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(&[u8])) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, after) = bytes.split_at(end);
            bytes = &after[1..];
            if self.rest.is_empty() {
                take(line);
            } else {
                self.rest.extend_from_slice(line);
                take(&std::mem::take(&mut self.rest));
            }
        }
        self.rest.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_any_framing() {
        let text = b"one\ntwo\n\nthree\n";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut got = Vec::new();
            text.chunks(size).for_each(|chunk| lines.push(chunk, |line| got.push(line.to_vec())));
            assert_eq!(
                got,
                [b"one".to_vec(), b"two".to_vec(), b"".to_vec(), b"three".to_vec()],
                "frames of {size}"
            );
        }
    }
}
