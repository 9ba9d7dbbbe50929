//! Ctrl-C: the first stops in good order, the second forces.

use std::{
    cell::Cell,
    future::Future,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use tokio::sync::Notify;

/// A request to stop that may come from another thread; how often it was made.
#[derive(Clone, Debug, Default)]
pub struct Interrupts(Arc<AtomicU32>);

impl Interrupts {
    /// Asks to stop; returns how often that has been done now.
    pub fn request(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether it was asked to stop.
    pub fn is_requested(&self) -> bool {
        self.count() > 0
    }

    fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A request to stop, shared by everything in a run.
#[derive(Clone, Default)]
pub struct Stop(Rc<(Cell<u32>, Notify, Interrupts)>);

impl Stop {
    /// One that also obeys interrupts from another thread. They are seen when somebody looks; the run loop looks often.
    pub fn by(interrupts: Interrupts) -> Stop {
        Stop(Rc::new((Cell::default(), Notify::default(), interrupts)))
    }

    /// Asks to stop; asked again, forces.
    pub fn request(&self) {
        self.0.0.set(self.0.0.get() + 1);
        self.0.1.notify_waiters();
    }

    /// Whether it was asked to stop.
    pub fn is_requested(&self) -> bool {
        self.asked() > 0
    }

    /// Whether it was asked twice.
    pub fn is_forced(&self) -> bool {
        self.asked() > 1
    }

    /// How often, with what came from outside and was not seen yet.
    fn asked(&self) -> u32 {
        let outside = self.0.2.count();
        if outside > self.0.0.get() {
            self.0.0.set(outside);
            self.0.1.notify_waiters();
        }
        self.0.0.get()
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
