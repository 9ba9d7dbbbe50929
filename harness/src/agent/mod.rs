//! PID 1 of every node: starts the node's process, applies faults to it, and dies with the harness.
//!
//! It ends when its stdin closes, or when nothing comes from there for long, and the container with everything in it ends
//! with it: nothing to clean up, whatever became of the harness. Plain threads, no runtime: ptrace and reaping must be
//! kept apart by one lock, and a process that is PID 1 should have few ways to fail.

mod commands;
mod failure;
mod lease;
pub mod line;
mod memory;
mod node;
mod output;
mod patience;
pub mod protocol;
mod reach;
mod reaper;
mod shapes;
mod ticker;

use std::{io::BufRead, sync::Arc, time::Duration};

use self::{
    lease::Lease,
    line::write_line,
    node::Node,
    protocol::{Message, Request, Tag},
};
use workloads::real_env::monotonic_ns;

use crate::error::Result;

/// How long an agent lives without hearing from the harness, in milliseconds.
pub const LEASE_MS: u64 = 30_000;

/// Serves requests from stdin until it closes, or nothing was heard from there for as long as `lease`.
pub fn main(lease: Duration) -> Result<()> {
    // Before any other thread: those that come later take no signal from it.
    let node = Arc::new(Node::new(reaper::Reaper::start()));
    let lease = Lease::begin(lease);
    say(&Message::Hello {
        version: env!("CARGO_PKG_VERSION").into(),
        now_ns: monotonic_ns(),
        boot_id: boot_id(),
    });
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        lease.renew();
        if line.is_empty() {
            // A sign of life, and no more.
            continue;
        }
        match serde_json::from_str::<Request>(&line) {
            Ok(request) => serve(&node, request),
            Err(error) => write_line(Tag::Log, &format!("unreadable request: {error}: {line}")),
        }
        // What was asked may have taken long.
        lease.renew();
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
    if matches!(request.command, protocol::Command::Exec { .. } | protocol::Command::Reach { .. }) {
        let node = node.clone();
        let spawned = std::thread::Builder::new().spawn(move || answer(&node, request.command));
        if let Err(error) = spawned {
            // A server may have taken all that the node has.
            let result = Err(format!("failed to start a thread: {error}"));
            say(&Message::Reply { id, now_ns: monotonic_ns(), result });
        }
    } else {
        answer(node, request.command);
    }
}

fn say(message: &Message) {
    write_line(Tag::Agent, message);
}

/// Of the machine's kernel: another boot, another clock.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_string()
}
