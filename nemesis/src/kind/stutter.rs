//! Stutter: the node's process stands still for a share of the time, again and again, and goes on in between.
//!
//! Evidence: how often it stood still, how long in all, and the share that was reached, from what pauses and resumptions
//! answered. Time is counted where those who had stood still went on, by this fault; where another fault held them
//! longer, or others came in their place, nobody knows, and that stop is among the `unseen`.
//!
//! So does a process that starves, or whose garbage is collected again and again: no stop outlasts the TTL by default,
//! yet renewals that come in time without it come late.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Fault, FaultKind,
    info::{KindInfo, Times},
    own::{Asks, Parameters, Unfit, asked},
    pause,
    words::{left_to, plain},
};
use crate::{
    draw::Draw,
    duration::{DurationRange, LIMIT_MS, format_ms},
    life::{Ended, Lasting, On, Policy, Report, Shows, Span, reported},
    target::Target,
    verbs::{Answer, Done, Paused, Reach, Resumed, Shown},
};

/// What there is to know about it.
pub static INFO: KindInfo = KindInfo {
    name: "stutter",
    label: "stuttered",
    colour: "#b8609a",
    about: "The process stands still for a share of the time (`share_percent`, 90 by default) and goes on in between, \
            once in each `period`. By default no stop outlasts the TTL.",
    phrase: ["{} stuttered", "{} stuttered"],
    akin: Some(FaultKind::Pause),
    shown,
    default_target: Target::Holder,
    targets: pause::INFO.targets,
    times: Times { every_percent: (380, 500), lasts_percent: (250, 330) },
    rolling: None,
};

asked! {
    /// How much it stands still.
    {
        /// For how much of the time, in per cent; 90 by default.
        share_percent: u8,
        /// From one stop to the next.
        period: DurationRange,
    }
}

/// A shorter period than this would be over before a verb is done.
const PERIOD_MS_MIN: u64 = 10;
const SHARE_PERCENT: u8 = 90;

impl Asks for Asked {
    fn check(&self, _target: &Target) -> Result<(), Unfit> {
        let period = self.period.unwrap_or(DurationRange { from_ms: PERIOD_MS_MIN, to_ms: PERIOD_MS_MIN });
        check_period("period", period.from_ms)?;
        check_period("period", period.to_ms)?;
        check_share(self.share_percent.unwrap_or(SHARE_PERCENT))
    }

    fn draw(&self, _target: &Target, _nth: usize, ttl_ms: u64, draw: &mut Draw) -> Fault {
        let by_ttl = DurationRange { from_ms: ttl_ms / 2, to_ms: ttl_ms };
        let DurationRange { from_ms, to_ms } = self.period.unwrap_or(by_ttl);
        let period_ms = draw.between(from_ms, to_ms).max(PERIOD_MS_MIN);
        Stutter { share_percent: self.share_percent.unwrap_or(SHARE_PERCENT), period_ms }.into()
    }
}

/// A stutter. A node that another fault has stopped is left to that one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stutter {
    /// For how much of the time it stands still, in per cent.
    #[serde(default)]
    pub share_percent: u8,
    /// From one stop to the next, in milliseconds.
    #[serde(default)]
    pub period_ms: u64,
}

impl Parameters for Stutter {
    fn in_words(&self) -> Vec<String> {
        vec![format!("{} % of each {}", self.share_percent, format_ms(self.period_ms))]
    }

    fn check(&self, _target: &Target) -> Result<(), Unfit> {
        check_period("period_ms", self.period_ms)?;
        check_share(self.share_percent)
    }

    fn milder(&self) -> Option<Fault> {
        let period_ms = (self.period_ms * 3 / 4).max(PERIOD_MS_MIN);
        (period_ms < self.period_ms).then(|| Stutter { period_ms, ..*self }.into())
    }

    fn weight_ms(&self) -> u64 {
        self.period_ms
    }
}

#[async_trait(?Send)]
impl Policy for Stutter {
    fn shows(&self) -> Shows {
        Shows::Start
    }

    async fn apply(&self, on: &On<'_>) -> Answer<Report> {
        reported(on.pause().await)
    }

    fn lasting(&self) -> Option<&dyn Lasting> {
        Some(self)
    }

    async fn heal(&self, on: &On<'_>) -> Ended<Report> {
        on.resume().await.reported()
    }
}

#[async_trait(?Send)]
impl Lasting for Stutter {
    async fn last(&self, on: &On<'_>, span: &Span<'_>) -> Answer<Report> {
        let stopped = Duration::from_millis(self.period_ms) * self.share_percent.into() / 100;
        let going = Duration::from_millis(self.period_ms) - stopped;
        let (begin, mut stops) = (span.now(), Stops::default());
        loop {
            // The first is the one that applied it: given again, it leaves what stands still as it is.
            let pause = on.pause().await?;
            let mut goes_on = span.wait(stopped).await;
            let resumed = match on.resume().await {
                Ended::By(answer) => Some(answer?),
                Ended::LeftTo(_) => None,
            };
            stops.add(&pause, resumed.as_ref());
            goes_on = goes_on && span.wait(going).await;
            if !goes_on {
                let at = span.now();
                return Ok(Done { at, shown: stops.of(at - begin).into() });
            }
        }
    }
}

/// The stops of one node so far.
#[derive(Default)]
struct Stops {
    count: u64,
    unseen: u64,
    still_ns: u64,
}

impl Stops {
    fn add(&mut self, pause: &Done<Paused>, resume: Option<&Done<Resumed>>) {
        let Reach::Processes(stopped) = &pause.shown else { return };
        self.count += 1;
        match resume {
            Some(Done { at, shown: Reach::Processes(going) }) if going.pids == stopped.pids => {
                self.still_ns += at.saturating_sub(pause.at);
            }
            _ => self.unseen += 1,
        }
    }

    fn of(self, lasted_ns: u64) -> Stuttered {
        let reached = self.still_ns as f64 * 100.0 / lasted_ns.max(1) as f64;
        Stuttered {
            stops: self.count,
            stopped_ms: self.still_ns / 1_000_000,
            reached_percent: (reached * 10.0).round() / 10.0,
            unseen: (self.unseen > 0).then_some(self.unseen),
        }
    }
}

/// `{"stops":12,"stopped_ms":5400,"reached_percent":89.7}`
#[derive(Serialize)]
struct Stuttered {
    stops: u64,
    stopped_ms: u64,
    reached_percent: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unseen: Option<u64>,
}

impl Shown for Stuttered {
    fn touched(&self) -> bool {
        self.stops > 0
    }
}

fn shown(shown: &Map<String, Value>) -> Option<String> {
    let stopped = shown.get("stopped_ms")?.as_f64()? / 1000.0;
    let (stops, share) = (plain(shown.get("stops")?), plain(shown.get("reached_percent")?));
    let then = left_to(shown).map(|left| format!(", then {left}")).unwrap_or_default();
    Some(format!("stopped {stops} times, {stopped:.1} s in all, {share} % of the time{then}"))
}

fn check_share(percent: u8) -> Result<(), Unfit> {
    match percent {
        1..=99 => Ok(()),
        _ => {
            Err(Unfit(format!("`share_percent` is {percent}: it must be from 1 to 99, or it is no stutter")))
        }
    }
}

fn check_period(name: &str, ms: u64) -> Result<(), Unfit> {
    if (PERIOD_MS_MIN..=LIMIT_MS as u64).contains(&ms) {
        return Ok(());
    }
    Err(Unfit(format!("`{name}` must be from {PERIOD_MS_MIN} ms to a year, {LIMIT_MS} ms")))
}
