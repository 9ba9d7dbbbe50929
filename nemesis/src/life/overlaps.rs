//! Which faults of one kind are under way on one node: what the one leaves, another may still hold.

use std::{cell::RefCell, collections::BTreeMap};

use crate::{kind::FaultKind, schedule::ScheduledFault};

/// Faults under way, by node and kind, oldest first.
#[derive(Default)]
pub struct Overlaps {
    under_way: RefCell<BTreeMap<(String, FaultKind), Vec<ScheduledFault>>>,
}

impl Overlaps {
    /// A fault begins on a node.
    pub(super) fn add(&self, node: &str, fault: &ScheduledFault) {
        let key = (node.to_owned(), fault.kind);
        self.under_way.borrow_mut().entry(key).or_default().push(fault.clone());
    }

    /// A fault ends on a node; the others of its kind that are left there. Not an error when it has ended already.
    pub(super) fn remove(&self, node: &str, fault: &ScheduledFault) -> Vec<ScheduledFault> {
        let mut under_way = self.under_way.borrow_mut();
        let left = under_way.entry((node.to_owned(), fault.kind)).or_default();
        left.retain(|other| other.id != fault.id);
        left.clone()
    }
}
