//! What `check` takes.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use history::Reacquire;
use linear::{
    convert::{LockValue, NilRead},
    op::FailMeans,
};
use workloads::workload::Workload;

use crate::{
    check::{model::ModelName, quantity},
    experiment::workload,
    numbers,
};

/// What `check` takes.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A run's folder, a file that holds a history (JSON Lines, EDN, Jepsen's text log, lock lines), or - for standard
    /// input
    #[arg(value_name = "RUN|HISTORY")]
    pub what: String,
    /// Judge a history against this model instead of the one its operations suggest: register, cas-register,
    /// multi-register, mutex, owned-mutex, reentrant-mutex, fenced-mutex, reentrant-fenced-mutex, semaphore:PERMITS,
    /// counter, fifo-queue, set, key-value
    #[arg(long, value_name = "MODEL", conflicts_with = "workload")]
    pub model: Option<ModelName>,
    /// Judge a history by the checks of this workload
    #[arg(long, value_parser = workload())]
    pub workload: Option<Workload>,
    /// How long it may take; then the verdict is unknown [default: the searches a minute, or a millisecond an event if that
    /// is longer]
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    pub timeout: Option<Duration>,
    /// How much memory it may take; then the verdict is unknown [default: half of what is free]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub memory: Option<u64>,
    /// How long the search for an explanation may take; then it shows what it has [default: 1.5 s, or ten times as long as
    /// the verdict took]. It takes at most 256 MiB, unless --memory is given
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration)]
    pub explain: Option<Duration>,
    /// Threads [default: one a processor]
    #[arg(long, value_name = "N", value_parser = numbers::jobs)]
    pub jobs: Option<NonZeroUsize>,
    /// What registers hold before the first write, as EDN writes it, such as 0 or nil
    #[arg(long, value_name = "VALUE")]
    pub initial: Option<String>,
    /// What a compare-and-set, acquire, release or dequeue that failed says, whatever the format [default: dropped]
    #[arg(long, value_enum)]
    pub failed_cas: Option<FailedArg>,
    /// What a read of nil from a register says, in a transaction too, whatever the format [default: nothing]
    #[arg(long, value_enum)]
    pub nil_read: Option<NilReadArg>,
    /// What the values of acquires and releases are [default: what they certainly are; where that is not certain and the
    /// verdict hangs on it, it is unknown]
    #[arg(long, value_enum)]
    pub lock_value: Option<LockValueArg>,
    /// What it means that a lock is granted to a client which still holds it [default: nobody knows, and what hangs on it
    /// is unknown]
    #[arg(long, value_enum)]
    pub reacquire: Option<ReacquireArg>,
    /// What to make
    #[arg(long, value_enum, default_value = "table")]
    pub format: CheckFormat,
    /// Print verdict.json: the same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Write it to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ReacquireArg {
    /// The same grant is confirmed, as by a renewal
    #[value(alias = "refreshed")]
    Refresh,
    /// The lock is reentrant: it has to be released as often as it was acquired
    #[value(alias = "reentrant")]
    Nested,
    /// It is a second grant, which the lock should have refused
    Defect,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FailedArg {
    /// Another value was seen; somebody else held it; nothing was there: as in Jepsen's old etcd logs
    Observation,
    /// It did not happen
    Dropped,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum NilReadArg {
    /// The register held nil: as in Jepsen's old etcd logs
    Value,
    /// Nothing: as in Knossos
    Nothing,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LockValueArg {
    /// Which lock; of a vector, several locks
    Name,
    /// Who acquires or releases it; of a vector of two, which lock and who
    Owner,
}

/// What `check` can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For a terminal
    Table,
    /// verdict.json
    Json,
    /// A page that shows what is wrong
    Html,
}
impl From<ReacquireArg> for Reacquire {
    fn from(meaning: ReacquireArg) -> Reacquire {
        match meaning {
            ReacquireArg::Refresh => Reacquire::Refresh,
            ReacquireArg::Nested => Reacquire::Nested,
            ReacquireArg::Defect => Reacquire::Defect,
        }
    }
}

impl From<FailedArg> for FailMeans {
    fn from(failed: FailedArg) -> FailMeans {
        match failed {
            FailedArg::Observation => FailMeans::Refused,
            FailedArg::Dropped => FailMeans::Nothing,
        }
    }
}

impl From<NilReadArg> for NilRead {
    fn from(read: NilReadArg) -> NilRead {
        match read {
            NilReadArg::Value => NilRead::Nil,
            NilReadArg::Nothing => NilRead::Nothing,
        }
    }
}

impl From<LockValueArg> for LockValue {
    fn from(value: LockValueArg) -> LockValue {
        match value {
            LockValueArg::Name => LockValue::Name,
            LockValueArg::Owner => LockValue::Owner,
        }
    }
}
