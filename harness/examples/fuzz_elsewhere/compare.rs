//! One history after another: written in every format, judged, and held against what is right.

use std::{collections::BTreeMap, path::Path};

use super::{
    brute::Twist,
    case::{Case, Wrong},
    expected::Verdict,
    generate,
    objects::{self, Object},
    random::Random,
    spelling::{FORMATS, Format},
};

/// What is tried.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Decides everything.
    pub seed: u64,
    /// How many histories; each is written in every format that has words for it.
    pub histories: usize,
    /// Only these objects, by the names of their models; all if there is none.
    pub only: Vec<String>,
    /// Only these formats; all if there is none.
    pub formats: Vec<Format>,
    /// Which histories are left out.
    pub without: Vec<Kept>,
    /// What the fuzzer's own judge gets wrong.
    pub twist: Option<Twist>,
}

/// Kinds of histories that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kept {
    /// Several objects, each with its key.
    Keyed,
    /// One object without a key.
    Plain,
    /// The model is told from the operations.
    Unnamed,
    /// The model is named.
    Named,
}

/// What came of one format and kind of object.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub histories: u64,
    pub valid: u64,
    pub invalid: u64,
    pub unknown: u64,
    pub refused: u64,
    pub wrong: u64,
}

/// The counts by object, whether it has a key, and format.
pub type Table = BTreeMap<(Object, bool, Format), Counts>;

/// The shortest disagreement of each kind.
pub type Examples = BTreeMap<(Object, bool, String), String>;

/// Compares all.
pub fn compare(plan: &Plan, file: &Path) -> (Table, Examples) {
    let mut random = Random::new(plan.seed);
    let (mut table, mut examples) = (Table::new(), Examples::new());
    let objects: Vec<Object> = objects::ALL
        .into_iter()
        .filter(|object| plan.only.is_empty() || plan.only.iter().any(|only| object.name().starts_with(only)))
        .collect();
    let has = |kept| !plan.without.contains(&kept);
    for at in 0..plan.histories {
        let object = objects[at % objects.len()];
        let keyed = has(Kept::Keyed) && (!has(Kept::Plain) || random.chance(50));
        let events = generate::history(object, keyed, &mut random);
        let mut case = Case::new(object, events, plan.twist, &mut random);
        for format in FORMATS {
            let is_wanted = plan.formats.is_empty() || plan.formats.contains(&format);
            if !is_wanted || !format.has(object, &case.events) {
                continue;
            }
            let named = has(Kept::Named) && (!has(Kept::Unnamed) || random.chance(50));
            let Some(told) = case.judge(format, named, file, &mut random) else { continue };
            let counts = table.entry((object, keyed, format)).or_default();
            counts.add(told.verdict);
            if let Some(Wrong { why, told }) = told.wrong {
                counts.wrong += 1;
                let example = examples.entry((object, keyed, why)).or_default();
                if example.is_empty() || told.len() < example.len() {
                    *example = told;
                }
            }
        }
    }
    (table, examples)
}

impl Counts {
    fn add(&mut self, verdict: Option<Verdict>) {
        self.histories += 1;
        *match verdict {
            Some(Verdict::Valid) => &mut self.valid,
            Some(Verdict::Invalid) => &mut self.invalid,
            Some(Verdict::Unknown) => &mut self.unknown,
            None => &mut self.refused,
        } += 1;
    }
}
