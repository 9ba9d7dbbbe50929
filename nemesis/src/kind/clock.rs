//! Clock: the wall clock of a node's process jumps by an offset, and is true again after the heal.
//!
//! Evidence: the offset read back from the process' own clock. Monotonic time is untouched.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{
    FaultKind, KindInfo,
    policy::{On, Policy, Shows},
};
use crate::{
    draw::Draw,
    duration::{DurationRange, OffsetRange},
    life::{Report, reported},
    plan::{FaultSpec, SpecTable},
    schedule::{Params, ScheduledFault},
    target::Target,
    verbs::Answer,
};

static INFO: KindInfo = KindInfo {
    name: "clock",
    label: "clock moved",
    colour: "#2f9e8f",
    about: "The wall clock jumps by an offset (`by`), and back at the end. By default among a server's jumps there \
            is one forward by the TTL or more.",
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
    ],
    every_ttl_percent: (250, 400),
    lasts_ttl_percent: (100, 200),
};

/// `[faults.clock]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Who; the kind's default when absent.
    pub target: Option<Target>,
    /// From one start to the next.
    pub every: Option<DurationRange>,
    /// How long until the clock is true again.
    pub lasts: Option<DurationRange>,
    /// How far it jumps.
    pub by: Option<OffsetRange>,
}

impl SpecTable for Table {
    fn into_spec(self, kind: FaultKind) -> FaultSpec {
        FaultSpec { by: self.by, ..FaultSpec::timed(kind, self.target, self.every, self.lasts) }
    }

    fn of(FaultSpec { target, every, lasts, by, .. }: FaultSpec) -> Table {
        Table { target: Some(target), every, lasts, by }
    }
}

/// The policy. A clock has the offset of the newest fault that is left. A process that is started meanwhile has it too,
/// so that a jump of a dead node's clock may take effect later.
pub(super) struct Clock;

#[async_trait(?Send)]
impl Policy for Clock {
    fn info(&self) -> &'static KindInfo {
        &INFO
    }

    fn shows(&self) -> Shows {
        Shows::Either
    }

    fn draw(&self, spec: &FaultSpec, nth: usize, ttl_ms: u64, draw: &mut Draw) -> Params {
        let by_ms = draw_offset_ms(spec.by, &spec.target, nth, ttl_ms, draw);
        Params { by_ms: Some(by_ms), ..Params::default() }
    }

    async fn apply(&self, on: &On<'_>) -> Answer<Report> {
        set(on, Some(on.fault)).await
    }

    async fn heal(&self, on: &On<'_>, left: &[ScheduledFault]) -> Option<Answer<Report>> {
        Some(set(on, left.last()).await)
    }
}

/// Puts the node's clock where a fault wants it, or right.
async fn set(on: &On<'_>, fault: Option<&ScheduledFault>) -> Answer<Report> {
    let offset_ms = fault.and_then(|fault| fault.params.by_ms).unwrap_or_default();
    reported(on.verbs.set_clock(on.node, offset_ms.saturating_mul(1_000_000)).await)
}

/// The offset of the `nth` clock fault (from 0) of one specification, in milliseconds.
///
/// Without a range given, the first jump on a server and about every second later one go forward by 1 to 2 TTL, which
/// ends every lease that the server counts on its wall clock; the others go either way by a quarter to two TTL.
fn draw_offset_ms(
    given: Option<OffsetRange>,
    target: &Target,
    nth: usize,
    ttl_ms: u64,
    draw: &mut Draw,
) -> i64 {
    if let Some(range) = given {
        return match draw.between_signed(range.from_ms, range.to_ms) {
            // No jump at all is no fault.
            0 if range.to_ms != 0 => range.to_ms,
            0 => range.from_ms,
            by_ms => by_ms,
        };
    }
    let (big, forward) = (draw.below(2) == 0, draw.below(2) == 0);
    if target.may_be_server() && (nth == 0 || big) {
        return draw.between(ttl_ms, 2 * ttl_ms) as i64;
    }
    let size = draw.between((ttl_ms / 4).max(1), 2 * ttl_ms) as i64;
    if forward { size } else { -size }
}
