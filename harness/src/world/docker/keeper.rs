//! A process that outlives a killed harness by a moment, to remove what it left.
//!
//! Agents die with the harness by themselves. What cannot are containers that were made and not yet started, and the
//! network; the keeper removes those as soon as the pipe to the harness breaks, and those that the engine still makes
//! then. An engine that does not answer is tried again for a while.

use std::{
    cell::RefCell,
    io::Read,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::clean;
use crate::engine::Engine;
use crate::error::{Error, Result};

/// How long nothing of the run must have come up: a create that was under way when the harness died takes a while.
const QUIET: Duration = Duration::from_secs(3);
/// How long it goes on where the engine does not answer or does not remove.
const PATIENCE: Duration = Duration::from_secs(600);
/// Pauses between two tries, the first and the longest.
const AGAIN: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));

/// The keeper of one run, as the harness sees it.
pub struct Keeper(RefCell<Option<Child>>);

impl Keeper {
    /// Starts it, in a process group of its own: Ctrl-C is not for it.
    pub fn start(run: &str) -> Result<Keeper> {
        let failed = |error: std::io::Error| Error::Harness(format!("failed to start the keeper: {error}"));
        let child = Command::new(std::env::current_exe().map_err(failed)?)
            .args(["keep", run])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        Ok(Keeper(RefCell::new(Some(child))))
    }

    /// Everything is removed, and nothing can come up any more: it is not needed. One that is not dismissed sets to work
    /// when the harness ends.
    pub fn dismiss(&self) {
        if let Some(mut child) = self.0.take() {
            // It may be gone already; then it did no harm.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Before anything is opened here: what whoever started the harness had open, such as a lock on a file, is not to be held
/// for as long as an engine does not answer.
pub fn let_go() {
    // SAFETY: closes descriptors that nothing in this process uses yet; where the kernel is too old it does nothing.
    unsafe { nix::libc::syscall(nix::libc::SYS_close_range, 3, nix::libc::c_uint::MAX, 0) };
}

/// The keeper's own main: waits until the harness is gone, then removes what is left of the run.
pub async fn main(run: &str) -> Result<()> {
    let mut nothing = Vec::new();
    // However the pipe ends, the harness is gone.
    let _ = std::io::stdin().read_to_end(&mut nothing);
    let begun = Instant::now();
    let mut pause = AGAIN.0;
    loop {
        let removed = removed(run).await;
        if removed.is_ok() || begun.elapsed() > PATIENCE {
            return removed;
        }
        tokio::time::sleep(pause).await;
        pause = AGAIN.1.min(pause * 2);
    }
}

async fn removed(run: &str) -> Result<()> {
    let engine = Engine::connect().await?;
    engine.attended(clean::remove_run(&engine, run, QUIET)).await?
}
