//! How the processes of a node speak to its agent, and the agent to the harness.

use std::io::Write;

use serde::Serialize;

use super::protocol::Tag;

/// One tagged line on stdout, in one write. Without a reader there is nothing left to do but end.
pub fn write_line(tag: Tag, content: &impl Serialize) {
    let mut line = vec![tag.byte()];
    let written = serde_json::to_writer(&mut line, content).map_err(std::io::Error::from).and_then(|()| {
        line.push(b'\n');
        write_all(&line)
    });
    if written.is_err() {
        std::process::exit(0);
    }
}

fn write_all(line: &[u8]) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(line)?;
    stdout.flush()
}
