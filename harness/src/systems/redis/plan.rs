use super::PORT;
use crate::{
    catalog::LayoutEntry,
    systems::{DATA, Member, ServerPlan, Setup, plan::programs},
};

pub(super) fn plan(
    setup: &Setup<'_>,
    _members: &[Member],
    _index: usize,
    layouts: &[LayoutEntry],
) -> ServerPlan {
    let (append, sync) = append_only(setup);
    let port = PORT.to_string();
    let mut args: Vec<String> = Vec::new();
    for (name, setting) in [
        ("bind", "0.0.0.0"),
        ("port", &port),
        ("protected-mode", "no"),
        ("daemonize", "no"),
        ("dir", DATA),
        ("save", ""),
        ("appendonly", append),
        ("appendfsync", sync),
        // Active expiry runs hz times a second; the default of 10 is what users have.
        ("loglevel", "notice"),
    ] {
        args.extend([format!("--{name}"), setting.to_string()]);
    }
    ServerPlan { files: Vec::new(), programs: vec![programs(layouts, &args)] }
}

/// `appendonly` and `appendfsync` of the persistence that is set.
pub(in crate::systems) fn append_only<'s>(setup: &'s Setup<'_>) -> (&'static str, &'s str) {
    match setup.value("persistence") {
        "none" => ("no", "no"),
        persistence => ("yes", persistence),
    }
}
