//! Kill: SIGKILL to the node's process and its descendants; it is started again at the heal.
//!
//! Evidence: the old pid is gone and the new one differs. A killed client has crashed: its process number is retired.
//! Target `rolling` takes the servers in turn, each back before the next goes, and soon enough that a majority has been
//! started again within a TTL: a restart for maintenance as it is usually done. Servers that keep the lock in memory
//! forget it one by one, though no majority is ever down.
//!
//! The protected resource is no target: its registers live in memory, and their loss would look like the lock's fault.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Fault,
    info::{KindInfo, Times},
    own::{Asks, Parameters, asked},
    words::{after, left_to, plain},
};
use crate::{
    draw::Draw,
    life::{Ended, On, Policy, Report, Shows, reported},
    target::Target,
    verbs::{Answer, Done, Started},
};

/// What there is to know about it.
pub static INFO: KindInfo = KindInfo {
    name: "kill",
    label: "killed",
    colour: "#e5534b",
    about: "The process dies (SIGKILL) and is started again at the end. A killed client has crashed.",
    phrase: ["{} was killed", "{} were killed"],
    akin: None,
    shown,
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
    times: Times { every_percent: (250, 400), lasts_percent: (50, 150) },
    // From one server's end to the next one's. Three of them fit into a TTL.
    rolling: Some(Times { every_percent: (25, 35), lasts_percent: (5, 15) }),
};

asked! {
    /// Nothing more can be asked of it.
    {}
}

impl Asks for Asked {
    fn draw(&self, _target: &Target, _nth: usize, _ttl_ms: u64, _draw: &mut Draw) -> Fault {
        Kill {}.into()
    }
}

/// A kill. A node that was killed twice starts again with the end of the later one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kill {}

impl Parameters for Kill {}

#[async_trait(?Send)]
impl Policy for Kill {
    fn shows(&self) -> Shows {
        Shows::Start
    }

    async fn apply(&self, on: &On<'_>) -> Answer<Report> {
        reported(on.kill().await)
    }

    async fn heal(&self, on: &On<'_>) -> Ended<Report> {
        let started = match on.start().await {
            // What runs though this fault killed it was started by an earlier try, whose answer was lost.
            Ended::By(Ok(Done { at, shown: Started::Before { pid, .. } })) if on.is_touched() => {
                Ended::By(Ok(Done { at, shown: Started::Anew { new_pid: pid } }))
            }
            started => started,
        };
        started.reported()
    }
}

fn shown(shown: &Map<String, Value>) -> Option<String> {
    let started = || format!("{} started", after(shown, "new_pid").map_or("none".into(), plain));
    Some(format!("pid {} killed, {}", plain(shown.get("pid")?), left_to(shown).unwrap_or_else(started)))
}
