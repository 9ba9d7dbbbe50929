//! What a node's processes print, on its way up.

use std::{
    io::{BufRead, BufReader, Read, Write},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use super::protocol::Tag;

/// How long an output that comes thick and fast rests between two writes. The engine copies every write on its own,
/// through four processes: at 100 000 lines a second nearly all of its time goes there.
const REST: Duration = Duration::from_millis(1);

/// A longer line of a server's log is broken into several.
const LOGGED_MAX: u64 = 1 << 16;
/// And so is a longer line of our own processes: then nobody can read it, which is a failure of the harness.
const TAGGED_MAX: u64 = 1 << 24;

/// Passes a process' output up: its own tagged lines as they are, anything else as log lines.
pub fn pass_up(output: impl Read + Send + 'static, tagged: bool) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut output = BufReader::with_capacity(1 << 16, output);
        let mut batch = Vec::new();
        let mut written = Instant::now();
        loop {
            if !tagged {
                batch.push(Tag::Log.byte());
            }
            let limit = if tagged { TAGGED_MAX } else { LOGGED_MAX };
            let read = match output.by_ref().take(limit).read_until(b'\n', &mut batch) {
                Ok(0) | Err(_) => return,
                Ok(read) => read as u64,
            };
            if batch.last() != Some(&b'\n') {
                // Torn by a kill: of a tagged line nothing can be used.
                if tagged && read < limit {
                    return;
                }
                batch.push(b'\n');
            }
            // As many lines in one write as have come already.
            if !output.buffer().contains(&b'\n') || batch.len() > 1 << 16 {
                let mut stdout = std::io::stdout().lock();
                if stdout.write_all(&batch).and_then(|()| stdout.flush()).is_err() {
                    std::process::exit(0);
                }
                batch.clear();
                // A quiet output is passed up at once; what comes meanwhile waits in the pipe.
                if written.elapsed() < REST {
                    std::thread::sleep(REST);
                }
                written = Instant::now();
            }
        }
    })
}
