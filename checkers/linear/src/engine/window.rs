//! What is under way before an event: the window that a search moves over its part of a history, both ways.

use crate::model::Model;

use super::plan::{Place, Plan};

/// No call is in the slot.
const EMPTY: u32 = u32::MAX;

pub(super) struct Window {
    /// The next return.
    pub event: u32,
    /// By slot: the pending call.
    pub pending: Vec<u32>,
    /// Slots that are occupied.
    pub occupied: Vec<u64>,
    /// Slots whose operation only observes.
    pub observing: Vec<u64>,
    /// By spare: how many were invoked.
    pub invoked: Vec<u32>,
}

impl Window {
    /// Before the first event.
    pub fn new<M: Model>(plan: &Plan<'_, M>) -> Window {
        let mut window = Window {
            event: 0,
            pending: vec![EMPTY; plan.mask_words * 64],
            occupied: vec![0; plan.mask_words],
            observing: vec![0; plan.mask_words],
            invoked: vec![0; plan.spares.len()],
        };
        window.enter(plan, 0..plan.calls_before(0));
        window
    }

    /// Passes the return at the current event, and the invocations up to the next.
    pub fn advance<M: Model>(&mut self, plan: &Plan<'_, M>) {
        let returning = &plan.returns[self.event as usize];
        debug_assert!(self.pending[returning.slot as usize] == returning.call, "what returns is under way");
        self.vacate(returning.slot as usize);
        let from = plan.calls_before(self.event);
        self.event += 1;
        self.enter(plan, from..plan.calls_before(self.event));
    }

    /// Undoes [`Window::advance`] back to `event`.
    pub fn retreat<M: Model>(&mut self, plan: &Plan<'_, M>, event: u32) {
        debug_assert!(event <= self.event, "the window moves back to where it was");
        while self.event > event {
            let before = plan.calls_before(self.event);
            self.event -= 1;
            for call in plan.calls_before(self.event)..before {
                match plan.calls[call].place {
                    Place::Required { slot, .. } => self.vacate(slot as usize),
                    Place::Optional { spare } => {
                        debug_assert!(self.invoked[spare as usize] > 0, "what is undone was invoked");
                        self.invoked[spare as usize] -= 1;
                    }
                }
            }
            let returning = &plan.returns[self.event as usize];
            self.occupy(plan, returning.slot as usize, returning.call);
        }
    }

    /// Whether the returning operation was invoked after everything before it had returned, and nothing indeterminate
    /// is about.
    pub fn is_quiescent<M: Model>(&self, plan: &Plan<'_, M>) -> bool {
        let newest = match self.event {
            0 => 0,
            event => plan.calls_before(event - 1),
        };
        let occupied: u32 = self.occupied.iter().map(|word| word.count_ones()).sum();
        occupied as usize == plan.calls_before(self.event) - newest
            && self.invoked.iter().all(|&count| count == 0)
    }

    fn enter<M: Model>(&mut self, plan: &Plan<'_, M>, calls: std::ops::Range<usize>) {
        for call in calls {
            match plan.calls[call].place {
                Place::Required { slot, .. } => self.occupy(plan, slot as usize, call as u32),
                Place::Optional { spare } => {
                    self.invoked[spare as usize] += 1;
                    debug_assert!(
                        self.invoked[spare as usize] as usize <= plan.spares[spare as usize].ops.len(),
                        "no more are invoked than there are"
                    );
                }
            }
        }
    }

    fn occupy<M: Model>(&mut self, plan: &Plan<'_, M>, slot: usize, call: u32) {
        debug_assert!(self.pending[slot] == EMPTY, "a slot holds one call at a time");
        self.pending[slot] = call;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        if plan.classes[plan.calls[call as usize].class as usize].observes {
            self.observing[slot / 64] |= 1 << (slot % 64);
        }
    }

    fn vacate(&mut self, slot: usize) {
        debug_assert!(self.pending[slot] != EMPTY, "a slot that is left was taken");
        self.pending[slot] = EMPTY;
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        self.observing[slot / 64] &= !(1 << (slot % 64));
    }
}
