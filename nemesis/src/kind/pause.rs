//! Pause: SIGSTOP to the node's process and its descendants, SIGCONT at the heal.
//!
//! Evidence: state `T` of the processes in `/proc`. A paused client misses its own deadlines, which is what a long
//! garbage collection or a suspended virtual machine does to it; the default therefore outlasts the TTL.

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
    verbs::Answer,
};

/// What there is to know about it.
pub static INFO: KindInfo = KindInfo {
    name: "pause",
    label: "paused",
    colour: "#8f7ee7",
    about: "The process stands still (SIGSTOP) and goes on later. By default it outlasts the TTL.",
    phrase: ["{} was paused", "{} were paused"],
    akin: None,
    shown,
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
    times: Times { every_percent: (280, 400), lasts_percent: (150, 220) },
    rolling: None,
};

asked! {
    /// Nothing more can be asked of it.
    {}
}

impl Asks for Asked {
    fn draw(&self, _target: &Target, _nth: usize, _ttl_ms: u64, _draw: &mut Draw) -> Fault {
        Pause {}.into()
    }
}

/// A pause. Two of one node end with the later one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {}

impl Parameters for Pause {}

#[async_trait(?Send)]
impl Policy for Pause {
    fn shows(&self) -> Shows {
        Shows::Start
    }

    async fn apply(&self, on: &On<'_>) -> Answer<Report> {
        reported(on.pause().await)
    }

    async fn heal(&self, on: &On<'_>) -> Ended<Report> {
        on.resume().await.reported()
    }
}

fn shown(shown: &Map<String, Value>) -> Option<String> {
    let then = left_to(shown).unwrap_or_else(|| after(shown, "state").map_or("?".into(), plain));
    Some(format!("state {}, then {then}", plain(shown.get("state")?)))
}
