//! Pause: SIGSTOP to the node's process and its descendants, SIGCONT at the heal.
//!
//! Evidence: state `T` of the processes in `/proc`. A paused client misses its own deadlines, which is what a long
//! garbage collection or a suspended virtual machine does to it; the default therefore outlasts the TTL.

use async_trait::async_trait;

use super::{
    KindInfo,
    policy::{On, Policy, Shows},
};
use crate::{
    life::{Report, reported},
    plan::PlainTable,
    schedule::ScheduledFault,
    target::Target,
    verbs::Answer,
};

static INFO: KindInfo = KindInfo {
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

/// `[faults.pause]`
pub type Table = PlainTable;

/// The policy. Two pauses of one node end with the later one.
pub(super) struct Pause;

#[async_trait(?Send)]
impl Policy for Pause {
    fn info(&self) -> &'static KindInfo {
        &INFO
    }

    fn shows(&self) -> Shows {
        Shows::Start
    }

    async fn apply(&self, on: &On<'_>) -> Answer<Report> {
        reported(on.verbs.pause(on.node).await)
    }

    async fn heal(&self, on: &On<'_>, left: &[ScheduledFault]) -> Option<Answer<Report>> {
        match left {
            [] => Some(reported(on.verbs.resume(on.node).await)),
            _ => None,
        }
    }
}
