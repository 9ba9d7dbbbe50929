//! Every kind of fault on every target that fits a system: what a recipe's promises are tabled by.

use nemesis::{kind::FaultKind, target::Target};

use crate::systems::System;

/// No fault at all.
pub const NONE: &str = "none";

/// `none`, and each fault as `--faults` takes it, such as `pause:holder`, that can hit the system with its usual number
/// of servers. Groups are left out: whom they hit is said by hand.
pub fn of(system: &System) -> Vec<String> {
    let faults = FaultKind::ALL.into_iter().flat_map(|kind| {
        let targets = kind.info().targets.iter().filter(|target| fits(system, target));
        targets.map(move |target| format!("{kind}:{target}"))
    });
    std::iter::once(NONE.to_owned()).chain(faults).collect()
}

fn fits(system: &System, target: &Target) -> bool {
    match target {
        Target::Groups => false,
        Target::Leader => system.has_leader(),
        // There are none of two or fewer servers, and no turns of one.
        Target::Minority | Target::Halves | Target::Rolling => system.default_nodes > 2,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems;

    #[test]
    fn what_cannot_hit_a_system_is_left_out() {
        let has = |name: &str, cell: &str| {
            let system = systems::System::named(name).expect("it is listed");
            of(system).iter().any(|known| known == cell)
        };
        assert!(has("etcd", "pause:leader") && has("etcd", "partition:halves") && has("redis", "none"));
        assert!(!has("redis-independent", "pause:leader") && has("redis-independent", "clock:majority"));
        assert!(!has("redis", "kill:minority") && !has("etcd", "partition:groups"));
    }
}
