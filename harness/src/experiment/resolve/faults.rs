//! The faults: asked for, drawn or given.

use nemesis::{
    kind::{FaultKind, partition::From},
    plan::{FaultsTable, Plan, PlanError},
    schedule::Schedule,
    target::Target,
};
use toml::Spanned;

use super::{Flags, Place};
use crate::{
    error::{Error, Result},
    experiment::ExperimentFile,
    systems::System,
};

/// The faults asked for.
pub fn plan(file: &ExperimentFile, flags: &Flags, system: &System, place: &Place<'_>) -> Result<Plan> {
    let mut plan = asked(file, flags, place)?;
    // Where servers never talk to each other, a cut between them meets no packet.
    let cuts = plan.faults.iter_mut().filter(|spec| spec.kind == FaultKind::Partition);
    cuts.filter(|spec| are_strangers(system) && spec.target.is_servers()).for_each(|spec| {
        spec.from.get_or_insert(From::All);
    });
    Ok(plan)
}

fn asked(file: &ExperimentFile, flags: &Flags, place: &Place<'_>) -> Result<Plan> {
    if let Some(text) = &flags.faults {
        let text = if text == "none" { "" } else { text };
        return text.parse().map_err(|error: PlanError| Error::Usage(format!("--faults: {error}")));
    }
    let Some(table) = &file.faults else { return Ok(Plan::default()) };
    let span = Some(table.span());
    FaultsTable::clone(table.get_ref())
        .try_into()
        .map_err(|error: PlanError| place.wrong(span, "faults", &error.to_string()))
}

/// Servers that know nothing of each other.
fn are_strangers(system: &System) -> bool {
    system.name == "redis-independent"
}

/// A system without a leader has none to hit.
pub fn check_targets(plan: &Plan, system: &System, file: &ExperimentFile, place: &Place<'_>) -> Result<()> {
    let leader = plan.faults.iter().find(|spec| spec.target == Target::Leader);
    match leader.filter(|_| are_strangers(system)) {
        None => Ok(()),
        Some(spec) => {
            let message =
                format!("{} has no leader for `{spec}`: use server, minority, majority or all", system.name);
            Err(place.wrong(file.faults.as_ref().map(Spanned::span), "--faults", &message))
        }
    }
}

/// The schedule, and whether it was given rather than drawn.
pub fn schedule(
    file: &ExperimentFile,
    flags: &Flags,
    plan: &Plan,
    seed: u64,
    time_ms: u64,
    ttl_ms: u64,
    place: &Place<'_>,
) -> Result<(Schedule, bool)> {
    if file.schedule.is_empty() || flags.faults.is_some() {
        let drawn = Schedule::draw(plan, seed, time_ms, ttl_ms);
        let span = file.faults.as_ref().filter(|_| flags.faults.is_none()).map(Spanned::span);
        return drawn
            .map(|schedule| (schedule, false))
            .map_err(|error| place.wrong(span, "--faults", &error.to_string()));
    }
    if let Some(faults) = &file.faults {
        return Err(place.wrong(
            Some(faults.span()),
            "",
            "give either faults to draw or a schedule, not both",
        ));
    }
    for fault in &file.schedule {
        Schedule::given(vec![fault.get_ref().clone()], time_ms)
            .map_err(|error| place.wrong(Some(fault.span()), "", &error.to_string()))?;
    }
    let faults = file.schedule.iter().map(|fault| fault.get_ref().clone()).collect();
    let given =
        Schedule::given(faults, time_ms).map_err(|error| place.wrong(None, "", &error.to_string()))?;
    Ok((given, true))
}
