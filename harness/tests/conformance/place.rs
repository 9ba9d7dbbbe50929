//! What a script finds: servers of one system, real or modelled, and what may happen to them.

use std::{fmt::Debug, rc::Rc, time::Duration};

use async_trait::async_trait;
use workloads::{
    api::{Endpoint, EtcdApi, RedisApi, Stores, ZkApi, zookeeper::Open},
    env::Env,
    error::{OpError, OpResult},
};

/// Longer than any answer takes on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(5);

/// After which a test that waits for something gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// What happens to a server's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    /// It stands still.
    Pause,
    /// It goes on.
    GoOn,
    /// It dies; its files stay.
    Kill,
}

/// Servers of one system, numbered from 0, and a client beside them.
#[async_trait(?Send)]
pub trait Place {
    /// The client's time, chance and tasks.
    fn env(&self) -> Env;
    /// The client's connections.
    fn stores(&self) -> Rc<dyn Stores>;
    /// Where a server answers.
    fn endpoint(&self, server: usize) -> Endpoint;
    /// Lets it happen; true from then on.
    fn strike(&self, server: usize, strike: Strike);
    /// Starts a dead server again, and waits until it listens.
    async fn start(&self, server: usize);
    /// Makes a replica a primary.
    fn promote(&self, server: usize);
    /// Who says of himself that he leads.
    fn leader(&self) -> Option<usize>;
}

/// A script's view of a place.
#[derive(Clone)]
pub struct Scene(Rc<dyn Place>);

impl Scene {
    pub fn new(place: impl Place + 'static) -> Scene {
        Scene(Rc::new(place))
    }

    pub fn env(&self) -> Env {
        self.0.env()
    }

    pub async fn sleep_ms(&self, ms: u64) {
        self.env().sleep(Duration::from_millis(ms)).await;
    }

    /// What is dead or stands still shows so on the connections a moment later.
    pub async fn strike(&self, server: usize, strike: Strike) {
        self.0.strike(server, strike);
        self.sleep_ms(100).await;
    }

    pub async fn start(&self, server: usize) {
        self.0.start(server).await;
    }

    /// The one who leads, waited for.
    pub async fn leader(&self) -> usize {
        self.until("somebody leads", async || self.0.leader().is_some()).await;
        self.0.leader().expect("nothing happens meanwhile")
    }

    /// Waits until it is so.
    pub async fn until(&self, what: &str, mut holds: impl AsyncFnMut() -> bool) {
        let begun = self.env().now();
        while !holds().await {
            assert!(self.env().now() - begun < PATIENCE.as_nanos() as u64, "not within {PATIENCE:?}: {what}");
            self.sleep_ms(100).await;
        }
    }

    pub fn promote(&self, server: usize) {
        self.0.promote(server);
    }

    pub async fn redis(&self, limit: Duration) -> OpResult<Rc<dyn RedisApi>> {
        self.redis_of(0, limit).await
    }

    pub async fn redis_of(&self, server: usize, limit: Duration) -> OpResult<Rc<dyn RedisApi>> {
        self.0.stores().redis(&self.0.endpoint(server), limit).await
    }

    pub async fn etcd(&self, server: usize, limit: Duration) -> OpResult<Rc<dyn EtcdApi>> {
        self.0.stores().etcd(&self.0.endpoint(server), limit).await
    }

    pub async fn zookeeper(&self, server: usize, open: Open) -> OpResult<Rc<dyn ZkApi>> {
        self.zookeeper_within(server, open, LIMIT).await
    }

    pub async fn zookeeper_within(
        &self,
        server: usize,
        open: Open,
        limit: Duration,
    ) -> OpResult<Rc<dyn ZkApi>> {
        self.0.stores().zookeeper(&self.0.endpoint(server), limit, open).await
    }
}

/// The answer, or the kind of error: the words of an error are the client's own.
pub fn told(what: &str, outcome: OpResult<impl Debug>) -> String {
    match outcome {
        Ok(answer) => format!("{what}: {answer:?}"),
        Err(OpError::Definite(_)) => format!("{what}: definite failure"),
        Err(OpError::Indeterminate(_)) => format!("{what}: indeterminate"),
    }
}
