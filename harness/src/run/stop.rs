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
pub struct Stop(Rc<(Cell<u32>, Notify, Interrupts, Cell<bool>)>);

impl Stop {
    /// One that also obeys interrupts from another thread. They are seen when somebody looks; the run loop looks often.
    pub fn by(interrupts: Interrupts) -> Stop {
        Stop(Rc::new((Cell::default(), Notify::default(), interrupts, Cell::default())))
    }

    /// Asks to stop; asked again, forces.
    pub fn request(&self) {
        self.0.0.set(self.0.0.get() + 1);
        self.0.1.notify_waiters();
    }

    /// Ends every wait as a request does, though nobody asked: there is nothing left to wait for.
    pub fn end_waits(&self) {
        self.0.3.set(true);
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

    /// Completes once waits are over.
    async fn waits_over(&self) {
        while !self.ends_waits() {
            self.0.1.notified().await;
        }
    }

    fn ends_waits(&self) -> bool {
        self.is_requested() || self.0.3.get()
    }

    /// Runs `future`, unless the stop comes first: then `None`, and what it was doing is dropped.
    pub async fn or<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        if self.ends_waits() {
            return None;
        }
        let future = std::pin::pin!(future);
        let over = std::pin::pin!(self.waits_over());
        match futures_util::future::select(future, over).await {
            futures_util::future::Either::Left((value, _)) => Some(value),
            futures_util::future::Either::Right(_) => None,
        }
    }
}
