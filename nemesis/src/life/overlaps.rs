//! Which faults hold a node in a state at once: what the one leaves, another may still hold.
//!
//! Counted by what is held, whatever kind of fault holds it: a node goes on when the last fault that stopped it lets go
//! of it, and its clock has the offset of the newest fault that moved it.

use std::{cell::RefCell, collections::BTreeMap, mem::discriminant};

/// What a fault holds a node in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Its processes stand still.
    Stopped,
    /// Its processes are dead.
    Dead,
    /// Its wall clock is off by so many milliseconds.
    ClockOff(i64),
}

/// Who holds what, by node, oldest first. Faults are known by their numbers.
#[derive(Default)]
pub struct Overlaps {
    held: RefCell<BTreeMap<String, Vec<(u32, Hold)>>>,
}

impl Overlaps {
    /// A fault holds a node. Held in the same way by it already, the node keeps the place of then.
    pub(super) fn take(&self, node: &str, fault: u32, hold: Hold) {
        let mut held = self.held.borrow_mut();
        let of_node = held.entry(node.to_owned()).or_default();
        match of_node.iter_mut().find(|(other, of)| *other == fault && is_same(*of, hold)) {
            Some((_, of)) => *of = hold,
            None => of_node.push((fault, hold)),
        }
    }

    /// A fault lets go of a node; who else holds it in the same way. Not an error when it has let go already.
    pub(super) fn leave(&self, node: &str, fault: u32, hold: Hold) -> Vec<(u32, Hold)> {
        let mut held = self.held.borrow_mut();
        let of_node = held.entry(node.to_owned()).or_default();
        of_node.retain(|(other, of)| *other != fault || !is_same(*of, hold));
        of_node.iter().filter(|(_, of)| is_same(*of, hold)).copied().collect()
    }
}

/// Whether both are of one kind, whatever their values.
fn is_same(one: Hold, other: Hold) -> bool {
    discriminant(&one) == discriminant(&other)
}
