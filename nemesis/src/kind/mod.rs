//! The kinds of faults. All that a kind is (words, targets, default times, parameters, what it does in verbs) stands in
//! one file each.

pub mod clock;
pub mod delay;
mod info;
pub mod kill;
mod name;
mod own;
pub mod partition;
pub mod pause;
mod read;
pub mod stutter;
#[cfg(test)]
mod tests;
mod words;

use std::ops::{Deref, DerefMut};

use serde::Serialize;

use crate::life::Policy;

pub use self::{
    info::{BadTarget, KindInfo},
    name::UnknownKind,
    own::{Asks, BadParameter, Parameters},
    read::Params,
};

/// The list of kinds, handed to a macro. Each has a module of its own, in which are its `INFO`, a type of its name with
/// the parameters of a drawn fault, and, made by the macro `asked`, what a specification may ask and its table in files.
macro_rules! each_kind {
    ($make:ident) => {
        $make! {
            Pause in pause;
            Kill in kill;
            Partition in partition;
            Clock in clock;
            Stutter in stutter;
            Delay in delay;
        }
    };
}
pub(crate) use each_kind;

macro_rules! faults {
    ($($kind:ident in $module:ident;)*) => {
        /// A kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FaultKind {
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $kind,
            )*
        }

        /// A drawn fault, with the parameters of its kind. Written as these alone: the kind is told beside them.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        pub enum Fault {
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $kind($module::$kind),
            )*
        }

        /// What a specification asks of its kind.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Asked {
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $kind($module::Asked),
            )*
        }

        impl FaultKind {
            /// All kinds.
            pub const ALL: [FaultKind; [$(FaultKind::$kind),*].len()] = [$(FaultKind::$kind),*];

            /// What there is to know about it.
            pub fn info(self) -> &'static KindInfo {
                match self {
                    $(FaultKind::$kind => &$module::INFO,)*
                }
            }

            /// What a specification asks that says nothing more.
            pub fn asked(self) -> Asked {
                match self {
                    $(FaultKind::$kind => Asked::$kind($module::Asked::default()),)*
                }
            }
        }

        impl Fault {
            /// Its kind.
            pub fn kind(&self) -> FaultKind {
                match self {
                    $(Fault::$kind(_) => FaultKind::$kind,)*
                }
            }
        }

        impl Asked {
            /// Of which kind.
            pub fn kind(&self) -> FaultKind {
                match self {
                    $(Asked::$kind(_) => FaultKind::$kind,)*
                }
            }
        }

        impl Deref for Fault {
            type Target = dyn Parameters;

            fn deref(&self) -> &(dyn Parameters + 'static) {
                match self {
                    $(Fault::$kind(own) => own,)*
                }
            }
        }

        impl Deref for Asked {
            type Target = dyn Asks;

            fn deref(&self) -> &(dyn Asks + 'static) {
                match self {
                    $(Asked::$kind(own) => own,)*
                }
            }
        }

        impl DerefMut for Asked {
            fn deref_mut(&mut self) -> &mut (dyn Asks + 'static) {
                match self {
                    $(Asked::$kind(own) => own,)*
                }
            }
        }

        $(
            impl From<$module::$kind> for Fault {
                fn from(own: $module::$kind) -> Fault {
                    Fault::$kind(own)
                }
            }

            impl From<$module::Asked> for Asked {
                fn from(own: $module::Asked) -> Asked {
                    Asked::$kind(own)
                }
            }
        )*
    };
}
each_kind!(faults);

impl Fault {
    /// What it means in verbs.
    pub fn policy(&self) -> &dyn Policy {
        &**self
    }
}
