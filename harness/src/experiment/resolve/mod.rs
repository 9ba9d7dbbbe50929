//! From what was written and said to what is run: defaults, checks, the drawn schedule.

mod bounds;
mod faults;
mod settings;
mod values;

use std::{ops::Range, time::Duration};

use nemesis::duration::format_ms;
use toml::Spanned;
use workloads::{
    recipes::{self, RecipeInfo},
    workload::Workload,
};

use self::{
    bounds::{CLIENTS, TIME, TIME_SIMULATED, TTL, simulated},
    faults::{Known, check_scheduled, check_targets, plan, schedule},
    settings::{settings, version},
    values::{check_name, duration, expectations, number, random_seed, rates},
};
use super::{
    Experiment, ExperimentFile, Flags, On,
    file::Source,
    given::{Given, given},
    older,
};
use crate::{
    error::{Error, Result},
    systems::System,
};

/// Where a wrong value stands: in the file, or in a flag.
struct Place<'a> {
    source: Option<&'a Source>,
    /// Whether it is a run's that was made: what it was permitted then is not refused now.
    is_made: bool,
}

impl Place<'_> {
    fn wrong(&self, span: Option<Range<usize>>, flag: &str, message: &str) -> Error {
        match (self.source, span) {
            (Some(source), Some(span)) => source.wrong(span, message),
            (Some(source), None) if flag.is_empty() => Error::Data(format!("{}: {message}", source.path)),
            _ if flag.is_empty() => Error::Usage(message.to_string()),
            _ => Error::Usage(format!("{flag}: {message}")),
        }
    }
}

impl Experiment {
    /// From a recipe's name or a file's path, and flags.
    pub fn resolve(what: &str, flags: &Flags) -> Result<Experiment> {
        let is_file = what.ends_with(".toml") || std::path::Path::new(what).is_file();
        if is_file {
            return Experiment::from_file(what, flags, false);
        }
        let file = ExperimentFile {
            recipe: Some(Spanned::new(0..0, what.to_string())),
            ..ExperimentFile::default()
        };
        Experiment::from_parts(&file, flags, &Place { source: None, is_made: false })
    }

    /// The experiment of a run that was made, as it lies beside it.
    pub fn of_run(path: &str) -> Result<Experiment> {
        Experiment::from_file(path, &Flags::default(), true)
    }

    fn from_file(path: &str, flags: &Flags, is_made: bool) -> Result<Experiment> {
        let mut source = Source::read(path)?;
        let renamed = older::rename(&mut source)?;
        let place = Place { source: Some(&source), is_made };
        let experiment = Experiment::from_parts(&source.file, flags, &place)?;
        Ok(Experiment { renamed, ..experiment })
    }

    fn from_parts(file: &ExperimentFile, flags: &Flags, place: &Place<'_>) -> Result<Experiment> {
        let recipe = recipe(file, place)?;
        let system = system_of(recipe);
        let workload = workload(recipe, file, flags, place)?;
        let on = flags.on.or(file.on).unwrap_or_default();
        let ttl_ms = duration(given(&flags.ttl, &file.ttl), "--ttl", "2s", TTL, place)?;
        let time = if on == On::Sim { TIME_SIMULATED } else { TIME };
        let time_ms = duration(given(&flags.time, &file.time), "--time", "30s", time, place)?;
        let nodes = number(
            given(&flags.nodes, &file.system.nodes),
            "--nodes",
            system.default_nodes,
            1..=system.max_nodes,
            &format!("{} has", system.name),
            place,
        )?;
        let clients = number(
            given(&flags.clients, &file.clients),
            "--clients",
            recipe.clients,
            CLIENTS,
            "a run has",
            place,
        )?;
        if on == On::Sim {
            simulated(file, flags, place)?;
        }
        let version = version(file, flags, system, place)?;
        let settings = settings(file, flags, recipe, system, nodes, place)?;
        let seed = flags.seed.or(file.seed).unwrap_or_else(random_seed);
        let faults = plan(file, flags, system, place)?;
        let known = Known { servers: nodes, clients };
        check_targets(&faults, system, known, file, place)?;
        let (schedule, scheduled) = schedule(file, flags, &faults, seed, time_ms, ttl_ms, place)?;
        if scheduled {
            check_scheduled(file, known, place)?;
        }
        let rates = rates(file, flags, recipe, place)?;
        let sim = file.sim.as_ref().map(|sim| *sim.get_ref()).unwrap_or_default();
        sim.check().map_err(|why| place.wrong(file.sim.as_ref().map(Spanned::span), "", &why.to_string()))?;
        let name = file.name.as_ref().map_or(recipe.name, |name| name.get_ref().as_str());
        check_name(name, file, place)?;
        Ok(Experiment {
            name: name.to_string(),
            renamed: None,
            recipe,
            workload,
            on,
            time: Duration::from_millis(time_ms),
            clients,
            nodes,
            ttl: Duration::from_millis(ttl_ms),
            seed,
            version,
            image: given(&flags.image, &file.system.image).map(|image| image.value),
            settings,
            rates,
            sim,
            faults,
            schedule,
            scheduled,
            by_flags: place.source.is_none(),
            expect: expectations(file, flags, place)?,
        })
    }

    /// As it is saved beside the run: every default filled in, the schedule given one by one, so that running the
    /// file again repeats the run.
    pub fn to_toml(&self) -> Result<String> {
        let spanned = |text: String| Some(Spanned::new(0..0, text));
        let millis = |duration: Duration| spanned(format_ms(duration.as_millis() as u64));
        let file = ExperimentFile {
            format: Some(Spanned::new(0..0, older::FORMAT)),
            name: spanned(self.name.clone()),
            recipe: spanned(self.recipe.name.to_string()),
            workload: Some(Spanned::new(0..0, self.workload)),
            on: Some(self.on),
            time: millis(self.time),
            clients: Some(Spanned::new(0..0, self.clients)),
            ttl: millis(self.ttl),
            seed: Some(self.seed),
            expect: self
                .expect
                .iter()
                .map(|(check, what)| (Spanned::new(0..0, check.clone()), Spanned::new(0..0, *what)))
                .collect(),
            system: super::file::SystemTable {
                version: self.version.clone().and_then(spanned),
                image: self.image.clone().and_then(spanned),
                nodes: Some(Spanned::new(0..0, self.nodes)),
            },
            settings: self
                .settings
                .iter()
                .map(|(key, value)| {
                    (Spanned::new(0..0, key.clone()), Spanned::new(0..0, toml::Value::String(value.clone())))
                })
                .collect(),
            rates: Some(Spanned::new(0..0, self.rates.clone())),
            sim: (!self.sim.is_default()).then(|| Spanned::new(0..0, self.sim)),
            faults: None,
            schedule: self.schedule.faults.iter().map(|fault| Spanned::new(0..0, fault.clone())).collect(),
        };
        toml::to_string(&file)
            .map_err(|error| Error::Harness(format!("failed to write the experiment: {error}")))
    }
}

/// The system that a recipe needs.
pub fn system_of(recipe: &RecipeInfo) -> &'static System {
    System::named(recipe.system).unwrap_or_else(|| panic!("recipe {} names no known system", recipe.name))
}

fn recipe(file: &ExperimentFile, place: &Place<'_>) -> Result<&'static RecipeInfo> {
    let Some(name) = &file.recipe else {
        return Err(place.wrong(None, "", "it names no recipe; add one, such as recipe = \"redis/set-nx\""));
    };
    let span = place.source.map(|_| name.span());
    recipes::find(name.get_ref()).map_err(|error| {
        let file = if place.source.is_none() { "; a file's name ends in .toml" } else { "" };
        place.wrong(span, "", &format!("{error}\n  `fencepost list` shows all recipes{file}"))
    })
}

fn workload(
    recipe: &RecipeInfo,
    file: &ExperimentFile,
    flags: &Flags,
    place: &Place<'_>,
) -> Result<Workload> {
    let Some(Given { value: workload, span }) = given(&flags.workload, &file.workload) else {
        return Ok(Workload::usual_for(recipe.primitive));
    };
    if !workload.drives(recipe.primitive) {
        let fitting = Workload::ALL.into_iter().filter(|workload| workload.drives(recipe.primitive));
        let fitting: Vec<&str> = fitting.map(Workload::name).collect();
        let message =
            format!("{} cannot be driven by {}: use {}", recipe.name, workload.name(), fitting.join(" or "));
        return Err(place.wrong(span, "--workload", &message));
    }
    Ok(workload)
}
