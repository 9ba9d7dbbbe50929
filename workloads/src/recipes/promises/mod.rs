//! What each recipe never promised: which checks that may break, under which faults, and what would have prevented it.
//!
//! A check that is not named here for a fault must be silent under it. `cargo run --release -p fencepost --example
//! matrix -- --check` holds all of it against simulated runs of every recipe under every fault, a hundred seeds each, with
//! the usual settings and versions: nothing else breaks, and what is named does within five hundred. (What would take
//! thousands, such as a waiter that stands still with its request under way, is not named; what takes locks that are held
//! for most of their TTL, as `kill:rolling` of Redlock, is.)

pub(super) mod common;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use super::RecipeInfo;

/// Something that a recipe never promised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Ends the sentence "It never promised that …".
    pub never_promised: &'static str,
    /// Whole sentences: what would have prevented it, and what would not.
    pub prevented_by: String,
    /// The service's first version that is without it, where a newer one is.
    pub before: Option<&'static str>,
    /// What it may break: faults of one kind with their targets, such as `pause:holder,client`, and the checks, such as
    /// `exclusion damage`.
    pub cells: Cells,
}

/// Faults with their targets, and checks.
pub(super) type Cells = &'static [(&'static str, &'static str)];

impl Gap {
    /// Its cells one by one: a fault such as `pause:holder`, or `none`, and a check.
    pub fn breaks(&self) -> impl Iterator<Item = (String, &'static str)> {
        self.cells.iter().flat_map(|(faults, checks)| {
            each(faults)
                .into_iter()
                .flat_map(|fault| checks.split_whitespace().map(move |check| (fault.clone(), check)))
        })
    }
}

/// `pause:holder,client` is `pause:holder` and `pause:client`.
fn each(faults: &str) -> Vec<String> {
    let Some((kind, targets)) = faults.split_once(':') else { return vec![faults.to_owned()] };
    targets.split(',').map(|target| format!("{kind}:{target}")).collect()
}

impl RecipeInfo {
    /// What it promises, in a few words.
    pub fn promise(&self) -> String {
        words::promise(self)
    }

    /// What it never promised, what matters most first.
    pub fn gaps(&self) -> Vec<Gap> {
        (self.gaps)(self)
    }

    /// By fault, such as `pause:holder`: the checks that may break, with the service's usual version.
    pub fn may_break(&self) -> BTreeMap<String, BTreeSet<&'static str>> {
        let mut cells: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
        for (fault, check) in self.gaps().iter().filter(|gap| gap.before.is_none()).flat_map(Gap::breaks) {
            cells.entry(fault).or_default().insert(check);
        }
        cells
    }
}
