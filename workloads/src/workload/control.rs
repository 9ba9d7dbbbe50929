use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use checkers::history::Event;
use tokio::sync::Notify;

/// What the run loop wants of its clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Work as the rates say, whatever the faults do.
    #[default]
    Run,
    /// The faults are healed: keep trying, hold shortly, so that every lock is granted.
    Liveness,
    /// Finish or give up what is under way, release what is held, end.
    Stop,
}

/// A handle on the phase, shared by the run loop and a client.
#[derive(Clone, Default)]
pub struct Control(Rc<(Cell<Phase>, Notify)>);

impl Control {
    /// Goes on to a phase; there is no way back.
    pub fn advance(&self, phase: Phase) {
        if phase > self.phase() {
            self.0.0.set(phase);
            self.0.1.notify_waiters();
        }
    }

    /// The phase now.
    pub fn phase(&self) -> Phase {
        self.0.0.get()
    }

    /// Completes once the phase is `phase` or a later one.
    pub async fn reached(&self, phase: Phase) {
        while self.phase() < phase {
            self.0.1.notified().await;
        }
    }
}

/// Takes a client's events, in order, with `index` 0.
pub trait EventSink {
    /// One event.
    fn record(&self, event: Event);
}

/// Keeps the events, for tests.
#[derive(Default)]
pub struct Kept(RefCell<Vec<Event>>);

impl Kept {
    /// What was recorded so far.
    pub fn events(&self) -> Vec<Event> {
        self.0.borrow().clone()
    }
}

impl EventSink for Kept {
    fn record(&self, event: Event) {
        self.0.borrow_mut().push(event);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::pin,
        sync::{
            Arc,
            atomic::{AtomicU32, Ordering},
        },
        task::{Context, Wake, Waker},
    };

    use super::*;

    #[derive(Default)]
    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn who_waits_for_the_end_hears_of_it_after_the_phase_before() {
        let (control, count) = (Control::default(), Arc::new(Count::default()));
        let waker = Waker::from(count.clone());
        let mut context = Context::from_waker(&waker);
        let mut end = pin!(control.reached(Phase::Stop));
        assert!(end.as_mut().poll(&mut context).is_pending());
        control.advance(Phase::Liveness);
        assert!(end.as_mut().poll(&mut context).is_pending());
        let before = count.0.load(Ordering::Relaxed);
        control.advance(Phase::Stop);
        assert_eq!(count.0.load(Ordering::Relaxed), before + 1);
        assert!(end.as_mut().poll(&mut context).is_ready());
    }
}
