use std::{collections::BTreeSet, fmt};

use history::{Reacquire, judgement::FaultRecord};

use super::table::LockTable;

/// What the checks must know beside the history.
#[derive(Clone, Debug, Default)]
pub struct CheckContext {
    /// What the recipe offers; `None`: told from the grants in the history.
    pub recipe: Option<RecipeTraits>,
    /// What the plan asks for; each must have taken effect at least once.
    pub planned_faults: Vec<PlannedFaults>,
    /// What it means that a client is granted a lock which it still holds; `None`: nobody says, and a verdict that hangs
    /// on it is `unknown`.
    pub reacquire: Option<Reacquire>,
    /// How much earlier than promised the recipe allows the service to end a grant, in nanoseconds.
    pub drift_ns: u64,
}

/// The faults of one kind on one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFaults {
    /// `pause`, …
    pub kind: String,
    /// Whom, in the plan's word, and the faults' numbers within the run. `None`: only the kind is known.
    pub aim: Option<(String, BTreeSet<u32>)>,
}

impl PlannedFaults {
    /// Whether this is one of them, and it took effect.
    pub(super) fn took_effect(&self, fault: &FaultRecord) -> bool {
        let is_one = self.aim.as_ref().is_none_or(|(_, ids)| ids.contains(&fault.id));
        is_one && fault.kind == self.kind && fault.result == "installed"
    }
}

impl fmt::Display for PlannedFaults {
    /// As on the command line: `pause:holder`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.aim {
            Some((target, _)) => write!(f, "{}:{target}", self.kind),
            None => f.write_str(&self.kind),
        }
    }
}

/// What a recipe's grants carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecipeTraits {
    /// A fencing token or a term.
    pub token: bool,
    /// A time to live that the service promises.
    pub ttl: bool,
}

impl RecipeTraits {
    /// What the grants of a history carried.
    pub(super) fn told_by(table: &LockTable<'_>) -> RecipeTraits {
        RecipeTraits {
            token: table.promises.iter().any(|promise| promise.token().is_some())
                || table.sightings.iter().any(|sighting| sighting.token.is_some()),
            ttl: table.promises.iter().any(|promise| promise.ttl_ns().is_some()),
        }
    }
}
