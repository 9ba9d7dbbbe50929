//! Time, chance and tasks, as a node sees them. Recipes and workloads use nothing else for these.

use std::{future::Future, pin::Pin, rc::Rc, time::Duration};

/// A future that need not be `Send`: a node runs on one thread.
pub type LocalFuture<T> = Pin<Box<dyn Future<Output = T>>>;

/// What a world provides to a node.
pub trait EnvApi {
    /// Nanoseconds since the run began, on a monotonic clock that no fault touches.
    fn now(&self) -> u64;
    /// Nanoseconds since 1970 on the node's own wall clock, which clock faults move.
    fn wall(&self) -> i64;
    /// Completes after `duration` of monotonic time.
    fn sleep(&self, duration: Duration) -> LocalFuture<()>;
    /// Runs a task on this node. Dropping the handle aborts it.
    fn spawn(&self, task: LocalFuture<()>) -> Box<dyn TaskHandle>;
    /// The next number of the node's seeded generator.
    fn random(&self) -> u64;
}

/// A task of a node; dropped, the task is aborted.
pub trait TaskHandle {
    /// Lets the task go on without the handle.
    fn detach(self: Box<Self>);
}

/// The time limit given to [`Env::timeout`] ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("timed out")]
pub struct TimedOut;

/// A cheap handle on the world of one node.
#[derive(Clone)]
pub struct Env(Rc<dyn EnvApi>);

impl Env {
    /// Wraps what a world provides.
    pub fn new(api: impl EnvApi + 'static) -> Env {
        Env(Rc::new(api))
    }

    /// Nanoseconds since the run began, on a monotonic clock that no fault touches.
    pub fn now(&self) -> u64 {
        self.0.now()
    }

    /// Nanoseconds since 1970 on the node's own wall clock, which clock faults move.
    pub fn wall(&self) -> i64 {
        self.0.wall()
    }

    /// Completes after `duration` of monotonic time.
    pub fn sleep(&self, duration: Duration) -> LocalFuture<()> {
        self.0.sleep(duration)
    }

    /// Runs a task on this node. Dropping the handle aborts it.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) -> Box<dyn TaskHandle> {
        self.0.spawn(Box::pin(task))
    }

    /// Runs `future` for at most `limit`; a result that is ready at the limit wins.
    pub async fn timeout<T>(&self, limit: Duration, future: impl Future<Output = T>) -> Result<T, TimedOut> {
        let mut future = std::pin::pin!(future);
        let mut sleep = self.sleep(limit);
        std::future::poll_fn(|context| {
            if let std::task::Poll::Ready(value) = future.as_mut().poll(context) {
                return std::task::Poll::Ready(Ok(value));
            }
            sleep.as_mut().poll(context).map(|()| Err(TimedOut))
        })
        .await
    }

    /// The next number of the node's seeded generator.
    pub fn random(&self) -> u64 {
        self.0.random()
    }

    /// A duration drawn evenly from `from..=to`.
    pub fn random_between(&self, from: Duration, to: Duration) -> Duration {
        let span = to.saturating_sub(from).as_nanos() as u64;
        from + Duration::from_nanos(if span == 0 { 0 } else { self.random() % (span + 1) })
    }
}
