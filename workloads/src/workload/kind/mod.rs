//! The workloads. All of one stands in a file of its own: what it is called, which primitives it drives, whether it renews
//! what it holds, and its round, in [`Steps`].

mod election;
mod lease;
mod lock;

use serde::{Deserialize, Serialize};

use super::steps::Steps;
use crate::{error::OpResult, recipes::Primitive};

/// The list of workloads, each with its module.
macro_rules! each_workload {
    ($make:ident) => {
        $make! {
            /// Acquire, read-modify-write, release, again and again.
            Lock in lock;
            /// Hold over several TTLs with renewals, writing regularly.
            Lease in lease;
            /// Campaign, work while leading, resign now and then; others observe.
            Election in election;
        }
    };
}

macro_rules! workload {
    ($($(#[$about:meta])* $kind:ident in $module:ident;)*) => {
        /// What drives the recipe.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Workload {
            $($(#[$about])* $kind,)*
        }

        impl Workload {
            /// All of them.
            pub const ALL: [Workload; [$(Workload::$kind),*].len()] = [$(Workload::$kind),*];

            fn info(self) -> &'static Info {
                match self {
                    $(Workload::$kind => &$module::INFO,)*
                }
            }

            /// One round of a client.
            pub(super) async fn round(self, client: &mut impl Steps) -> OpResult<()> {
                match self {
                    $(Workload::$kind => $module::round(client).await,)*
                }
            }
        }
    };
}
each_workload!(workload);

/// What there is to know of a workload.
struct Info {
    /// As it is written, in files and on the command line.
    name: &'static str,
    /// What it can drive.
    drives: &'static [Primitive],
    /// The primitive that it drives where no other workload is asked for.
    usual_for: Option<Primitive>,
    /// Whether it renews what it holds as the rates say. One that does not leaves that to the recipe's libraries.
    renews: bool,
}

impl Workload {
    /// As it is written.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// By name.
    pub fn named(name: &str) -> Option<Workload> {
        Workload::ALL.into_iter().find(|workload| workload.name() == name)
    }

    /// What drives this unless another is asked for.
    pub fn usual_for(primitive: Primitive) -> Workload {
        let usual = Workload::ALL.into_iter().find(|workload| workload.info().usual_for == Some(primitive));
        usual.unwrap_or_else(|| panic!("no workload is usual for {primitive:?}"))
    }

    /// Whether it can drive this.
    pub fn drives(self, primitive: Primitive) -> bool {
        self.info().drives.contains(&primitive)
    }

    /// Whether it renews what it holds as the rates say.
    pub(super) fn renews(self) -> bool {
        self.info().renews
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_is_whole() {
        for workload in Workload::ALL {
            let name = workload.name();
            assert_eq!(serde_json::to_value(workload).unwrap(), name, "it is written as its type is");
            assert_eq!(Workload::named(name), Some(workload));
            assert!(!workload.info().drives.is_empty(), "{name}");
        }
    }

    #[test]
    fn every_primitive_has_its_usual_workload() {
        for primitive in [Primitive::Lock, Primitive::Lease, Primitive::Election] {
            let usual = Workload::ALL.iter().filter(|workload| workload.info().usual_for == Some(primitive));
            assert_eq!(usual.count(), 1, "{primitive:?}");
            assert!(Workload::usual_for(primitive).drives(primitive), "{primitive:?}");
        }
    }
}
