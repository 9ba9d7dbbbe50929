use std::time::Duration;

use crate::{
    error::{OpError, OpResult},
    primitive::{Election, Grant, Leader, Lock, Lost},
};

/// One client's use of a recipe: an election reads as a lock that can be observed.
pub enum Instance {
    /// Of a lock or lease.
    Lock(Box<dyn Lock>),
    /// Of an election.
    Election(Box<dyn Election>),
}

impl Instance {
    /// [`Lock::acquire`] or [`Election::campaign`].
    pub async fn acquire(&mut self, name: &str, wait: Duration) -> OpResult<Grant> {
        match self {
            Instance::Lock(lock) => lock.acquire(name, wait).await,
            Instance::Election(election) => election.campaign(name, wait).await,
        }
    }

    /// [`Lock::renew`] or [`Election::renew`].
    pub async fn renew(&mut self, name: &str) -> OpResult<Grant> {
        match self {
            Instance::Lock(lock) => lock.renew(name).await,
            Instance::Election(election) => election.renew(name).await,
        }
    }

    /// [`Lock::release`] or [`Election::resign`].
    pub async fn release(&mut self, name: &str) -> OpResult<()> {
        match self {
            Instance::Lock(lock) => lock.release(name).await,
            Instance::Election(election) => election.resign(name).await,
        }
    }

    /// [`Election::observe`]; `Definite` for a lock.
    pub async fn observe(&mut self, name: &str) -> OpResult<Option<Leader>> {
        match self {
            Instance::Lock(_) => Err(OpError::Definite("a lock cannot be observed".into())),
            Instance::Election(election) => election.observe(name).await,
        }
    }

    /// [`Lock::usable`]
    pub fn usable(&self) -> bool {
        match self {
            Instance::Lock(lock) => lock.usable(),
            Instance::Election(election) => election.usable(),
        }
    }

    /// [`Lock::lost`]
    pub fn lost(&self) -> Option<Lost> {
        match self {
            Instance::Lock(lock) => lock.lost(),
            Instance::Election(election) => election.lost(),
        }
    }
}
