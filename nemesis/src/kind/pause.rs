//! Pause: SIGSTOP to the node's process and its descendants, SIGCONT at the heal.
//!
//! Evidence: state `T` of the processes in `/proc`. A paused client misses its own deadlines, which is what a long
//! garbage collection or a suspended virtual machine does to it; the default therefore outlasts the TTL.

use super::KindInfo;
use crate::target::Target;

pub(super) static INFO: KindInfo = KindInfo {
    name: "pause",
    label: "paused",
    colour: "#8f7ee7",
    about: "The process stands still (SIGSTOP) and goes on later. By default it outlasts the TTL.",
    default_target: Target::Holder,
    targets: &[
        Target::Server,
        Target::Leader,
        Target::Holder,
        Target::Waiter,
        Target::Client,
        Target::Any,
        Target::Minority,
        Target::Majority,
        Target::All,
        Target::Resource,
    ],
    every_ttl_percent: (280, 400),
    lasts_ttl_percent: (150, 220),
};
