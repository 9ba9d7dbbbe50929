//! A modelled server, as the simulated world knows it.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

use std::{cell::RefCell, rc::Rc, time::Duration};

use simulation::Node;

/// One server of a simulated run: what runs on its node, and what its disk keeps when that is killed.
pub trait Service {
    /// Starts it on its living node, with what its disk kept.
    fn start(&self, node: &Node);

    /// A power cut; how many records it lost, for servers whose disk is modelled with a cache.
    fn lose_unsynced(&self) -> Option<usize> {
        None
    }

    /// Whether clients can use it.
    fn is_ready(&self) -> bool;

    /// The term in which it leads, if it does.
    fn leads(&self) -> Option<u64>;
}

/// A sync of a disk, as containers on memory have it.
pub(super) const SYNC: Duration = Duration::from_micros(500);

/// The server that runs now, once it was started.
pub(super) struct Running<S>(RefCell<Option<Rc<S>>>);

impl<S> Running<S> {
    /// None yet.
    pub(super) fn none() -> Running<S> {
        Running(RefCell::new(None))
    }

    /// It was started.
    pub(super) fn set(&self, server: Rc<S>) {
        *self.0.borrow_mut() = Some(server);
    }

    /// What it says; `None` if it was never started.
    pub(super) fn ask<T>(&self, question: impl FnOnce(&S) -> T) -> Option<T> {
        self.0.borrow().as_deref().map(question)
    }
}
