//! Kill: SIGKILL to the node's process and its descendants; it is started again at the heal.
//!
//! Evidence: the old pid is gone and the new one differs. A killed client has crashed: its process number is retired.
//! The protected resource is no target: its registers live in memory, and their loss would look like the lock's fault.

use super::{KindInfo, NODES};
use crate::target::Target;

pub(super) static INFO: KindInfo = KindInfo {
    name: "kill",
    label: "killed",
    colour: "#e5534b",
    about: "The process dies (SIGKILL) and is started again at the end. A killed client has crashed.",
    default_target: Target::Server,
    targets: &NODES,
    every_ttl_percent: (250, 400),
    lasts_ttl_percent: (50, 150),
};
