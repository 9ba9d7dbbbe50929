//! A future that completes at a point of virtual time.

use std::{
    future::Future,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use super::Core;

/// Completes at its deadline. Takes part in the future only once it was polled.
pub(super) struct Sleep {
    core: Rc<Core>,
    deadline: u64,
    slot: Option<u32>,
}

impl Sleep {
    pub(super) fn until(core: &Rc<Core>, deadline: u64) -> Sleep {
        Sleep { core: core.clone(), deadline, slot: None }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.core.now() >= self.deadline {
            return Poll::Ready(());
        }
        match self.slot {
            Some(slot) => self.core.timers.borrow_mut().rearm(slot, context.waker()),
            None => {
                assert!(self.deadline > self.core.now(), "who sleeps wakes later");
                let slot = self.core.timers.borrow_mut().sleep(self.deadline, context.waker());
                self.slot = Some(slot);
            }
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        // The simulation's own end takes the timers away first.
        if let Some(slot) = self.slot
            && let Ok(mut timers) = self.core.timers.try_borrow_mut()
        {
            timers.forget(slot);
        }
    }
}
