//! How servers and their sentinels are set up.

use super::server::Persistence;

/// How the servers of a run are set up.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What survives a restart.
    pub persistence: Persistence,
    /// Expiries travel to replicas as times to live.
    pub relative_expiry: bool,
    /// How the sentinels judge.
    pub sentinel: SentinelOptions,
}

impl Options {
    /// What this version of Redis does: before 7.0 `SET … PX` and `PEXPIRE` reach replicas as they were called.
    pub fn of_version(version: &str, persistence: Persistence, sentinel: SentinelOptions) -> Options {
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        Options { persistence, relative_expiry: major.is_some_and(|major| major < 7), sentinel }
    }
}

/// The part of a sentinel's configuration that matters here, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentinelOptions {
    /// `down-after-milliseconds`
    pub down_after_ms: i64,
    /// `failover-timeout`
    pub failover_timeout_ms: i64,
}
