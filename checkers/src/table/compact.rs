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

    /// Another time, marked by the same event.
    pub(super) fn moved_to(self, time: u64) -> At {
        At { time, ..self }
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

/// A token that may be missing: any whole number that a machine writes, also below zero. 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(4))]
pub(super) struct MaybeToken(i128);

impl MaybeToken {
    pub(super) fn get(self) -> Option<i128> {
        (self != MaybeToken::default()).then_some(self.0)
    }
}

impl Default for MaybeToken {
    /// None: no history has a number as low as this.
    fn default() -> Self {
        MaybeToken(i128::MIN)
    }
}

impl From<Option<i128>> for MaybeToken {
    fn from(token: Option<i128>) -> MaybeToken {
        token.map_or_else(MaybeToken::default, MaybeToken)
    }
}

impl fmt::Debug for MaybeToken {
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
    fn tokens_come_back() {
        let tokens = [None, Some(-1), Some(0), Some(i128::from(u64::MAX))];
        assert_eq!(tokens.map(|token| MaybeToken::from(token).get()), tokens);
    }

    #[test]
    fn records_stay_small() {
        use crate::{Access, Attempt, Grant, Hold, Promise, Release};
        assert_eq!(size_of::<At>(), 12);
        assert!(size_of::<Attempt>() + size_of::<Grant>() + size_of::<Hold>() + size_of::<Promise>() <= 170);
        assert!(size_of::<Access>() <= 48 && size_of::<Release>() <= 32);
    }
}
