//! One recipe under one fault.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::RangeInclusive,
    rc::Rc,
};

use harness::{
    campaigns::{explore::with_seed, simulate::try_out},
    experiment::{Experiment, Flags, On},
};
use history::verdict::Verdict;
use nemesis::kind::FaultKind;
use workloads::recipes::RecipeInfo;

/// A recipe and a fault, as `--faults` takes it.
pub struct Cell {
    /// The recipe, driven as it is by default.
    pub recipe: &'static RecipeInfo,
    /// Such as `pause:holder`.
    pub faults: String,
}

/// What seeds showed.
#[derive(Default)]
pub struct Counted {
    /// Seeds that violated the check.
    pub violated: BTreeMap<String, Vec<u64>>,
    /// Runs that broke nothing, and of which some check can say nothing.
    unknown: u64,
    /// Why, each once.
    why: BTreeSet<String>,
    runs: u64,
}

impl Cell {
    /// Runs these seeds.
    pub fn count(&self, counted: &mut Counted, time: &str, seeds: RangeInclusive<u64>) {
        let flags = Flags {
            on: Some(On::Sim),
            faults: Some(self.faults.clone()),
            time: Some(time.into()),
            seed: Some(1),
            ..Flags::default()
        };
        let base =
            Experiment::resolve(self.recipe.name, &flags).unwrap_or_else(|why| panic!("{self}: {why}"));
        for seed in seeds {
            let experiment = with_seed(&base, seed).unwrap_or_else(|why| panic!("{self}: {why}"));
            let tried = try_out(&Rc::new(experiment)).unwrap_or_else(|why| panic!("{self}: {why}"));
            counted.take(seed, tried.judged.judgement);
        }
    }

    /// The checks that are listed.
    pub fn may_break(&self) -> BTreeSet<&'static str> {
        self.recipe.may_break().remove(&self.faults).unwrap_or_default()
    }

    /// The checks that may break because they do under faults that do no less.
    pub fn may_break_as_well(&self) -> BTreeSet<&'static str> {
        let Some((kind, target)) = self.faults.split_once(':') else { return BTreeSet::new() };
        let akin = kind.parse::<FaultKind>().ok().and_then(|kind| kind.info().akin);
        akin.and_then(|akin| self.recipe.may_break().remove(&format!("{akin}:{target}"))).unwrap_or_default()
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}", self.recipe.name, self.faults)
    }
}

impl Counted {
    fn take(&mut self, seed: u64, judgement: history::judgement::Judgement) {
        self.runs += 1;
        self.unknown += u64::from(judgement.verdict == Verdict::Unknown);
        for (name, check) in judgement.checks {
            match check.verdict {
                Verdict::Invalid => self.violated.entry(name).or_default().push(seed),
                Verdict::Unknown => self.why.extend(check.reason),
                Verdict::Valid => {}
            }
        }
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut violated: Vec<_> = self.violated.iter().collect();
        violated.sort_by_key(|(check, _)| checkers::rank(check));
        let told: Vec<_> = violated.iter().map(|(check, seeds)| format!("{check}={}", seeds.len())).collect();
        let told = if told.is_empty() { "-".to_owned() } else { told.join(",") };
        write!(f, "{told}\tof={}\tunknown={}", self.runs, self.unknown)?;
        self.why.iter().try_for_each(|why| write!(f, "\t{why}"))
    }
}
