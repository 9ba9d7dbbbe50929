//! Schedules: the faults of one run, drawn before it starts as a pure function of plan, seed, length and TTL.

mod written;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    draw::Draw,
    kind::{Fault, FaultKind},
    life::Aim,
    plan::{FAULTS_MAX, FaultSpec, Plan, PlanError},
    resolve::{NoTarget, View},
    target::Target,
};

/// One fault to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledFault {
    /// From 1, in order of start. May be left out of a schedule that is given.
    pub id: u32,
    /// To whom; made a node when it starts.
    pub target: Target,
    /// Start, in milliseconds since the faults' phase began.
    pub at_ms: u64,
    /// Length in milliseconds; healed at `at_ms + lasts_ms`.
    pub lasts_ms: u64,
    /// Decides what is left to chance when it starts: which server, which half; of target `rolling` it is the number of
    /// the turn, from 0. Below 2^53, as JSON and TOML need.
    pub seed: u64,
    /// What happens.
    pub fault: Fault,
}

/// The faults of a run, in order of start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schedule {
    /// In order of start, ids dense from 1.
    pub faults: Vec<ScheduledFault>,
}

/// Faults of one specification keep this distance at least, in milliseconds.
const GAP_MS: u64 = 50;

impl Schedule {
    /// Draws the faults of a run of `run_ms` milliseconds under leases of `ttl_ms`.
    ///
    /// The first fault of each specification starts between a quarter of the TTL and the TTL after the beginning, later
    /// ones `every` after the last one's start, never before its end; all end a twentieth of the run (at most 500 ms)
    /// before the run does, so that the heal is inside. In a short run default lengths are cut to what fits; given
    /// lengths that cannot fit are an error.
    pub fn draw(plan: &Plan, seed: u64, run_ms: u64, ttl_ms: u64) -> Result<Schedule, PlanError> {
        plan.check()?;
        let mut faults = Vec::new();
        for (index, spec) in plan.faults.iter().enumerate() {
            let twins =
                plan.faults[..index].iter().filter(|earlier| earlier.to_string() == spec.to_string()).count();
            let draw = Draw::part(seed, &format!("{spec}#{twins}"));
            faults.extend(draw_spec(spec, draw, run_ms, ttl_ms)?);
            if faults.len() > FAULTS_MAX {
                return Err(PlanError::TooMany { kind: spec.kind(), run_ms });
            }
        }
        Ok(Schedule { faults: in_order(faults) })
    }

    /// Takes a schedule that was written by hand or saved: checks it, sorts it, numbers it anew from 1.
    pub fn given(faults: Vec<ScheduledFault>, run_ms: u64) -> Result<Schedule, PlanError> {
        faults.iter().try_for_each(|fault| fault.check(run_ms))?;
        Ok(Schedule { faults: in_order(faults) })
    }

    /// Puts faults that were changed in order of start and numbers them anew from 1.
    pub fn reorder(&mut self) {
        self.faults = in_order(std::mem::take(&mut self.faults));
    }
}

impl ScheduledFault {
    /// When it is healed, in milliseconds since the faults' phase began.
    pub fn end_ms(&self) -> u64 {
        self.at_ms.saturating_add(self.lasts_ms)
    }

    /// What kind of fault it is.
    pub fn kind(&self) -> FaultKind {
        self.fault.kind()
    }

    /// Whom it hits now.
    pub fn aim(&self, view: &View) -> Result<Aim, NoTarget> {
        self.fault.aim(&self.target, view, self.seed)
    }

    /// The nodes that it names, by its target or otherwise.
    pub fn named(&self) -> impl Iterator<Item = &String> {
        self.target.named().into_iter().chain(self.fault.named())
    }

    fn check(&self, run_ms: u64) -> Result<(), PlanError> {
        let kind = self.kind();
        kind.check_target(&self.target)?;
        self.fault.check(&self.target).map_err(|unfit| unfit.of(kind))?;
        if self.lasts_ms == 0 {
            return Err(PlanError::NoTime { kind, name: "lasts_ms" });
        }
        if self.end_ms() >= run_ms { Err(PlanError::Outlasts(kind)) } else { Ok(()) }
    }
}

fn draw_spec(
    spec: &FaultSpec,
    mut draw: Draw,
    run_ms: u64,
    ttl_ms: u64,
) -> Result<Vec<ScheduledFault>, PlanError> {
    let end_ms = run_ms - (run_ms / 20).min(500);
    let (kind, target) = (spec.kind(), &spec.target);
    let every = spec.every.unwrap_or_else(|| kind.every(target, ttl_ms));
    let lasts = spec.lasts.unwrap_or_else(|| kind.lasts(target, ttl_ms));
    let first_ms = draw.between(ttl_ms / 4, ttl_ms).min(end_ms / 4);
    if spec.lasts.is_some() && first_ms + lasts.from_ms > end_ms {
        return Err(PlanError::TooLong { kind, lasts_ms: lasts.from_ms, run_ms });
    }
    let mut faults = Vec::new();
    let mut at_ms = first_ms;
    loop {
        let wanted_ms = draw.between(lasts.from_ms, lasts.to_ms);
        let room_ms = end_ms.saturating_sub(at_ms);
        // A first fault is cut to fit, so that no run goes without; a later one that does not fit is left out.
        let lasts_ms = if faults.is_empty() { wanted_ms.min(room_ms) } else { wanted_ms };
        if lasts_ms > room_ms || lasts_ms == 0 {
            return Ok(faults);
        }
        if faults.len() == FAULTS_MAX {
            return Err(PlanError::TooMany { kind, run_ms });
        }
        let fault = spec.asked.draw(target, faults.len(), ttl_ms, &mut draw);
        // Of servers in turn there is nothing to choose: it is the number of the turn.
        let seed = if *target == Target::Rolling { faults.len() as u64 } else { draw.next() >> 11 };
        faults.push(ScheduledFault { id: 0, target: target.clone(), at_ms, lasts_ms, seed, fault });
        at_ms += draw.between(every.from_ms, every.to_ms).max(lasts_ms + GAP_MS);
    }
}

/// Sorted by start, ties by the order of the plan; numbered from 1.
fn in_order(mut faults: Vec<ScheduledFault>) -> Vec<ScheduledFault> {
    faults.sort_by_key(|fault| fault.at_ms);
    for (fault, id) in faults.iter_mut().zip(1..) {
        fault.id = id;
    }
    faults
}

impl fmt::Display for ScheduledFault {
    /// One line: ` 3   7.250 s  clock      server  for 2.400 s  by +3s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |ms: u64| format!("{}.{:03} s", ms / 1000, ms % 1000);
        let (at, lasts) = (seconds(self.at_ms), seconds(self.lasts_ms));
        write!(f, "{:>2} {at:>10}  {:<9} {:<8} for {lasts}", self.id, self.kind(), self.target.to_string())?;
        self.fault.in_words().iter().try_for_each(|words| write!(f, "  {words}"))
    }
}

impl fmt::Display for Schedule {
    /// One line a fault.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.faults.iter().try_for_each(|fault| writeln!(f, "{fault}"))
    }
}
