use std::collections::BTreeSet;

use super::table::LockTable;

/// What the checks must know beside the history.
#[derive(Clone, Debug, Default)]
pub struct CheckContext {
    /// What the recipe offers; `None`: told from the grants in the history.
    pub recipe: Option<RecipeTraits>,
    /// Kinds of the faults that the plan holds, such as `pause`.
    pub planned_faults: BTreeSet<String>,
    /// How much earlier than promised the recipe allows the service to end a grant, in nanoseconds.
    pub drift_ns: u64,
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
            token: table.holds.iter().any(|hold| hold.token().is_some()),
            ttl: table.promises.iter().any(|promise| promise.ttl_ns().is_some()),
        }
    }
}
