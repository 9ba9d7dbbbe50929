//! Kill: SIGKILL to the node's process and its descendants; it is started again at the heal.
//!
//! Evidence: the old pid is gone and the new one differs. A killed client has crashed: its process number is retired.
//! Target `rolling` takes the servers in turn, each back before the next goes, and soon enough that a majority has been
//! started again within a TTL: a restart for maintenance as it is usually done. Servers that keep the lock in memory
//! forget it one by one, though no majority is ever down.
//!
//! The protected resource is no target: its registers live in memory, and their loss would look like the lock's fault.

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
    verbs::{Answer, Done, Started},
};

static INFO: KindInfo = KindInfo {
    name: "kill",
    label: "killed",
    colour: "#e5534b",
    about: "The process dies (SIGKILL) and is started again at the end. A killed client has crashed.",
    default_target: Target::Server,
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
        Target::Rolling,
    ],
    every_ttl_percent: (250, 400),
    lasts_ttl_percent: (50, 150),
};

/// `[faults.kill]`
pub type Table = PlainTable;

/// The policy. A node that was killed twice starts again with the end of the later kill.
pub(super) struct Kill;

#[async_trait(?Send)]
impl Policy for Kill {
    fn info(&self) -> &'static KindInfo {
        &INFO
    }

    fn shows(&self) -> Shows {
        Shows::Start
    }

    async fn apply(&self, on: &On<'_>) -> Answer<Report> {
        reported(on.verbs.kill(on.node).await)
    }

    async fn heal(&self, on: &On<'_>, left: &[ScheduledFault]) -> Option<Answer<Report>> {
        if !left.is_empty() {
            return None;
        }
        Some(reported(match on.verbs.start(on.node, on.restart_as).await {
            // What runs though this fault killed it was started by an earlier try, whose answer was lost.
            Ok(Done { at, shown: Started::Before { pid, .. } }) if on.is_touched => {
                Ok(Done { at, shown: Started::Anew { new_pid: pid } })
            }
            started => started,
        }))
    }
}

/// Rolling: from one server's end to the next one's, in hundredths of the TTL. Three of them fit into a TTL.
pub(super) const ROLLING_EVERY_PERCENT: (u64, u64) = (25, 35);
/// Rolling: how long each is down, in hundredths of the TTL.
pub(super) const ROLLING_LASTS_PERCENT: (u64, u64) = (5, 15);
