//! Plans: which faults a run is to suffer, as the user asked for them.

mod table;
mod text;

pub use table::{FaultsTable, OneOrMany, PlainTable, SpecTable};

use serde::{Deserialize, Serialize};

use crate::{
    duration::{DurationError, DurationRange, LIMIT_MS, OffsetRange, format_ms},
    kind::{
        BadTarget, FaultKind, UnknownKind,
        partition::{Direction, From},
    },
    target::{Target, UnknownTarget},
};

/// One kind of fault on one target, again and again. What is `None` is filled in from the kind and the TTL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// What happens.
    pub kind: FaultKind,
    /// To whom.
    pub target: Target,
    /// From one start to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<DurationRange>,
    /// How long each lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts: Option<DurationRange>,
    /// Clock: how far the clock jumps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<OffsetRange>,
    /// Partition: which way packets are dropped; both by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Partition of servers: from whom; drawn between everybody and the other servers by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<From>,
    /// Partition: the sides of target `groups`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Vec<String>>,
}

/// Several specifications at once. Each draws its own faults, undisturbed by the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plan {
    /// In the order written.
    pub faults: Vec<FaultSpec>,
}

/// A plan makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No such kind of fault.
    #[error(transparent)]
    Kind(#[from] UnknownKind),
    /// No such target.
    #[error(transparent)]
    Target(#[from] UnknownTarget),
    /// The target does not fit the kind.
    #[error(transparent)]
    BadTarget(#[from] BadTarget),
    /// A duration cannot be read.
    #[error(transparent)]
    Duration(#[from] DurationError),
    /// A parameter belongs to another kind or shape, or is out of bounds.
    #[error("{kind}: {reason}")]
    Parameter {
        /// Whose.
        kind: FaultKind,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// More faults than a run can tell of.
    #[error(
        "{kind}: more than {} faults do not fit into one run, and this one is {} long: make `every` longer or the run shorter",
        FAULTS_MAX,
        format_ms(*run_ms)
    )]
    TooMany {
        /// Which kind.
        kind: FaultKind,
        /// The run's length in milliseconds.
        run_ms: u64,
    },
    /// A fault does not fit into the run.
    #[error(
        "a {kind} of {} does not fit into a run of {}: make the run longer or the fault shorter",
        format_ms(*lasts_ms),
        format_ms(*run_ms)
    )]
    TooLong {
        /// Which kind.
        kind: FaultKind,
        /// Its shortest length in milliseconds.
        lasts_ms: u64,
        /// The run's length in milliseconds.
        run_ms: u64,
    },
}

/// Most faults of one run: all that are usual, for a day.
pub(crate) const FAULTS_MAX: usize = 60_000;

impl Plan {
    /// Fails on the first specification that makes no sense.
    pub fn check(&self) -> Result<(), PlanError> {
        self.faults.iter().try_for_each(FaultSpec::check)
    }

    /// The plan with every default filled in for this TTL, as a run saves it; what is drawn (a clock's `by`, a
    /// partition's `from`) stays open.
    pub fn resolved(&self, ttl_ms: u64) -> Plan {
        let resolve = |spec: &FaultSpec| FaultSpec {
            every: Some(spec.every.unwrap_or_else(|| spec.kind.every(&spec.target, ttl_ms))),
            lasts: Some(spec.lasts.unwrap_or_else(|| spec.kind.lasts(&spec.target, ttl_ms))),
            ..spec.clone()
        };
        Plan { faults: self.faults.iter().map(resolve).collect() }
    }
}

impl FaultSpec {
    /// A specification with defaults for all but kind and target.
    pub fn new(kind: FaultKind, target: Target) -> FaultSpec {
        FaultSpec {
            kind,
            target,
            every: None,
            lasts: None,
            by: None,
            direction: None,
            from: None,
            groups: Vec::new(),
        }
    }

    /// A specification as its table has it: without a target it has the kind's default.
    pub(crate) fn timed(
        kind: FaultKind,
        target: Option<Target>,
        every: Option<DurationRange>,
        lasts: Option<DurationRange>,
    ) -> FaultSpec {
        let target = target.unwrap_or_else(|| kind.info().default_target.clone());
        FaultSpec { every, lasts, ..FaultSpec::new(kind, target) }
    }

    /// The nodes that it names: its target's, and those of a partition's groups.
    pub fn named(&self) -> impl Iterator<Item = &String> {
        self.target.named().into_iter().chain(self.groups.iter().flatten())
    }

    /// Fails when the target does not fit the kind or a parameter does not fit either.
    pub fn check(&self) -> Result<(), PlanError> {
        self.kind.check_target(&self.target)?;
        let wrong = |reason: &str| Err(PlanError::Parameter { kind: self.kind, reason: reason.into() });
        let cut = self.direction.is_some() || self.from.is_some() || !self.groups.is_empty();
        check_owner(self.kind, self.by.map(|_| "by"), cut)?;
        if self.by.is_some_and(|by| by.from_ms == 0 && by.to_ms == 0) {
            return wrong(
                "`by` moves the clock by nothing; write an offset such as \"+3s\" or a range \"-3s..3s\"",
            );
        }
        if let Some(by) = self.by {
            check_jump("by", by.from_ms)?;
            check_jump("by", by.to_ms)?;
        }
        if self.lasts.is_some_and(|lasts| lasts.from_ms == 0) {
            return wrong("`lasts` must be above 0");
        }
        if self.every.is_some_and(|every| every.from_ms == 0) {
            return wrong("`every` must be above 0");
        }
        check_groups(self.kind, &self.target, &self.groups)
    }
}

/// A clock's offset, given under the name `moves`, and a partition's `cut` belong to no other kind.
pub(crate) fn check_owner(kind: FaultKind, moves: Option<&str>, cut: bool) -> Result<(), PlanError> {
    let wrong = |reason: String| Err(PlanError::Parameter { kind, reason });
    match moves {
        Some(name) if kind != FaultKind::Clock => wrong(format!("`{name}` belongs to clock faults")),
        _ if cut && kind != FaultKind::Partition => {
            wrong("`direction`, `from` and `groups` belong to partitions".into())
        }
        _ => Ok(()),
    }
}

/// A clock jumps by a year at most: more would not fit into the nanoseconds that clocks are moved by.
pub(crate) fn check_jump(name: &str, by_ms: i64) -> Result<(), PlanError> {
    if by_ms.unsigned_abs() <= LIMIT_MS as u64 {
        return Ok(());
    }
    let reason =
        format!("`{name}` is out of range: a clock jumps by at most a year, {LIMIT_MS} ms, either way");
    Err(PlanError::Parameter { kind: FaultKind::Clock, reason })
}

/// Groups are given exactly when the target says so, are at least two, and share no node.
pub(crate) fn check_groups(
    kind: FaultKind,
    target: &Target,
    groups: &[Vec<String>],
) -> Result<(), PlanError> {
    let wrong = |reason: String| Err(PlanError::Parameter { kind, reason });
    match (target == &Target::Groups, groups.len()) {
        (false, 0) => return Ok(()),
        (false, _) => return wrong(format!("`groups` needs target `groups`, not `{target}`")),
        (true, 0 | 1) => {
            return wrong(
                "target `groups` needs at least two, such as groups = [[\"s1\", \"c1\"], [\"s2\"]]".into(),
            );
        }
        (true, _) => {}
    }
    let mut seen = std::collections::BTreeSet::new();
    for node in groups.iter().flatten() {
        if !seen.insert(node) {
            return wrong(format!("`{node}` is in two groups"));
        }
    }
    if groups.iter().any(Vec::is_empty) { wrong("a group is empty".into()) } else { Ok(()) }
}
