use std::fmt;

/// A moment: when, and the event that marks it. 12 bytes, since there are several to every operation.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(4))]
pub struct At {
    /// Nanoseconds since the run began.
    pub time: u64,
    index: u32,
}

impl At {
    /// Later than everything.
    pub(super) const END: At = At { time: u64::MAX, index: u32::MAX };

    /// The moment of the event with this index; a history has no more events than a `u32` can count.
    pub(super) fn new(time: u64, index: usize) -> At {
        At { time, index: u32::try_from(index).unwrap_or(u32::MAX) }
    }

    /// Index of the event.
    pub fn index(self) -> u64 {
        u64::from(self.index)
    }
}

impl fmt::Debug for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let At { time, index } = *self;
        write!(f, "{time} ns (event {index})")
    }
}

/// A number that may be missing, in 8 bytes; ordered as [`Option`] is. The greatest of all `u64` is not told from the one
/// before it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(4))]
pub(super) struct Maybe(u64);

impl Maybe {
    pub(super) fn get(self) -> Option<u64> {
        self.0.checked_sub(1)
    }
}

impl From<Option<u64>> for Maybe {
    fn from(number: Option<u64>) -> Maybe {
        Maybe(number.map_or(0, |number| number.saturating_add(1)))
    }
}

impl fmt::Debug for Maybe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_keep_their_order() {
        let numbers = [None, Some(0), Some(1), Some(u64::MAX - 1)];
        assert_eq!(numbers.map(|number| Maybe::from(number).get()), numbers);
        assert!(numbers.map(Maybe::from).is_sorted());
    }

    #[test]
    fn records_stay_small() {
        use crate::checks::{Attempt, Hold, Promise};
        assert_eq!(size_of::<At>(), 12);
        assert!(size_of::<Attempt>() + size_of::<Hold>() + size_of::<Promise>() <= 180);
    }
}
