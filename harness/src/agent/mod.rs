//! PID 1 of every node: starts the node's process, applies faults to it, and dies with the harness.
//!
//! It ends when its stdin closes, and the container with everything in it ends with it: nothing to clean up, whatever
//! became of the harness. Plain threads, no runtime: ptrace and reaping must be kept apart by one lock, and a process
//! that is PID 1 should have few ways to fail.

mod commands;
mod node;
pub mod protocol;
mod reaper;

use std::{io::BufRead, sync::Arc};

use self::{
    node::Node,
    protocol::{Message, Request, Tag},
};
use workloads::real_env::monotonic_ns;

use crate::{client::write_line, error::Result};

/// Serves requests from stdin until it closes.
pub fn main() -> Result<()> {
    let node = Arc::new(Node::new(reaper::Reaper::start()));
    say(&Message::Hello {
        version: env!("CARGO_PKG_VERSION").into(),
        now_ns: monotonic_ns(),
        boot_id: crate::world::docker::boot_id(),
    });
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match serde_json::from_str::<Request>(&line) {
            Ok(request) => serve(&node, request),
            Err(error) => write_line(Tag::Log, &format!("unreadable request: {error}: {line}")),
        }
    }
    Ok(())
}

/// Commands that may take long get a thread of their own; the others keep their order.
fn serve(node: &Arc<Node>, request: Request) {
    let id = request.id;
    let answer = move |node: &Node, command| {
        let result = commands::run(node, command);
        say(&Message::Reply { id, now_ns: monotonic_ns(), result });
    };
    if matches!(request.command, protocol::Command::Exec { .. }) {
        let node = node.clone();
        std::thread::spawn(move || answer(&node, request.command));
    } else {
        answer(node, request.command);
    }
}

fn say(message: &Message) {
    write_line(Tag::Agent, message);
}
