//! What a recipe offers to a workload.

use std::{rc::Rc, time::Duration};

use async_trait::async_trait;
use tokio::sync::Notify;

use crate::error::OpResult;

/// What the client may believe after a successful acquire, campaign or renewal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grant {
    /// Fencing token (a leader's term), where the recipe has one.
    pub token: Option<u64>,
    /// How long the service promised the grant for, counted from `asked`; less the drift that the recipe allows for.
    pub ttl: Option<Duration>,
    /// Until when the client may rely on it: [`crate::env::Env::now`] nanoseconds. `None`: it never looks.
    pub deadline: Option<u64>,
    /// When the request that the promise counts from was sent: [`crate::env::Env::now`] nanoseconds.
    pub asked: Option<u64>,
    /// The service's name for the lease or session behind the grant.
    pub lease: Option<String>,
}

/// Mutual exclusion by name. One grant of a name at a time per instance.
#[async_trait(?Send)]
pub trait Lock {
    /// Waits up to `wait`. `Definite` means: certainly not granted, and nothing is left behind that will be granted later.
    async fn acquire(&mut self, name: &str, wait: Duration) -> OpResult<Grant>;
    /// Extends the grant. `Definite` means the service says that it is lost.
    async fn renew(&mut self, name: &str) -> OpResult<Grant>;
    /// Gives the grant back. `Definite` means that nothing was undone, as when it was no longer ours; when a part may
    /// have been, the outcome is indeterminate.
    async fn release(&mut self, name: &str) -> OpResult<()>;
    /// Whether the recipe's connections are still good; if not, the client replaces it by a new one at another server.
    fn usable(&self) -> bool;
    /// Raised when the service tells the client that its grant is gone, where the recipe listens for that.
    fn lost(&self) -> Option<Lost> {
        None
    }
}

/// Who leads, as an observer saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leader {
    /// The leader's name for itself.
    pub id: String,
    /// The term or token under which it leads.
    pub token: Option<u64>,
}

/// One leader at a time by name of the election.
#[async_trait(?Send)]
pub trait Election {
    /// Waits up to `wait` to become leader; see [`Lock::acquire`].
    async fn campaign(&mut self, name: &str, wait: Duration) -> OpResult<Grant>;
    /// Extends the leadership; see [`Lock::renew`].
    async fn renew(&mut self, name: &str) -> OpResult<Grant>;
    /// Steps down; see [`Lock::release`].
    async fn resign(&mut self, name: &str) -> OpResult<()>;
    /// Who leads now.
    async fn observe(&mut self, name: &str) -> OpResult<Option<Leader>>;
    /// See [`Lock::usable`].
    fn usable(&self) -> bool;
    /// See [`Lock::lost`].
    fn lost(&self) -> Option<Lost> {
        None
    }
}

/// A lock that shows who holds it, and so is an election: its holder leads.
#[async_trait(?Send)]
pub trait Observe: Lock {
    /// Who holds the lock now.
    async fn observe(&mut self, name: &str) -> OpResult<Option<Leader>>;
}

#[async_trait(?Send)]
impl<T: Observe> Election for T {
    async fn campaign(&mut self, name: &str, wait: Duration) -> OpResult<Grant> {
        self.acquire(name, wait).await
    }

    async fn renew(&mut self, name: &str) -> OpResult<Grant> {
        Lock::renew(self, name).await
    }

    async fn resign(&mut self, name: &str) -> OpResult<()> {
        self.release(name).await
    }

    async fn observe(&mut self, name: &str) -> OpResult<Option<Leader>> {
        Observe::observe(self, name).await
    }

    fn usable(&self) -> bool {
        Lock::usable(self)
    }

    fn lost(&self) -> Option<Lost> {
        Lock::lost(self)
    }
}

/// A one-way signal: the grant is lost.
#[derive(Clone, Default)]
pub struct Lost(Rc<(Notify, std::cell::Cell<bool>)>);

impl Lost {
    /// Raises the signal.
    pub fn raise(&self) {
        self.0.1.set(true);
        self.0.0.notify_waiters();
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.0.1.get()
    }

    /// Completes once it is raised.
    pub async fn raised(&self) {
        while !self.is_raised() {
            self.0.0.notified().await;
        }
    }
}
