//! What there is to say of a check, in one row.

use history::{
    History, Reacquire, ResourceEntry,
    verdict::{About, CheckResult},
};

use super::{context::RecipeTraits, table::LockTable};

/// All that is said of a check beside what it finds: one row, which stands in the check's own file.
#[derive(Debug)]
pub struct Check {
    /// As reports and experiments call it.
    pub name: &'static str,
    /// When it is broken.
    pub about: &'static str,
    /// What it sees kept, or what it tells, in one sentence.
    pub promise: &'static str,
    /// What prevents that it is broken, whatever the recipe; whole sentences.
    pub prevented_by: &'static str,
    /// Its place in reports, the lowest first: what others follow from comes before these.
    pub rank: u32,
    /// It tells figures, and is never broken.
    pub informs: bool,
    /// It is judged only where that happened which it is about; elsewhere it is kept, and is not mentioned.
    pub on_occasion: bool,
    /// Only the end of a run can show that it was kept.
    pub kept_only_at_end: bool,
    /// Violations that are no longer than what stood still meanwhile are set aside.
    pub stalls_excuse: bool,
    pub(crate) stake: Stake,
    /// It can be seen kept only in a history that tells of every grant.
    pub(crate) needs_every_grant: bool,
    /// Why there is nothing that it could judge, where that is so.
    pub(crate) not_applicable: fn(&Case<'_>) -> Option<&'static str>,
    pub(crate) run: fn(&Case<'_>) -> CheckResult,
}

/// What must have been at stake for `valid` to mean anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stake {
    /// Nothing.
    None,
    /// A lock was granted, and the faults asked for took effect.
    Grant,
    /// Beside that, somebody else held or wanted the lock meanwhile.
    Contention,
}

/// What a check looks at.
pub(crate) struct Case<'h> {
    pub table: LockTable<'h>,
    pub history: &'h History,
    pub log: Option<&'h [ResourceEntry]>,
    pub recipe: RecipeTraits,
    pub drift_ns: u64,
    pub reacquire: Reacquire,
}

impl Case<'_> {
    /// Whether anybody tried to write to the resource.
    pub(crate) fn has_writes(&self) -> bool {
        self.table.accesses.iter().any(|access| access.write)
    }
}

impl Check {
    /// What reports are told of it.
    pub fn told(&self) -> About {
        About {
            rank: Some(self.rank),
            promise: Some(self.promise.to_owned()),
            informs: self.informs,
            stalls_excuse: self.stalls_excuse,
        }
    }
}
