//! The faults: asked for, drawn or given.

use history::node::{self, Role};
use nemesis::{
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
    if are_strangers(system) {
        plan.faults.iter_mut().for_each(|spec| spec.asked.among_strangers(&spec.target));
    }
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

/// The nodes there are, which a fault can name.
#[derive(Clone, Copy)]
pub struct Known {
    /// How many servers: `s1`, `s2`, …
    pub servers: u32,
    /// How many clients: `c1`, `c2`, …
    pub clients: u32,
}

impl Known {
    /// Fails on a node that is not there.
    fn check<'a>(self, mut named: impl Iterator<Item = &'a String>) -> Result<(), String> {
        let Some(stranger) = named.find(|name| !self.has(name)) else { return Ok(()) };
        let range = |letter: char, count: u32| match count {
            1 => format!("{letter}1"),
            _ => format!("{letter}1 to {letter}{count}"),
        };
        let (servers, clients) = (range('s', self.servers), range('c', self.clients));
        Err(format!("there is no node `{stranger}`: there are {servers}, {clients} and resource"))
    }

    /// Fails on a part of the servers that there is not.
    fn divide(self, target: &Target) -> Result<(), String> {
        let (what, least) = match target {
            Target::Halves => ("halves", 2),
            Target::Rolling => ("turns", 2),
            Target::Minority => ("minority", 3),
            _ => return Ok(()),
        };
        match self.servers {
            few if few < least => {
                Err(format!("{few} server(s) have no {what}: it takes at least {least}; use server or all"))
            }
            _ => Ok(()),
        }
    }

    fn has(self, name: &str) -> bool {
        let is_one_of = |count: u32| node::number(name).is_some_and(|number| number <= count);
        match Role::of(name) {
            Some(Role::Server) => is_one_of(self.servers),
            Some(Role::Client) => is_one_of(self.clients),
            Some(Role::Resource) => true,
            None => false,
        }
    }
}

/// A system without a leader has none to hit, and a node that is not there cannot be hit either.
pub fn check_targets(
    plan: &Plan,
    system: &System,
    known: Known,
    file: &ExperimentFile,
    place: &Place<'_>,
) -> Result<()> {
    let span = || file.faults.as_ref().map(Spanned::span);
    for spec in &plan.faults {
        if spec.target == Target::Leader && are_strangers(system) {
            let message =
                format!("{} has no leader for `{spec}`: use server, minority, majority or all", system.name);
            return Err(place.wrong(span(), "--faults", &message));
        }
        known
            .check(spec.named())
            .and_then(|()| if place.is_made { Ok(()) } else { known.divide(&spec.target) })
            .map_err(|why| place.wrong(span(), "--faults", &why))?;
    }
    Ok(())
}

/// As [`check_targets`], for faults that are given one by one.
pub fn check_scheduled(file: &ExperimentFile, known: Known, place: &Place<'_>) -> Result<()> {
    file.schedule.iter().try_for_each(|fault| {
        let missing = |why: String| place.wrong(Some(fault.span()), "", &why);
        known.check(fault.get_ref().named()).map_err(missing)?;
        if place.is_made { Ok(()) } else { known.divide(&fault.get_ref().target).map_err(missing) }
    })
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
