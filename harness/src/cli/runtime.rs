//! Running something asynchronous from a command.

use std::future::Future;

use crate::error::{Error, Result};

/// One thread, as the run loop and its links need it.
pub fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::Harness(format!("failed to start the runtime: {error}")))?;
    tokio::task::LocalSet::new().block_on(&runtime, future)
}
