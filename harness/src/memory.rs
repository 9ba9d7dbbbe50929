//! The memory that this process may take.

use std::fs;

use nix::{
    libc::RLIM_INFINITY,
    sys::resource::{Resource, getrlimit},
};

/// Where cgroups say how much their processes may take together: version 2, then 1.
const CGROUPS: [&str; 2] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// Bytes: half of what is free now, so that others go on; `None` where nobody tells.
pub fn half_of_free() -> Option<u64> {
    let cgroups = CGROUPS.iter().filter_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok());
    // What grows takes addresses for twice what it fills.
    let limits =
        [Resource::RLIMIT_AS, Resource::RLIMIT_DATA].into_iter().filter_map(|kind| getrlimit(kind).ok());
    let limits = limits.filter(|(soft, _)| *soft != RLIM_INFINITY).map(|(soft, _)| soft / 2);
    available().into_iter().chain(cgroups).chain(limits).min().map(|bytes| bytes / 2)
}

/// What the machine could hand out without swapping.
fn available() -> Option<u64> {
    let told = fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_tells_what_it_has() {
        let half = half_of_free().expect("this machine tells");
        assert!(half > 1 << 20 && half <= available().expect("this machine tells"), "{half}");
    }
}
