//! What each kind has of its own: what a specification may ask of it, and the parameters that a drawn fault bears.

use super::{Fault, FaultKind};
use crate::{draw::Draw, life::Policy, target::Target};

/// What a specification asks of its kind.
pub trait Asks {
    /// The target that it means when it names none; the kind's default where this says nothing either.
    fn target(&self) -> Option<Target> {
        None
    }

    /// The nodes that it names, beside its target's.
    fn named(&self) -> Vec<&String> {
        Vec::new()
    }

    /// Fails when it makes no sense, or not with this target.
    fn check(&self, _target: &Target) -> Result<(), Unfit> {
        Ok(())
    }

    /// Fills in what makes sense where servers never talk to each other.
    fn among_strangers(&mut self, _target: &Target) {}

    /// The `nth` fault (from 0) of its specification, under leases of `ttl_ms`.
    fn draw(&self, target: &Target, nth: usize, ttl_ms: u64, draw: &mut Draw) -> Fault;
}

/// The parameters of a drawn fault, which say what it does.
pub trait Parameters: Policy {
    /// What a line about the fault ends with: a few words for each that is not as usual.
    fn in_words(&self) -> Vec<String> {
        Vec::new()
    }

    /// The nodes that they name, beside the target's.
    fn named(&self) -> Vec<&String> {
        Vec::new()
    }

    /// Fails when they make no sense, or not with this target.
    fn check(&self, _target: &Target) -> Result<(), Unfit> {
        Ok(())
    }

    /// The same fault, a little less of it, for those who look for the smallest that does harm.
    fn milder(&self) -> Option<Fault> {
        None
    }

    /// How much of it there is beside its length, in milliseconds.
    fn weight_ms(&self) -> u64 {
        0
    }
}

/// Why a parameter does not fit, and what would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit(pub String);

impl From<&str> for Unfit {
    fn from(reason: &str) -> Unfit {
        Unfit(reason.to_owned())
    }
}

/// A parameter belongs to another kind or shape, or is out of bounds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {reason}")]
pub struct BadParameter {
    kind: FaultKind,
    reason: String,
}

impl Unfit {
    /// Of a kind.
    pub(crate) fn of(self, kind: FaultKind) -> BadParameter {
        BadParameter { kind, reason: self.0 }
    }
}

/// Makes `Asked`, what a specification may ask of its kind, and `Table`, its table in experiment files, which has the
/// same keys beside those of every kind. Each is optional.
macro_rules! asked {
    ($(#[$of:meta])* { $($(#[$about:meta])* $name:ident: $value:ty,)* }) => {
        $(#[$of])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Asked {
            $($(#[$about])* pub $name: Option<$value>,)*
        }

        /// The table in experiment files.
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Table {
            target: Option<$crate::target::Target>,
            every: Option<$crate::duration::DurationRange>,
            lasts: Option<$crate::duration::DurationRange>,
            $($name: Option<$value>,)*
        }

        impl Table {
            /// What it asks, the target that it names, and times from one start to the next and of each.
            pub(crate) fn taken_apart(
                self,
            ) -> (
                Asked,
                Option<$crate::target::Target>,
                [Option<$crate::duration::DurationRange>; 2],
            ) {
                (Asked { $($name: self.$name,)* }, self.target, [self.every, self.lasts])
            }
        }
    };
}
pub(super) use asked;
