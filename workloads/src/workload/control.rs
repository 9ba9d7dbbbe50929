use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use history::Event;

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
pub struct Control(Rc<State>);

#[derive(Default)]
struct State {
    phase: Cell<Phase>,
    /// Who waits for a later phase: as a rule the client's one task. It looks here at each of its steps, so looking costs little.
    waiting: RefCell<Vec<Waker>>,
}

impl Control {
    /// Goes on to a phase; there is no way back.
    pub fn advance(&self, phase: Phase) {
        if phase > self.phase() {
            self.0.phase.set(phase);
            self.0.waiting.take().into_iter().for_each(Waker::wake);
        }
    }

    /// The phase now.
    pub fn phase(&self) -> Phase {
        self.0.phase.get()
    }

    /// Completes once the phase is `phase` or a later one.
    pub async fn reached(&self, phase: Phase) {
        poll_fn(|context| self.poll_reached(phase, context)).await
    }

    fn poll_reached(&self, phase: Phase, context: &Context<'_>) -> Poll<()> {
        if self.phase() >= phase {
            return Poll::Ready(());
        }
        let mut waiting = self.0.waiting.borrow_mut();
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        Poll::Pending
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
