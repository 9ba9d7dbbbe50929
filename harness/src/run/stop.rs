//! Ctrl-C: the first stops in good order, the second forces.

use std::{cell::Cell, future::Future, rc::Rc};

use tokio::sync::Notify;

/// A request to stop, shared by everything in a run.
#[derive(Clone, Default)]
pub struct Stop(Rc<(Cell<u32>, Notify)>);

impl Stop {
    /// Asks to stop; asked again, forces.
    pub fn request(&self) {
        self.0.0.set(self.0.0.get() + 1);
        self.0.1.notify_waiters();
    }

    /// Whether it was asked to stop.
    pub fn is_requested(&self) -> bool {
        self.0.0.get() > 0
    }

    /// Whether it was asked twice.
    pub fn is_forced(&self) -> bool {
        self.0.0.get() > 1
    }

    /// Completes once it is asked to stop.
    pub async fn requested(&self) {
        while !self.is_requested() {
            self.0.1.notified().await;
        }
    }

    /// Runs `future`, unless the stop comes first: then `None`, and what it was doing is dropped.
    pub async fn or<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        if self.is_requested() {
            return None;
        }
        let future = std::pin::pin!(future);
        let requested = std::pin::pin!(self.requested());
        match futures_util::future::select(future, requested).await {
            futures_util::future::Either::Left((value, _)) => Some(value),
            futures_util::future::Either::Right(_) => None,
        }
    }
}
