//! A process that outlives a killed harness by a moment, to remove what it left.
//!
//! Agents die with the harness by themselves. What cannot are containers that were made and not yet started, and the
//! network; the keeper removes those as soon as the pipe to the harness breaks.

use std::{
    cell::RefCell,
    io::Read,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
};

use super::{Engine, clean};
use crate::error::{Error, Result};

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

    /// Everything is removed: it is not needed any more.
    pub fn dismiss(&self) {
        if let Some(mut child) = self.0.take() {
            // It may be gone already; then it did no harm.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The keeper's own main: waits until the harness is gone, then removes what is left of the run.
pub async fn main(run: &str) -> Result<()> {
    let mut nothing = Vec::new();
    // However the pipe ends, the harness is gone.
    let _ = std::io::stdin().read_to_end(&mut nothing);
    clean::remove_run(&Engine::connect().await?, run).await
}
