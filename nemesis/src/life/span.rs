//! The time that a fault lasts.

use std::time::Duration;

use async_trait::async_trait;

/// The world's time, as faults see it.
#[async_trait(?Send)]
pub trait Pace {
    /// Now, in nanoseconds since the run began.
    fn now(&self) -> u64;

    /// Waits so long; whether all of it has passed, or nobody waits for anything any more.
    async fn wait(&self, length: Duration) -> bool;
}

/// What is left of a fault's time.
pub struct Span<'a> {
    pace: &'a dyn Pace,
    end: u64,
}

impl<'a> Span<'a> {
    /// So long from now on.
    pub(super) fn begin(pace: &'a dyn Pace, length: Duration) -> Span<'a> {
        Span { pace, end: pace.now() + length.as_nanos() as u64 }
    }

    /// Now, in nanoseconds since the run began.
    pub fn now(&self) -> u64 {
        self.pace.now()
    }

    /// Waits so long, or until the fault's end if that is sooner; whether the fault goes on after that.
    pub async fn wait(&self, length: Duration) -> bool {
        let left = self.left();
        self.pace.wait(length.min(left)).await && length < left
    }

    /// Waits for the fault's end.
    pub(super) async fn rest(&self) {
        let left = self.left();
        if !left.is_zero() {
            self.pace.wait(left).await;
        }
    }

    fn left(&self) -> Duration {
        Duration::from_nanos(self.end.saturating_sub(self.now()))
    }
}
