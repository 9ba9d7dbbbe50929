//! Plans: which faults a run is to suffer, as the user asked for them.

mod table;
mod text;

pub use table::{FaultsTable, OneOrMany};

use crate::{
    duration::{DurationError, DurationRange, format_ms},
    kind::{Asked, BadParameter, BadTarget, FaultKind, UnknownKind},
    target::{Target, UnknownTarget},
};

/// One kind of fault on one target, again and again. What is `None` is filled in from the kind and the TTL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpec {
    /// To whom.
    pub target: Target,
    /// From one start to the next.
    pub every: Option<DurationRange>,
    /// How long each lasts.
    pub lasts: Option<DurationRange>,
    /// What happens, and what is asked of that.
    pub asked: Asked,
}

/// Several specifications at once. Each draws its own faults, undisturbed by the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// A parameter makes no sense.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// No time at all.
    #[error("{kind}: `{name}` must be above 0")]
    NoTime {
        /// Of which kind.
        kind: FaultKind,
        /// What the time is called.
        name: &'static str,
    },
    /// A fault that is given outlasts the run.
    #[error("{0}: it must end before the run does: make `at_ms` + `lasts_ms` less than the run's length")]
    Outlasts(FaultKind),
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
}

impl FaultSpec {
    /// A specification with defaults for all but kind and target.
    pub fn new(kind: FaultKind, target: Target) -> FaultSpec {
        FaultSpec { target, every: None, lasts: None, asked: kind.asked() }
    }

    /// What happens.
    pub fn kind(&self) -> FaultKind {
        self.asked.kind()
    }

    /// The nodes that it names, by its target or otherwise.
    pub fn named(&self) -> impl Iterator<Item = &String> {
        self.target.named().into_iter().chain(self.asked.named())
    }

    /// Fails when the target does not fit the kind or a parameter does not fit either.
    pub fn check(&self) -> Result<(), PlanError> {
        let kind = self.kind();
        kind.check_target(&self.target)?;
        self.asked.check(&self.target).map_err(|unfit| unfit.of(kind))?;
        for (name, range) in [("lasts", self.lasts), ("every", self.every)] {
            if range.is_some_and(|range| range.from_ms == 0) {
                return Err(PlanError::NoTime { kind, name });
            }
        }
        Ok(())
    }
}
