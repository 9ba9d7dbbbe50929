//! From what was written and said to what is run: defaults, checks, the drawn schedule.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use nemesis::{
    duration::{format_ms, parse_ms},
    plan::{FaultsTable, Plan},
    schedule::Schedule,
    suggest,
    target::Target,
};
use toml::Spanned;
use workloads::{
    recipes::{self, RecipeInfo},
    workload::{Rates, Workload},
};

use super::{Expectation, Experiment, ExperimentFile, On, file::Source};
use crate::{
    error::{Error, Result},
    images::catalog,
    systems::System,
};

/// What was said on the command line; it goes before what the file says.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--on`
    pub on: Option<On>,
    /// `--faults`
    pub faults: Option<String>,
    /// `--nodes`
    pub nodes: Option<u32>,
    /// `--clients`
    pub clients: Option<u32>,
    /// `--ttl`
    pub ttl: Option<String>,
    /// `--time`
    pub time: Option<String>,
    /// `--rate`: how many operations a second each client aims at.
    pub rate: Option<f64>,
    /// `--seed`
    pub seed: Option<u64>,
    /// `--version`
    pub version: Option<String>,
    /// `--image`
    pub image: Option<String>,
    /// `--workload`
    pub workload: Option<Workload>,
    /// `--set key=value`
    pub settings: Vec<String>,
    /// `--expect`
    pub expect: Option<Expectation>,
}

/// Greatest number of clients: an address range of a run's network.
const CLIENTS_MAX: u32 = 100;
/// A run without faults still needs some time to see contention.
const TIME_MIN_MS: u64 = 500;
/// Tries a second: from one in a quarter of an hour to one a millisecond.
const RATE: std::ops::RangeInclusive<f64> = 0.001..=1000.0;
/// Below this a TTL is lost in the noise of scheduling.
const TTL_MIN_MS: u64 = 100;

/// Where a wrong value stands: in the file, or in a flag.
struct Place<'a> {
    source: Option<&'a Source>,
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
            let source = Source::read(what)?;
            return Experiment::from_parts(&source.file, flags, &Place { source: Some(&source) });
        }
        let file = ExperimentFile {
            recipe: Some(Spanned::new(0..0, what.to_string())),
            ..ExperimentFile::default()
        };
        Experiment::from_parts(&file, flags, &Place { source: None })
    }

    fn from_parts(file: &ExperimentFile, flags: &Flags, place: &Place<'_>) -> Result<Experiment> {
        let recipe = recipe(file, place)?;
        let system = system_of(recipe);
        let workload = workload(recipe, flags.workload.or(file.workload), place)?;
        let ttl_ms = duration(&flags.ttl, &file.ttl, "--ttl", "2s", TTL_MIN_MS, place)?;
        let time_ms = duration(&flags.time, &file.time, "--time", "30s", TIME_MIN_MS, place)?;
        let nodes = number(
            flags.nodes,
            &file.system.nodes,
            "--nodes",
            system.default_nodes,
            1..=system.max_nodes,
            &format!("{} has", system.name),
            place,
        )?;
        let clients =
            number(flags.clients, &file.clients, "--clients", 5, 1..=CLIENTS_MAX, "a run has", place)?;
        let version = version(file, flags, system, place)?;
        let settings = settings(file, flags, recipe, system, place)?;
        let seed = flags.seed.or(file.seed).unwrap_or_else(random_seed);
        let faults = plan(file, flags, place)?;
        check_targets(&faults, system, file, place)?;
        let (schedule, scheduled) = schedule(file, flags, &faults, seed, time_ms, ttl_ms, place)?;
        let rates = rates(file, flags, place)?;
        let name = file.name.as_ref().map_or(recipe.name, |name| name.get_ref().as_str());
        check_name(name, file, place)?;
        Ok(Experiment {
            name: name.to_string(),
            recipe,
            workload,
            on: flags.on.or(file.on).unwrap_or_default(),
            time: Duration::from_millis(time_ms),
            clients,
            nodes,
            ttl: Duration::from_millis(ttl_ms),
            seed,
            version,
            image: flags.image.clone().or_else(|| file.system.image.clone()),
            settings,
            rates,
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
            name: spanned(self.name.clone()),
            recipe: spanned(self.recipe.name.to_string()),
            workload: Some(self.workload),
            on: Some(self.on),
            time: millis(self.time),
            clients: Some(Spanned::new(0..0, self.clients)),
            ttl: millis(self.ttl),
            seed: Some(self.seed),
            expect: self
                .expect
                .iter()
                .map(|(check, what)| (check.clone(), Spanned::new(0..0, *what)))
                .collect(),
            system: super::file::SystemTable {
                version: self.version.clone().and_then(spanned),
                image: self.image.clone(),
                nodes: Some(Spanned::new(0..0, self.nodes)),
            },
            settings: self
                .settings
                .iter()
                .map(|(key, value)| (key.clone(), Spanned::new(0..0, toml::Value::String(value.clone()))))
                .collect(),
            rates: Some(Spanned::new(0..0, self.rates.clone())),
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

fn workload(recipe: &RecipeInfo, asked: Option<Workload>, place: &Place<'_>) -> Result<Workload> {
    let workload = asked.unwrap_or(recipe.workload);
    let election = |workload| workload == Workload::Election;
    if election(workload) != election(recipe.workload) {
        let fits = if election(recipe.workload) { "election" } else { "lock or lease" };
        let message = format!("{} cannot be driven by {}: use {fits}", recipe.name, workload.name());
        return Err(place.wrong(None, "--workload", &message));
    }
    Ok(workload)
}

fn duration(
    flag: &Option<String>,
    key: &Option<Spanned<String>>,
    name: &str,
    default: &str,
    least_ms: u64,
    place: &Place<'_>,
) -> Result<u64> {
    let (text, span) = match (flag, key) {
        (Some(text), _) => (text.as_str(), None),
        (None, Some(text)) => (text.get_ref().as_str(), Some(text.span())),
        (None, None) => (default, None),
    };
    let ms = parse_ms(text).map_err(|error| place.wrong(span.clone(), name, &error.to_string()))?;
    if ms < least_ms {
        let message = format!("{text} is too short: at least {}", format_ms(least_ms));
        return Err(place.wrong(span, name, &message));
    }
    Ok(ms)
}

fn number(
    flag: Option<u32>,
    key: &Option<Spanned<u32>>,
    name: &str,
    default: u32,
    range: std::ops::RangeInclusive<u32>,
    who_has: &str,
    place: &Place<'_>,
) -> Result<u32> {
    let (number, span) = match (flag, key) {
        (Some(number), _) => (number, None),
        (None, Some(number)) => (*number.get_ref(), Some(number.span())),
        (None, None) => (default, None),
    };
    if !range.contains(&number) {
        let bounds = match (range.start(), range.end()) {
            (one, same) if one == same => format!("exactly {one}"),
            (least, most) => format!("{least} to {most}"),
        };
        let message = format!("{number} is out of range: {who_has} {bounds}");
        return Err(place.wrong(span, name, &message));
    }
    Ok(number)
}

/// What the file says, checked, and the rate of the command line.
fn rates(file: &ExperimentFile, flags: &Flags, place: &Place<'_>) -> Result<Rates> {
    let mut rates = file.rates.as_ref().map(|rates| rates.get_ref().clone()).unwrap_or_default();
    let span = file.rates.as_ref().map(Spanned::span);
    rates.check().map_err(|error| place.wrong(span, "", &error.to_string()))?;
    if let Some(rate) = flags.rate {
        if !RATE.contains(&rate) {
            let message = format!(
                "--rate: {rate:?} is out of range: {} to {} tries a second",
                RATE.start(),
                RATE.end()
            );
            return Err(Error::Usage(message));
        }
        let pause_ms = (1000.0 / rate) as u64;
        rates.think_ms = (pause_ms / 2, pause_ms + pause_ms / 2);
    }
    Ok(rates)
}

fn version(
    file: &ExperimentFile,
    flags: &Flags,
    system: &System,
    place: &Place<'_>,
) -> Result<Option<String>> {
    let (version, span) = match (&flags.version, &file.system.version) {
        (Some(version), _) => (version.clone(), None),
        (None, Some(version)) => (version.get_ref().clone(), Some(version.span())),
        (None, None) => return Ok(None),
    };
    if flags.image.is_some() || file.system.image.is_some() {
        return Err(place.wrong(
            span,
            "--version",
            "an image was given too: name a version or an image, not both",
        ));
    }
    let known = catalog::versions(system.family.name());
    if known.iter().any(|known| *known == version) {
        return Ok(Some(version));
    }
    let message = format!(
        "there is no {} {version}: use one of {}, or --image with any image{}",
        system.family.name(),
        known.join(", "),
        suggest::hint(&version, known.iter().copied()),
    );
    Err(place.wrong(span, "--version", &message))
}

/// Keys of the recipe and of the system; anything else is a mistake.
fn settings(
    file: &ExperimentFile,
    flags: &Flags,
    recipe: &'static RecipeInfo,
    system: &System,
    place: &Place<'_>,
) -> Result<BTreeMap<String, String>> {
    let mut settings = BTreeMap::new();
    for (key, value) in &file.settings {
        let text = match value.get_ref() {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        settings.insert(key.clone(), (text, place.source.map(|_| value.span())));
    }
    for setting in &flags.settings {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| Error::Usage(format!("--set: {setting:?} is not key=value")))?;
        settings.insert(key.trim().to_string(), (value.trim().to_string(), None));
    }
    for (key, (value, span)) in &settings {
        check_setting(key, value, recipe, system).map_err(|why| place.wrong(span.clone(), "--set", &why))?;
    }
    Ok(settings.into_iter().map(|(key, (value, _))| (key, value)).collect())
}

fn check_setting(key: &str, value: &str, recipe: &'static RecipeInfo, system: &System) -> Result<(), String> {
    if let Some(setting) = system.settings.iter().find(|setting| setting.name == key) {
        let number = setting.values.is_empty();
        return match () {
            () if number && value.parse::<u32>().is_err() => {
                Err(format!("{key} is a whole number, not {value:?}"))
            }
            () if !number && !setting.values.contains(&value) => {
                let hint = suggest::hint(value, setting.values.iter().copied());
                Err(format!("{key} is one of {}, not {value:?}{hint}", setting.values.join(", ")))
            }
            () => Ok(()),
        };
    }
    if recipe.settings.iter().any(|setting| setting.name == key) {
        return recipe
            .settings(&BTreeMap::from([(key.to_string(), value.to_string())]))
            .map(drop)
            .map_err(|error| error.to_string());
    }
    let known: Vec<&str> = system
        .settings
        .iter()
        .map(|setting| setting.name)
        .chain(recipe.settings.iter().map(|setting| setting.name))
        .collect();
    let hint = suggest::hint(key, known.iter().copied());
    Err(format!(
        "{} on {} has no setting {key:?}: use one of {}{hint}",
        recipe.name,
        system.name,
        known.join(", ")
    ))
}

fn plan(file: &ExperimentFile, flags: &Flags, place: &Place<'_>) -> Result<Plan> {
    if let Some(text) = &flags.faults {
        let text = if text == "none" { "" } else { text };
        return text
            .parse()
            .map_err(|error: nemesis::plan::PlanError| Error::Usage(format!("--faults: {error}")));
    }
    let Some(table) = &file.faults else { return Ok(Plan::default()) };
    let span = Some(table.span());
    FaultsTable::clone(table.get_ref())
        .try_into()
        .map_err(|error: nemesis::plan::PlanError| place.wrong(span, "faults", &error.to_string()))
}

/// A system without a leader has none to hit.
fn check_targets(plan: &Plan, system: &System, file: &ExperimentFile, place: &Place<'_>) -> Result<()> {
    let leaderless = system.name == "redis-independent";
    let leader = plan.faults.iter().find(|spec| spec.target == Target::Leader);
    match leader.filter(|_| leaderless) {
        None => Ok(()),
        Some(spec) => {
            let message =
                format!("{} has no leader for `{spec}`: use server, minority, majority or all", system.name);
            Err(place.wrong(file.faults.as_ref().map(Spanned::span), "--faults", &message))
        }
    }
}

fn schedule(
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

fn expectations(
    file: &ExperimentFile,
    flags: &Flags,
    place: &Place<'_>,
) -> Result<BTreeMap<String, Expectation>> {
    let mut expect = BTreeMap::new();
    for (check, what) in &file.expect {
        let known = checkers::checks::ABOUT.iter().map(|(name, _)| *name).chain(["verdict"]);
        if !known.clone().any(|known| known == check) {
            let hint = suggest::hint(check, known.clone());
            let message = format!(
                "there is no check {check:?}: use one of {}{hint}",
                known.collect::<Vec<_>>().join(", ")
            );
            return Err(place.wrong(Some(what.span()), "", &message));
        }
        expect.insert(check.clone(), *what.get_ref());
    }
    if let Some(what) = flags.expect {
        expect.insert("verdict".into(), what);
    }
    Ok(expect)
}

/// The name becomes a folder.
fn check_name(name: &str, file: &ExperimentFile, place: &Place<'_>) -> Result<()> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let fits = !name.is_empty()
        && name.chars().all(good)
        && !name.split('/').any(|part| part.is_empty() || part.starts_with('.'));
    if fits {
        return Ok(());
    }
    let message =
        format!("{name:?} cannot be a folder's name: letters, digits, `-`, `_`, `.` and single `/`");
    Err(place.wrong(file.name.as_ref().map(Spanned::span), "", &message))
}

/// A seed that nobody chose; printed, so that the run can be repeated.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // TOML's and JSON readers' integers end early; 32 bits are easy to type.
    std::collections::hash_map::RandomState::new().build_hasher().finish() & 0xffff_ffff
}
