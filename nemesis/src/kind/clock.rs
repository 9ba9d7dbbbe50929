//! Clock: the wall clock of a node's process jumps by an offset, and is true again after the heal.
//!
//! Evidence: the offset read back from the process' own clock. Monotonic time is untouched.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Fault,
    info::{KindInfo, Times},
    own::{Asks, Parameters, Unfit, asked},
    words::after,
};
use crate::{
    draw::Draw,
    duration::{LIMIT_MS, OffsetRange, format_offset_ms},
    life::{Aim, Ended, On, Policy, Report, Shows, reported},
    resolve::{NoTarget, View, resolve},
    target::Target,
    verbs::Answer,
};

/// What there is to know about it.
pub static INFO: KindInfo = KindInfo {
    name: "clock",
    label: "clock moved",
    colour: "#2f9e8f",
    about: "The wall clock jumps by an offset (`by`), and back at the end. By default among a server's jumps there \
            is one forward by the TTL or more.",
    phrase: ["the clock of {} was wrong", "the clocks of {} were wrong"],
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
    ],
    times: Times { every_percent: (250, 400), lasts_percent: (100, 200) },
    rolling: None,
};

asked! {
    /// How far the clock jumps.
    {
        /// How far; drawn by the TTL by default.
        by: OffsetRange,
    }
}

impl Asks for Asked {
    fn check(&self, _target: &Target) -> Result<(), Unfit> {
        let Some(by) = self.by else { return Ok(()) };
        if by.from_ms == 0 && by.to_ms == 0 {
            return Err(
                "`by` moves the clock by nothing; write an offset such as \"+3s\" or a range \"-3s..3s\""
                    .into(),
            );
        }
        check_jump("by", by.from_ms)?;
        check_jump("by", by.to_ms)
    }

    fn draw(&self, target: &Target, nth: usize, ttl_ms: u64, draw: &mut Draw) -> Fault {
        let by_ms = match self.by {
            Some(range) => draw_within(range, draw),
            None => draw_by_ttl(target, nth, ttl_ms, draw),
        };
        Clock { by_ms }.into()
    }
}

/// A jump. A clock has the offset of the newest fault that is left. A process that is started meanwhile has it too, so
/// that a jump of a dead node's clock may take effect later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// The offset in milliseconds.
    #[serde(default)]
    pub by_ms: i64,
}

impl Parameters for Clock {
    fn check(&self, _target: &Target) -> Result<(), Unfit> {
        if self.by_ms == 0 {
            return Err("a scheduled clock fault needs `by_ms`".into());
        }
        check_jump("by_ms", self.by_ms)
    }

    fn in_words(&self) -> Vec<String> {
        vec![format!("by {}", format_offset_ms(self.by_ms))]
    }

    fn milder(&self) -> Option<Fault> {
        (self.by_ms.abs() > 1).then(|| Clock { by_ms: self.by_ms * 3 / 4 }.into())
    }

    fn weight_ms(&self) -> u64 {
        self.by_ms.unsigned_abs()
    }
}

#[async_trait(?Send)]
impl Policy for Clock {
    fn shows(&self) -> Shows {
        Shows::Either
    }

    /// All are the clients too: their clocks are as wrong as those of the servers.
    fn aim(&self, target: &Target, view: &View, seed: u64) -> Result<Aim, NoTarget> {
        let targets = match target {
            Target::All => [&view.servers[..], &view.clients[..]].concat(),
            _ => resolve(target, view, seed)?,
        };
        Ok(Aim { targets, ..Aim::default() })
    }

    async fn apply(&self, on: &On<'_>) -> Answer<Report> {
        reported(on.move_clock(self.by_ms).await)
    }

    async fn heal(&self, on: &On<'_>) -> Ended<Report> {
        Ended::By(reported(on.leave_clock().await))
    }
}

fn shown(shown: &Map<String, Value>) -> Option<String> {
    let first = |value: &Value| value.as_array().and_then(|values| values.first()?.as_f64());
    if let Some(observed) = shown.get("observed_ms").and_then(first) {
        return Some(format!("{:+.1} s read back", observed / 1000.0));
    }
    let wanted = shown.get("offset_ms")?.as_f64()? / 1000.0;
    // It was dead when its clock was moved.
    Some(match after(shown, "pids").and_then(first) {
        Some(pid) => format!("{wanted:+.1} s, started with it as pid {pid}"),
        None => format!("{wanted:+.1} s for nobody: its process did not run"),
    })
}

/// A clock jumps by a year at most: more would not fit into the nanoseconds that clocks are moved by.
fn check_jump(name: &str, by_ms: i64) -> Result<(), Unfit> {
    if by_ms.unsigned_abs() <= LIMIT_MS as u64 {
        return Ok(());
    }
    Err(Unfit(format!(
        "`{name}` is out of range: a clock jumps by at most a year, {LIMIT_MS} ms, either way"
    )))
}

fn draw_within(range: OffsetRange, draw: &mut Draw) -> i64 {
    match draw.between_signed(range.from_ms, range.to_ms) {
        // No jump at all is no fault.
        0 if range.to_ms != 0 => range.to_ms,
        0 => range.from_ms,
        by_ms => by_ms,
    }
}

/// The first jump on a server and about every second later one go forward by 1 to 2 TTL, which ends every lease that the
/// server counts on its wall clock; the others go either way by a quarter to two TTL.
fn draw_by_ttl(target: &Target, nth: usize, ttl_ms: u64, draw: &mut Draw) -> i64 {
    let (big, forward) = (draw.below(2) == 0, draw.below(2) == 0);
    if target.may_be_server() && (nth == 0 || big) {
        return draw.between(ttl_ms, 2 * ttl_ms) as i64;
    }
    let size = draw.between((ttl_ms / 4).max(1), 2 * ttl_ms) as i64;
    if forward { size } else { -size }
}
