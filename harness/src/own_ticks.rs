//! The harness' own ticks: a task of its runtime, so that they come late too when the runtime was blocked.

use std::{
    cell::{Cell, RefCell},
    future::Future,
    pin::pin,
    rc::Rc,
    time::Duration,
};

use tokio::task::JoinHandle;
use workloads::real_env::monotonic_ns;

use crate::ticker::{self, Stall, Ticks};

/// How long the harness has stood still, and what its limits are worth therefore.
#[derive(Clone, Default)]
pub struct OwnTicks(Rc<Inner>);

/// Is told each stall.
type Tell = Rc<dyn Fn(Stall)>;

#[derive(Default)]
struct Inner {
    /// None before the first tick is due and after the last.
    ticks: Cell<Option<Ticks>>,
    stalled_ns: Cell<u64>,
    task: RefCell<Option<JoinHandle<()>>>,
    tell: RefCell<Option<Tell>>,
}

impl OwnTicks {
    /// Begins to tick, and to tell each stall.
    pub fn start(&self, limit: Duration, tell: impl Fn(Stall) + 'static) {
        self.0.ticks.set(Some(Ticks::begin(monotonic_ns(), limit, ticker::period(limit, 1))));
        self.0.tell.replace(Some(Rc::new(tell)));
        let ticking = Rc::downgrade(&self.0);
        let task = tokio::task::spawn_local(async move {
            while let Some(ticks) = ticking.upgrade().and_then(|ticking| ticking.ticks.get()) {
                tokio::time::sleep(ticks.wait(monotonic_ns())).await;
                if let Some(ticking) = ticking.upgrade() {
                    ticking.come();
                }
            }
        });
        if let Some(before) = self.0.task.replace(Some(task)) {
            before.abort();
        }
    }

    /// Ends the ticks; a stall that shows now is the last told.
    pub fn end(&self) {
        self.0.come();
        self.0.ticks.set(None);
        self.0.task.take().into_iter().for_each(|task| task.abort());
        self.0.tell.take();
    }

    /// For how long the harness has stood still in all, a tick that is overdue now included.
    pub fn stood_still(&self) -> Duration {
        let pending = self.0.ticks.get().and_then(|ticks| ticks.pending(monotonic_ns()));
        Duration::from_nanos(self.0.stalled_ns.get() + pending.map_or(0, length))
    }

    /// What comes of the future within the limit; `None` after it. Time in which the harness stood still does not count:
    /// whoever was to answer may have stood still with it, and nobody was there to hear.
    pub async fn timeout<T>(&self, limit: Duration, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        let mut deadline = tokio::time::Instant::now() + limit;
        let mut counted = self.stood_still();
        loop {
            if let Ok(value) = tokio::time::timeout_at(deadline, &mut future).await {
                return Some(value);
            }
            let still = self.stood_still();
            if still <= counted {
                return None;
            }
            deadline += still - counted;
            counted = still;
        }
    }
}

impl Inner {
    fn come(&self) {
        let Some(mut ticks) = self.ticks.get() else { return };
        let stall = ticks.come(monotonic_ns());
        self.ticks.set(Some(ticks));
        let Some(stall) = stall else { return };
        self.stalled_ns.set(self.stalled_ns.get() + length(stall));
        let tell = self.tell.borrow().clone();
        tell.into_iter().for_each(|tell| tell(stall));
    }
}

fn length(stall: Stall) -> u64 {
    stall.came_ns - stall.due_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(100);

    /// Runs on a runtime as the harness' own.
    fn in_runtime(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, test);
    }

    #[test]
    fn a_blocked_runtime_is_a_stall_and_a_waiting_one_is_none() {
        in_runtime(async {
            let (own, told) = (OwnTicks::default(), Rc::new(RefCell::new(Vec::new())));
            let heard = told.clone();
            own.start(LIMIT, move |stall| heard.borrow_mut().push(length(stall)));
            tokio::time::sleep(Duration::from_millis(30)).await;
            std::thread::sleep(Duration::from_millis(400));
            let pending = own.stood_still();
            assert!(pending >= Duration::from_millis(300), "an overdue tick counts already: {pending:?}");
            tokio::time::sleep(Duration::from_millis(60)).await;
            // A busy machine may have added some of its own.
            let long = told.borrow().iter().filter(|length| **length >= 300_000_000).count();
            assert_eq!(long, 1, "{told:?}");
            assert_eq!(own.stood_still().as_nanos() as u64, told.borrow().iter().sum::<u64>());
            let before = told.borrow().len();
            std::thread::sleep(Duration::from_millis(400));
            own.end();
            own.end();
            assert_eq!(told.borrow().len(), before + 1, "the last tick is overdue, and told once");
        });
    }

    #[test]
    fn a_limit_passes_and_what_stood_still_does_not_count() {
        in_runtime(async {
            let own = OwnTicks::default();
            own.start(LIMIT, |_| {});
            assert_eq!(own.timeout(Duration::from_millis(50), std::future::pending::<()>()).await, None);
            let (answer, asked) = tokio::sync::oneshot::channel();
            tokio::task::spawn_local(async move {
                tokio::time::sleep(Duration::from_millis(5)).await;
                std::thread::sleep(Duration::from_millis(600));
                // The answer takes its time after the stall as well.
                tokio::time::sleep(Duration::from_millis(100)).await;
                answer.send(7).unwrap();
            });
            let answered = own.timeout(Duration::from_millis(300), asked).await;
            assert_eq!(answered, Some(Ok(7)));
        });
    }
}
